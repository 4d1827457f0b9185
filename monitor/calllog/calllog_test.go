package calllog

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

func TestLine(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r := &cdr.Record{
		CallID: "01J", Kind: cdr.KindCall, SIPCallID: "evil\nid", Direction: cdr.Inbound, IngressGroup: "carrier-a", EgressGroup: "acme", EgressMember: "pbx-1",
		Site: "dallas", EgressSite: "ashburn", HandedOff: true, SIPCode: 200, HangupCause: cdr.CauseCleared, HangupParty: cdr.Caller,
		Caller: "+12025550100", Called: "+12145550100", PDD: 1500 * time.Millisecond,
		Start: start, Answer: start.Add(3 * time.Second), End: start.Add(10 * time.Second),
		Attempts: []cdr.Attempt{{N: 1, Cause: "down"}, {N: 2, Dialed: true, Code: 200}},
	}
	var out bytes.Buffer
	Line(t.Context(), slog.New(slog.NewJSONHandler(&out, nil)), r)
	if strings.Count(out.String(), "\n") != 1 || strings.Contains(out.String(), "2145550100") {
		t.Fatalf("%s", out.String())
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"msg": "call ended", "call_id": "01J", "direction": "inbound", "ingress_group": "carrier-a", "egress_group": "acme", "member": "pbx-1",
		"egress_site": "ashburn", "handed_off": true, "attempts": 2.0, "dialed": 1.0, "code": 200.0, "cause": "NORMAL_CLEARING",
		"party": "caller", "pdd_ms": 1500.0, "duration_ms": 10000.0, "billable_ms": 7000.0,
	} {
		if got[key] != want {
			t.Errorf("%s = %v, want %v", key, got[key], want)
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	if n := testing.AllocsPerRun(100, func() { Line(t.Context(), quiet, r) }); n != 0 {
		t.Errorf("%v allocations when off", n)
	}
}
