package cdr

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var start = time.Date(2026, 3, 1, 23, 59, 58, 123456789, time.FixedZone("CST", -6*3600))

// full is a record with every field set.
func full() Record {
	return Record{
		CallID: "01HQ2M3N4P5Q6R7S8T9V0W1X2Y", Kind: KindCall, Version: 2, Final: true, ClosedBy: "survivor",
		Cluster: "example", Node: "dal-1", Site: "dallas", EgressSite: "ashburn", HandedOff: true,
		Direction: Inbound, Customer: "acme-in", IngressGroup: "carrier-a", IngressMember: "dal-1",
		EgressGroup: "acme-in", EgressMember: "acme-ash-1",
		Caller: "+13105550100", CallerRaw: "3105550100", Called: "+12145550123", CalledRaw: "+12145550123;npdi",
		RN: "+12145550199", To: "+12145550111",
		SIPCallID: "abc@192.0.2.10", EgressCallID: "t-1-xyz",
		Start: start, Progress: start.Add(1200 * time.Millisecond), Answer: start.Add(4 * time.Second),
		End: start.Add(64*time.Second + 1*time.Millisecond), PDD: 1200 * time.Millisecond,
		SIPCode: 200, SIPReason: "OK", HangupCause: CauseCleared, HangupQ850: 16, HangupParty: Callee,
		Source: netip.MustParseAddrPort("[::ffff:192.0.2.10]:5060"), Transport: "udp", AuthUser: "acme", UserAgent: "PBX/1",
		Attempts: []Attempt{
			{N: 1, Group: "acme-in", Member: "acme-dal-1", Site: "dallas", Code: 503, Cause: "down", CarrierID: "carrier-a"},
			{N: 2, Group: "acme-in", Member: "acme-ash-1", Site: "ashburn", Dialed: true, Progress: true, Code: 200, Elapsed: 1500 * time.Millisecond, EgressCallID: "t-1-xyz", Address: "198.51.100.7:5060", CarrierID: "carrier-b"},
		},
		CarrierID: "carrier-b", RouteSource: "lcr", Rate: 0.0042, Rated: true, Currency: "USD", BillingIncrement: 6, MinDuration: 30,
		Fields:    []Field{{"product", "gold"}, {"deal", "d-\"17\""}},
		RoSession: "dal-1.example;1;3;x", RfSession: "dal-1.example;1;2;x", RoResult: 2001,
	}
}

const fullJSON = `{"schema_version":1,"call_id":"01HQ2M3N4P5Q6R7S8T9V0W1X2Y","kind":"call","version":2,"final":true,"closed_by":"survivor",` +
	`"cluster":"example","node":"dal-1","site":"dallas","egress_site":"ashburn","handed_off":true,"direction":"inbound","customer":"acme-in",` +
	`"ingress_group":"carrier-a","ingress_member":"dal-1","egress_group":"acme-in","egress_member":"acme-ash-1",` +
	`"caller":"+13105550100","caller_raw":"3105550100","called":"+12145550123","called_raw":"+12145550123;npdi","rn":"+12145550199","to":"+12145550111",` +
	`"sip_call_id":"abc@192.0.2.10","egress_call_id":"t-1-xyz","src_ip":"192.0.2.10","src_port":5060,"transport":"udp","auth_user":"acme","user_agent":"PBX/1",` +
	`"start_time":"2026-03-02T05:59:58.123Z","progress_time":"2026-03-02T05:59:59.323Z","answer_time":"2026-03-02T06:00:02.123Z","end_time":"2026-03-02T06:01:02.124Z",` +
	`"duration":65,"duration_ms":64001,"billsec":61,"billsec_ms":60001,"pdd_ms":1200,` +
	`"sip_code":200,"sip_reason":"OK","hangup_cause":"NORMAL_CLEARING","hangup_cause_q850":16,"hangup_party":"callee",` +
	`"attempts":[{"n":1,"group":"acme-in","member":"acme-dal-1","site":"dallas","dialed":false,"progress":false,"code":503,"cause":"down","elapsed_ms":0,"carrier_id":"carrier-a"},` +
	`{"n":2,"group":"acme-in","member":"acme-ash-1","site":"ashburn","dialed":true,"progress":true,"code":200,"elapsed_ms":1500,"egress_call_id":"t-1-xyz","address":"198.51.100.7:5060","carrier_id":"carrier-b"}],` +
	`"carrier_id":"carrier-b","route_source":"lcr","rate":0.0042,"currency":"USD","billing_increment":6,"min_duration":30,"billed_seconds":66,"cost":0.00462,` +
	`"lcr_attempts":[{"carrier_id":"carrier-a","status":503,"elapsed_ms":0,"dialed":false}],` +
	`"fields":{"product":"gold","deal":"d-\"17\""},"ro_session_id":"dal-1.example;1;3;x","ro_result_code":2001,"rf_session_id":"dal-1.example;1;2;x"}`

func TestDEC24_AppendJSON(t *testing.T) {
	r := full()
	got, err := r.AppendJSON([]byte("prefix "))
	if err != nil {
		t.Fatal(err)
	}
	if want := "prefix " + fullJSON; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !json.Valid([]byte(fullJSON)) {
		t.Error("not JSON")
	}
}

// A call that was not answered has a billable time of zero, and no times that
// did not happen.
func TestNotAnswered(t *testing.T) {
	r := Record{CallID: "x", Kind: KindHandoff, Start: start, End: start.Add(500 * time.Millisecond), SIPCode: 503}
	got, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(got, &m); err != nil {
		t.Fatal(err)
	}
	if m["billsec"] != 0.0 || m["duration"] != 1.0 || m["version"] != 1.0 || m["answer_time"] != nil || m["pdd_ms"] != nil || len(m["attempts"].([]any)) != 0 {
		t.Errorf("%s", got)
	}
	r.End = start.Add(-time.Second) // a clock that went back bills nothing
	if r.Duration() != 0 || r.Billable() != 0 {
		t.Error("negative time")
	}
}

func TestAppendJSONNeedsIdentity(t *testing.T) {
	for _, r := range []Record{{Kind: KindCall}, {CallID: "x"}} {
		if b, err := r.AppendJSON(nil); err == nil {
			t.Errorf("wrote %s", b)
		}
	}
}

// What a far end sends cannot break a line, a field, or a terminal.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"plain", "a\"b\\c", "line\r\nbreak\x00\x1b[31m\x7f", "\xff\xfe", "\u2028\u0085", "ünïcode 😀", "\xe2\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := AppendString(nil, s)
		for _, r := range string(got) {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
				t.Fatalf("%q holds %U", got, r)
			}
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if want := strings.ToValidUTF8(s, ""); utf8.ValidString(s) && back != want {
			t.Fatalf("%q came back as %q", s, back)
		}
	})
}

func TestRecordIsOneLine(t *testing.T) {
	r := full()
	r.UserAgent, r.CalledRaw, r.Attempts[0].Cause = "evil\r\n{\"call_id\":\"forged\"}", "\xff\x00", "\u2028"
	got, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(got, "\r\n\x00") || !json.Valid(got) {
		t.Errorf("%q", got)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	r := full()
	buffer := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.AppendJSON(buffer); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAppendJSONAllocates(t *testing.T) {
	r := full()
	buffer := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { _, _ = r.AppendJSON(buffer) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
