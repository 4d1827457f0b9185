package profile

import (
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// stamp is how Asterisk and FreeSWITCH write an instant; ours are in UTC.
const stamp = "2006-01-02 15:04:05"

// labs46 is 46 Labs' dictionary, in its order. What Tandem does not know of a number, such
// as its jurisdiction, comes from further fields of these names.
var labs46 = []column{
	number("sip_code", func(r row) int64 { return int64(r.SIPCode) }),
	text("sip_reason", func(r row) string { return r.SIPReason }),
	instant("call_start_time", stamp, start),
	text("callid", func(r row) string { return r.SIPCallID }),
	text("from_did", func(r row) string { return r.Caller }),
	text("to_did", func(r row) string { return r.Called }),
	text("lrn_did", func(r row) string { return r.RN }),
	text("orig_carrier_name", func(r row) string { return r.IngressGroup }),
	text("connection_name", func(r row) string { return r.Customer }),
	unknown("orig_juris"),
	cost("orig_cost"),
	{"duration_real", true, func(dst []byte, r row) []byte { return appendSeconds(dst, r.Billable()) }},
	number("orig_billed_duration", func(r row) int64 {
		if r.Priced() {
			return int64(r.Billed())
		}
		return billsec(r)
	}),
	{"pdd", true, func(dst []byte, r row) []byte { return appendSeconds(dst, r.PDD) }},
	unknown("orig_country"),
	unknown("orig_destination"),
	unknown("orig_ocn"),
	unknown("orig_lata"),
	unknown("orig_state"),
	unknown("orig_ratecenter"),
	text("reason", func(r row) string { return r.HangupCause }),
}

// appendSeconds appends seconds with their thousandths.
func appendSeconds(dst []byte, d time.Duration) []byte {
	return strconv.AppendFloat(dst, float64(d.Milliseconds())/1000, 'f', 3, 64)
}

// asterisk are the columns of Asterisk's Master.csv, whose disposition says how the call
// went, and those behind them that it can be told to write.
var asterisk = []column{
	text("accountcode", func(r row) string { return r.Customer }),
	text("src", func(r row) string { return r.Caller }),
	text("dst", func(r row) string { return r.Called }),
	text("dcontext", func(r row) string { return r.IngressGroup }),
	text("clid", func(r row) string { return r.Caller }),
	text("channel", func(r row) string { return channel(r.IngressGroup, r.SIPCallID) }),
	text("dstchannel", func(r row) string { return channel(r.EgressGroup, r.EgressCallID) }),
	fixed("lastapp", "Dial"),
	text("lastdata", func(r row) string { return r.EgressMember }),
	instant("start", stamp, start),
	instant("answer", stamp, answer),
	instant("end", stamp, end),
	number("duration", duration),
	number("billsec", billsec),
	text("disposition", disposition),
	fixed("amaflags", "DOCUMENTATION"),
	text("uniqueid", func(r row) string { return r.CallID }),
	text("userfield", func(r row) string { return r.CarrierID }),
}

func channel(group, id string) string {
	if group == "" && id == "" {
		return ""
	}
	return "SIP/" + group + "-" + id
}

// disposition is Asterisk's word for how a call went.
func disposition(r row) string {
	switch {
	case !r.Answer.IsZero():
		return "ANSWERED"
	case r.SIPCode == 486 || r.SIPCode == 600:
		return "BUSY"
	case r.SIPCode == 408 || r.SIPCode == 480 || r.SIPCode == 487:
		return "NO ANSWER"
	case r.SIPCode == 503:
		return "CONGESTION"
	}
	return "FAILED"
}

// freeswitch are the columns of FreeSWITCH's template of mod_cdr_csv, and those variables
// that its users read beside them.
var freeswitch = []column{
	text("caller_id_name", func(r row) string { return r.CallerRaw }),
	text("caller_id_number", func(r row) string { return r.Caller }),
	text("destination_number", func(r row) string { return r.Called }),
	text("context", func(r row) string { return r.IngressGroup }),
	instant("start_stamp", stamp, start),
	instant("answer_stamp", stamp, answer),
	instant("end_stamp", stamp, end),
	number("duration", duration),
	number("billsec", billsec),
	text("hangup_cause", func(r row) string { return r.HangupCause }),
	text("uuid", func(r row) string { return r.CallID }),
	text("bleg_uuid", func(r row) string { return r.EgressCallID }),
	text("accountcode", func(r row) string { return r.Customer }),
	number("hangup_cause_q850", func(r row) int64 { return int64(r.HangupQ850) }),
	text("sip_call_id", func(r row) string { return r.SIPCallID }),
	text("sip_gateway_name", carrier),
	text("sip_network_ip", func(r row) string { return ip(r.Source) }),
	text("sip_user_agent", func(r row) string { return r.UserAgent }),
	number("sip_term_status", func(r row) int64 { return int64(r.SIPCode) }),
	instant("progress_stamp", stamp, progress),
	number("billmsec", func(r row) int64 { return r.Billable().Milliseconds() }),
	text("direction", func(r row) string { return string(r.Direction) }),
}

// cgrates are the fields of a CDR of CGRateS, for its reader of CSV files. Usage is what
// it takes for a duration; it rates the call by itself.
var cgrates = []column{
	fixed("ToR", "*voice"),
	text("OriginID", func(r row) string { return r.CallID }),
	text("OriginHost", func(r row) string { return r.Node }),
	fixed("RequestType", "*rated"),
	text("Tenant", func(r row) string { return r.Cluster }),
	fixed("Category", "call"),
	text("Account", func(r row) string { return r.Customer }),
	text("Subject", func(r row) string { return r.Customer }),
	text("Destination", func(r row) string { return r.Called }),
	instant("SetupTime", cdr.TimeLayout, start),
	instant("AnswerTime", cdr.TimeLayout, answer),
	{"Usage", false, func(dst []byte, r row) []byte { return append(strconv.AppendInt(dst, billsec(r), 10), 's') }},
	text("Supplier", carrier),
	text("DisconnectCause", func(r row) string { return r.HangupCause }),
	{"PDD", false, func(dst []byte, r row) []byte {
		return append(strconv.AppendInt(dst, r.PDD.Milliseconds(), 10), "ms"...)
	}},
	text("Caller", func(r row) string { return r.Caller }),
}

// libresbc are LibreSBC's fields. Its duration is the time from answer to end, and its
// disposition says who hung up.
var libresbc = []column{
	text("uuid", func(r row) string { return r.CallID }),
	text("seshid", func(r row) string { return r.CallID }),
	text("direction", func(r row) string { return string(r.Direction) }),
	text("nodeid", func(r row) string { return r.Node }),
	text("intconname", func(r row) string { return r.IngressGroup }),
	text("gateway_name", carrier),
	text("user_agent", func(r row) string { return r.UserAgent }),
	text("callid", func(r row) string { return r.SIPCallID }),
	text("caller_number", func(r row) string { return r.Caller }),
	text("destination_number", func(r row) string { return r.Called }),
	epoch("start_time", start),
	epoch("progress_time", progress),
	epoch("answer_time", answer),
	epoch("end_time", end),
	number("duration", billsec),
	text("sip_network_ip", func(r row) string { return ip(r.Source) }),
	text("sip_network_port", func(r row) string { return port(r.Source) }),
	text("transport", func(r row) string { return r.Transport }),
	number("sip_resp_code", func(r row) int64 { return int64(r.SIPCode) }),
	text("hangup_cause", func(r row) string { return r.HangupCause }),
	text("disposition", func(r row) string { return string(r.HangupParty) }),
}
