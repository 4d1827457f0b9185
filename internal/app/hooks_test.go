package app

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/monitor/webhook"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

func hookedTable(t *testing.T, revision uint64, url string) *trunkgroup.Table {
	t.Helper()
	table, err := trunkgroup.Compile(&trunkgroup.Document{
		Cluster: "c", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{{Name: "acme", Role: trunkgroup.TerminationCustomer, Sources: []trunkgroup.SourceSpec{{IP: "192.0.2.2"}}, RoutePlan: "lcr"}},
		RoutePlans: []trunkgroup.RoutePlanSpec{{
			Name: "lcr", Decision: &trunkgroup.DecisionSpec{URL: "http://127.0.0.1:1/route"},
			Policy: &trunkgroup.PolicySpec{Webhooks: []trunkgroup.WebhookSpec{{URL: url}}},
		}},
	}, trunkgroup.Version{Generation: 1, Revision: revision})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestS046_HooksFollowTheConfiguration: webhooks come and go with tables; an event that cannot be sent shows in
// the numbers of its plan.
func TestS046_HooksFollowTheConfiguration(t *testing.T) {
	h := newHooks(&App{log: slog.New(slog.DiscardHandler)}, "test")
	defer func() { _ = h.stop(context.Background()) }()
	first := hookedTable(t, 1, "http://${NO_SUCH_HOST_VARIABLE}/")
	h.use(first)
	h.use(first)
	h.Tell(first.RoutePlans()[0].Policy, &policy.Event{ID: "1", Kind: policy.OnAnswer})
	for deadline := time.Now().Add(10 * time.Second); h.metrics().Webhooks[0].Failed != 1; {
		if time.Now().After(deadline) {
			t.Fatalf("metrics: %+v", h.metrics())
		}
		runtime.Gosched()
	}
	if st := h.Stats()[0]; st.Plan != "lcr" || !strings.Contains(st.Fault, "NO_SUCH_HOST_VARIABLE") {
		t.Errorf("stats: %+v", st)
	}
	h.use(hookedTable(t, 2, "http://127.0.0.1:1/"))
	if m := h.metrics(); len(m.Webhooks) != 1 || m.Webhooks[0].Failed != 0 {
		t.Errorf("metrics of the next table: %+v", m)
	}
}

// TestS014_RulesThatFailAreSeen: each is counted, and logged once in a while.
func TestS014_RulesThatFailAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		h := newHooks(&App{log: slog.New(slog.NewTextHandler(&out, nil))}, "test")
		defer func() { _ = h.stop(context.Background()) }()
		for range 100 {
			h.count(&b2bua.Event{Kind: b2bua.EventPolicyFault, Plan: "lcr", Reason: "keep", Detail: "column 3: no such attempt"})
		}
		h.count(&b2bua.Event{Kind: b2bua.EventCallStarted})
		time.Sleep(ruleQuiet)
		h.count(&b2bua.Event{Kind: b2bua.EventPolicyFault, Plan: "lcr", Reason: "keep"})
		if n := strings.Count(out.String(), "could not be evaluated"); n != 2 {
			t.Errorf("%d lines:\n%s", n, out.String())
		}
		if m := h.metrics(); len(m.Faults) != 1 || m.Faults[0].Calls != 101 || m.Faults[0].Rule != "keep" {
			t.Errorf("metrics: %+v", m)
		}
		for i := range 2 * maxRuleCounts {
			h.count(&b2bua.Event{Kind: b2bua.EventPolicyFault, Plan: "lcr", Reason: strings.Repeat("x", i+1)})
		}
		if n := len(h.metrics().Faults); n > maxRuleCounts+1 {
			t.Errorf("%d rules are counted apart", n)
		}
	})
}

// The alarm says whom events do not reach, since when and why; and the same while it stays the same.
func TestHookAlarm(t *testing.T) {
	st := webhook.Stats{Plan: "lcr", Host: "hooks.example", Queued: 7, Failed: 1, Fault: "answered 500", Since: time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)}
	d := hookTrouble([]webhook.Stats{{Plan: "well"}, st})
	for _, want := range []string{"plan lcr", "hooks.example", "2026-03-02T06:00:00Z", "answered 500", "see that the far end"} {
		if !strings.Contains(d, want) {
			t.Errorf("%q is not in %q", want, d)
		}
	}
	if st.Queued, st.Failed, st.Dropped = 8, 2, 3; hookTrouble([]webhook.Stats{st}) != d {
		t.Error("the text changes with the counts")
	}
	if d := hookTrouble([]webhook.Stats{{Plan: "well"}}); d != "" {
		t.Error(d)
	}
}
