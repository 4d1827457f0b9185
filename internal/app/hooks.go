package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/monitor/webhook"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// alarmWebhook: events of a webhook are not delivered.
	alarmWebhook = "webhook_undelivered"
	// hookPatience is how long a node that ends goes on to send what is queued.
	hookPatience = 2 * time.Second
	// ruleQuiet is how long a rule that cannot be evaluated is not logged again.
	ruleQuiet = time.Minute
)

// hooks are the webhooks of this node and what is known of rules that cannot be
// evaluated.
type hooks struct {
	*webhook.Sender

	app   *App
	table *trunkgroup.Table // the last; on the goroutine that puts tables in force

	mu     sync.Mutex
	faults map[ruleKey]*ruleCount
}

// ruleKey names a rule of a plan: keep, on_failure[1].when.
type ruleKey struct{ plan, rule string }

type ruleCount struct {
	n      uint64
	logged time.Time
}

// maxRuleCounts bounds the rules that are counted apart: configurations come and go.
const maxRuleCounts = 1000

func newHooks(a *App, build string) *hooks {
	return &hooks{
		app: a, faults: make(map[ruleKey]*ruleCount),
		Sender: webhook.New(webhook.Config{Lookup: os.LookupEnv, Agent: "Tandem/" + build, Logger: a.log.With("component", "webhook")}),
	}
}

// use takes the webhooks of a table.
func (h *hooks) use(t *trunkgroup.Table) {
	if t == h.table {
		return
	}
	h.table = t
	plans := make(map[string]*trunkgroup.RoutePolicy)
	for _, p := range t.RoutePlans() {
		plans[p.Name] = p.Policy
	}
	h.Use(plans)
}

func (h *hooks) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	h.Close(ctx)
	return nil
}

// count counts a rule that could not be evaluated, and logs it now and then.
func (h *hooks) count(e *b2bua.Event) {
	if e.Kind != b2bua.EventPolicyFault {
		return
	}
	now, k := time.Now(), ruleKey{e.Plan, e.Reason}
	h.mu.Lock()
	c := h.faults[k]
	if c == nil {
		if len(h.faults) >= maxRuleCounts {
			k = ruleKey{"", "other"}
			c = h.faults[k]
		}
		if c == nil {
			c = &ruleCount{}
			h.faults[k] = c
		}
	}
	c.n++
	quiet := now.Sub(c.logged) < ruleQuiet
	if !quiet {
		c.logged = now
	}
	h.mu.Unlock()
	if !quiet {
		h.app.log.Warn("a rule of a route plan could not be evaluated, and the call went on without it",
			"plan", e.Plan, "rule", e.Reason, "error", e.Detail, "call", e.Call)
	}
}

// hookTrouble says which webhooks are not told; empty = none.
func hookTrouble(list []webhook.Stats) string {
	var parts []string
	for _, s := range list {
		if s.Fault != "" {
			parts = append(parts, fmt.Sprintf("events of plan %s are not delivered to %s since %s: %s", s.Plan, s.Host, s.Since.UTC().Format(time.RFC3339), s.Fault))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "; tandem_webhook_events_total counts what was given up; see that the far end answers and that the variables of its url, auth_header and secret are set here"
}

// metrics says what became of events and rules.
func (h *hooks) metrics() metrics.Hooks {
	var m metrics.Hooks
	for _, s := range h.Stats() {
		m.Webhooks = append(m.Webhooks, metrics.Webhook{
			Plan: s.Plan, Queued: s.Queued, Delivered: s.Delivered, Failed: s.Failed, Dropped: s.Dropped,
		})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, c := range h.faults {
		m.Faults = append(m.Faults, metrics.PolicyFaults{Plan: k.plan, Rule: k.rule, Calls: c.n})
	}
	return m
}
