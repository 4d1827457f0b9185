package main

import (
	"context"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// decider answers for a node with a decision server.
type decider struct {
	asked   admin.DecisionQuestion
	flushed admin.DecisionFlush
}

func (d *decider) Decisions(context.Context) (admin.DecisionList, error) {
	return admin.DecisionList{Node: "dal-1", Kept: 3, Servers: []admin.DecisionServer{{
		Plan: "lcr", URL: "http://127.0.0.1:8080/route", State: "away", Breaker: "open", Since: &noon, NextTry: &noon, Why: "no answer within 2s", Fallbacks: 7, MeanMs: 12.5,
	}}}, nil
}

func (d *decider) AskDecision(_ context.Context, q admin.DecisionQuestion) (admin.DecisionAnswer, error) {
	d.asked = q
	rate := 0.0042
	return admin.DecisionAnswer{
		Plan: "lcr", Number: q.Number, Result: "routed", Source: "lcr", Notes: []string{"a-1: headers: X-Nul holds a control character"},
		Routes: []admin.DecisionRoute{{Carrier: "a-1", Group: "carrier-a", Rate: &rate, Currency: "USD", Timeout: "6s", Causes: []int{404, 503}}, {Carrier: "b-1", NextHop: "gw.example", Hops: []string{"192.0.2.7:5060/udp"}}},
	}, nil
}

func (d *decider) FlushDecisions(_ context.Context, f admin.DecisionFlush) (admin.DecisionFlushed, error) {
	d.flushed = f
	return admin.DecisionFlushed{Forgotten: 2}, nil
}

func TestS094_LCRCommands(t *testing.T) {
	d := &decider{}
	address := serveBackend(t, "", admin.Backend{Decisions: d})
	code, out, _ := tandem(t, "lcr", "status", "--address", address)
	for _, want := range []string{"lcr", "away", "open", "no answer within 2s, tried again at", "12.5 ms"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("status: %d, no %q in %s", code, want, out)
		}
	}
	code, out, errs := tandem(t, "lcr", "ask", "+12025550123", "--group", "acme-out", "--address", address)
	for _, want := range []string{"a-1", "carrier-a", "0.0042 USD", "404 503", "192.0.2.7:5060/udp"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("ask: %d, no %q in %s", code, want, out)
		}
	}
	if !strings.Contains(errs, "X-Nul") || d.asked.Number != "+12025550123" || d.asked.Group != "acme-out" {
		t.Errorf("%s, %+v", errs, d.asked)
	}
	if code, out, _ = tandem(t, "lcr", "flush", "--plan", "lcr", "--author", "ann", "--address", address); code != 0 || !strings.Contains(out, "2 answers forgotten") || d.flushed.Plan != "lcr" || d.flushed.Author != "ann" {
		t.Errorf("flush: %d %s %+v", code, out, d.flushed)
	}
	if code, _, errs = tandem(t, "lcr", "flush", "--address", address); code == 0 || !strings.Contains(errs, "nothing says what to forget") {
		t.Errorf("flush of nothing: %d %s", code, errs)
	}
}
