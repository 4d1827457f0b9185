package profile

import (
	"net/netip"
	"strconv"

	"github.com/tandem-sbc/tandem/cdr"
)

// tandem are the fields of a record under their own names. Lists are JSON in their cell.
var tandem = []column{
	number("seq", func(r row) int64 { return int64(r.seq) }),
	number("schema_version", func(row) int64 { return cdr.SchemaVersion }),
	text("call_id", func(r row) string { return r.CallID }),
	text("kind", func(r row) string { return string(r.Kind) }),
	number("version", func(r row) int64 { return int64(r.Version) }),
	boolean("final", func(r row) bool { return r.Final }),
	text("closed_by", func(r row) string { return r.ClosedBy }),
	text("cluster", func(r row) string { return r.Cluster }),
	text("node", func(r row) string { return r.Node }),
	text("site", func(r row) string { return r.Site }),
	text("egress_site", func(r row) string { return r.EgressSite }),
	boolean("handed_off", func(r row) bool { return r.HandedOff }),
	text("direction", func(r row) string { return string(r.Direction) }),
	text("customer", func(r row) string { return r.Customer }),
	text("ingress_group", func(r row) string { return r.IngressGroup }),
	text("ingress_member", func(r row) string { return r.IngressMember }),
	text("egress_group", func(r row) string { return r.EgressGroup }),
	text("egress_member", func(r row) string { return r.EgressMember }),
	text("caller", func(r row) string { return r.Caller }),
	text("caller_raw", func(r row) string { return r.CallerRaw }),
	text("called", func(r row) string { return r.Called }),
	text("called_raw", func(r row) string { return r.CalledRaw }),
	text("rn", func(r row) string { return r.RN }),
	text("to", func(r row) string { return r.To }),
	text("sip_call_id", func(r row) string { return r.SIPCallID }),
	text("egress_call_id", func(r row) string { return r.EgressCallID }),
	text("src_ip", func(r row) string { return ip(r.Source) }),
	text("src_port", func(r row) string { return port(r.Source) }),
	text("local_ip", func(r row) string { return ip(r.Local) }),
	text("local_port", func(r row) string { return port(r.Local) }),
	text("transport", func(r row) string { return r.Transport }),
	text("auth_user", func(r row) string { return r.AuthUser }),
	text("user_agent", func(r row) string { return r.UserAgent }),
	instant("start_time", cdr.TimeLayout, start),
	instant("progress_time", cdr.TimeLayout, progress),
	instant("answer_time", cdr.TimeLayout, answer),
	instant("end_time", cdr.TimeLayout, end),
	number("duration", duration),
	number("duration_ms", func(r row) int64 { return r.Duration().Milliseconds() }),
	number("billsec", billsec),
	number("billsec_ms", func(r row) int64 { return r.Billable().Milliseconds() }),
	number("pdd_ms", func(r row) int64 { return r.PDD.Milliseconds() }),
	number("sip_code", func(r row) int64 { return int64(r.SIPCode) }),
	text("sip_reason", func(r row) string { return r.SIPReason }),
	text("hangup_cause", func(r row) string { return r.HangupCause }),
	number("hangup_cause_q850", func(r row) int64 { return int64(r.HangupQ850) }),
	text("hangup_party", func(r row) string { return string(r.HangupParty) }),
	text("carrier_id", func(r row) string { return r.CarrierID }),
	text("route_source", func(r row) string { return r.RouteSource }),
	{"rate", true, func(dst []byte, r row) []byte { return r.AppendRate(dst) }},
	text("currency", func(r row) string { return r.Currency }),
	number("billing_increment", func(r row) int64 { return int64(r.BillingIncrement) }),
	number("min_duration", func(r row) int64 { return int64(r.MinDuration) }),
	{"billed_seconds", true, billed},
	cost("cost"),
	{"lcr_attempts", false, func(dst []byte, r row) []byte {
		if r.RouteSource == "" {
			return dst
		}
		return r.AppendFailed(dst)
	}},
	{"attempts", false, func(dst []byte, r row) []byte { return r.AppendAttempts(dst) }},
	{"fields", false, func(dst []byte, r row) []byte {
		if len(r.Fields) == 0 {
			return dst
		}
		return cdr.AppendFields(dst, r.Fields)
	}},
	boolean("test", func(r row) bool { return r.Test }),
}

func ip(a netip.AddrPort) string {
	if !a.IsValid() {
		return ""
	}
	return a.Addr().Unmap().String()
}

func port(a netip.AddrPort) string {
	if !a.IsValid() {
		return ""
	}
	return strconv.Itoa(int(a.Port()))
}

// billed is what is paid for, where there is a price.
func billed(dst []byte, r row) []byte {
	if !r.Priced() {
		return dst
	}
	return strconv.AppendUint(dst, r.Billed(), 10)
}
