package app

import (
	"slices"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Explain shows the limits that a call counts against, and says it when one is full.
func TestD07_ExplainSaysThatALimitIsFull(t *testing.T) {
	pbx := startPBX(t)
	b := newBox(t, "127.88.63.1", limitedTo(pbx.Addr(0).String(), "{calls: 1, cps: 50}"))
	b.up()
	explained := func() admin.Explanation {
		t.Helper()
		e, err := b.app.desk.Explain(t.Context(), admin.Question{Called: "+12145550100", Source: "127.0.0.1:5060"})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	full := func(e *admin.Explanation, name string) bool {
		return slices.Contains(e.Steps, trunkgroup.Step{Name: "limit", Text: name + " is full: 1 of 1 calls in use"})
	}
	if e := explained(); full(&e, "group acme-in") || len(e.Limits) != 2 {
		t.Errorf("before the call: %+v, %+v", e.Limits, e.Steps)
	}
	call, _ := b.hold()
	b.wait("the full limit", func() bool { e := explained(); return full(&e, "group acme-in") })
	if n := b.calls(1); n != 0 {
		t.Error("a call was answered above the limit that explain calls full")
	}
	call.HangUp()
	b.wait("the end of the call", func() bool { e := explained(); return !full(&e, "group acme-in") && b.app.server.Stats().Calls == 0 })
}
