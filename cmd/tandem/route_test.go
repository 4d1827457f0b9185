package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// router answers for a node that is asked about calls.
type router struct {
	question admin.Question
	order    admin.TestOrder
}

func (r *router) Explain(_ context.Context, q admin.Question) (trunkgroup.Explanation, error) {
	r.question = q
	calls := 3
	return trunkgroup.Explanation{
		Assumed: q.Assume, Direction: "inbound", Ingress: "carrier-a", Called: "+12145550100",
		Steps:  []trunkgroup.Step{{Name: "source", Text: "matches carrier-a"}},
		Policy: &trunkgroup.PolicyLine{Group: "acme-in", Ring: "30s", MaxPDD: "15s", HandoffOn: []int{408, 503}},
		Groups: []trunkgroup.GroupLine{{
			Name: "acme-in", Method: "weighted", BTimer: "4s", Progress: "10s", AdvanceOn: []int{408, 503}, NeverAdvance: []int{404}, MaxAttempts: 2,
			Quality: &trunkgroup.QualityLine{MinAnswerRatio: 30, MinSamples: 50, Window: "5m0s", Cooldown: "5m0s"},
		}},
		Order: []trunkgroup.OrderLine{{
			Place: 1, Group: "acme-in", Member: "pbx-3", Site: "dallas", State: "active", Addr: "198.51.100.12:5060", Dialable: true,
			Weight: 4, Ramp: 50, Sessions: &calls, MaxCalls: 10, Latency: 21.5, Score: 123456,
		}},
		Sites: []trunkgroup.SitePlan{{
			Site: "ashburn", Handoff: true, Dialable: 1, Nodes: []trunkgroup.NodeLine{{Name: "ash-1", Up: true}},
			Order: []trunkgroup.OrderLine{{Group: "acme-in", Member: "pbx-9", Site: "ashburn", State: "active", Addr: "198.51.100.90:5060", Dialable: true}},
		}},
		Limits:  []trunkgroup.LimitLine{{Scope: "group", Name: "acme-in", Kind: "calls", Max: 10, Node: 1, Share: 5, Cluster: 3}},
		Endings: []trunkgroup.Ending{{When: "all say 503", Code: 503, Dialled: 1, HandedOff: true, After: 0.5}},
	}, nil
}

func (r *router) TestRoute(_ context.Context, o admin.TestOrder) (admin.TestCall, error) {
	r.order = o
	if o.Question.Called == "911" {
		return admin.TestCall{}, fmt.Errorf("%w: an emergency number is never tested", admin.ErrRefused)
	}
	return admin.TestCall{
		CallID: "01J", Direction: "inbound", Ingress: "carrier-a", Called: "+12145550100", Code: 200, Setup: 120, PDD: 40, Answered: true,
		Attempts: []admin.TestAttempt{
			{Group: "acme-in", Member: "pbx-1", Site: "dallas", Cause: "down"},
			{Group: "acme-in", Member: "pbx-3", Site: "dallas", Address: "198.51.100.12:5060", Dialled: true, Rang: true, Code: 200, Millis: 118},
		},
	}, nil
}

func TestD07_RouteExplain(t *testing.T) {
	r := &router{}
	address := serveBackend(t, "", admin.Backend{Explain: r, Tests: r})
	code, out, errs := tandem(t, "route", "explain", "--called", "+12145550100", "--from", "203.0.113.10:5060/tcp", "--header", "X-Room-Id: 7",
		"--assume", "acme-in/pbx-1=down", "--at", "1.41", "--turn", "3", "--all-sites", "--address", address)
	if code != exitOK || errs != "" {
		t.Fatalf("%d %s", code, errs)
	}
	q := r.question
	if q.Transport != "tcp" || q.Source != "203.0.113.10:5060" || q.At != 41 || q.Turn == nil || *q.Turn != 3 || len(q.Headers) != 1 || len(q.Assume) != 1 {
		t.Errorf("asked %+v", q)
	}
	for _, want := range []string{
		"assumed  acme-in/pbx-1=down", "4, 50 % of it", "3 of 10", "21.5 ms", "2 attempts, b_timer 4s, progress 10s",
		"the next one on 408 503, never on 404", "quality: at least 30 % answered of 50 or more in 5m0s",
		"whole call: ring 30s, max_pdd 15s", "ashburn", "1 of 1", "ash-1", "group acme-in", "all say 503", "acme-in/pbx-9",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for line := range strings.SplitSeq(out, "\n") {
		if len([]rune(line)) > 120 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
}

func TestD07_RouteTest(t *testing.T) {
	r := &router{}
	address := serveBackend(t, "", admin.Backend{Explain: r, Tests: r})
	code, out, errs := tandem(t, "route", "test", "+12145550100", "--from", "203.0.113.10:5060", "--for", "5s", "--answer-limit", "2s", "--reason", "new", "--address", address)
	want := `ATTEMPT  MEMBER         SITE    ADDRESS             CODE         MS   CAUSE
1        acme-in/pbx-1  dallas  -                   not dialled  0    down
2        acme-in/pbx-3  dallas  198.51.100.12:5060  200          118  rang

answered: 200 after 120 ms, post-dial delay 40 ms (inbound from carrier-a to +12145550100, record 01J)
`
	if code != exitOK || out != want || errs != "" {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if r.order.RingMillis != 5000 || r.order.HoldMillis != 2000 || r.order.Reason != "new" {
		t.Errorf("%+v", r.order)
	}
	for _, x := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"911", "--from", "203.0.113.10:5060"}, exitFailed, "never tested"},
		{[]string{"+1214", "--from", "203.0.113.10:5060", "--for", "5m"}, exitUsage, "--for is at most 30s"},
		{[]string{"+1214", "--called", "+1", "--from", "203.0.113.10:5060"}, exitUsage, "both an argument"},
		{[]string{"--from", "203.0.113.10:5060"}, exitUsage, "the called number is missing"},
	} {
		code, _, errs := tandem(t, append([]string{"route", "test", "--address", address}, x.args...)...)
		if code == exitOK || x.code == exitUsage && code != exitUsage || !strings.Contains(errs, x.text) {
			t.Errorf("%v: %d %s", x.args, code, errs)
		}
	}
}
