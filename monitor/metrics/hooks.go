package metrics

// Hooks is what became of the rules of route plans and of the webhooks that are told.
type Hooks struct {
	Webhooks []Webhook
	Faults   []PolicyFaults
}

// Webhook is what became of the events of one webhook.
type Webhook struct {
	Plan                       string
	Queued                     int
	Delivered, Failed, Dropped uint64
}

// PolicyFaults counts the calls for which one rule could not be evaluated.
type PolicyFaults struct {
	Plan, Rule string
	Calls      uint64
}

var (
	descWebhookEvents = desc("webhook_events_total", "Events of the plan's webhooks by what became of them: delivered, failed, dropped.", "plan", "result")
	descWebhookQueue  = desc("webhook_queue", "Events that wait for the plan's webhooks.", "plan")
	descPolicyFaults  = desc("policy_faults_total", "Calls for which a rule of the plan could not be evaluated.", "plan", "rule")
)

func (p page) hooks(h Hooks) {
	sums := make(map[string]Webhook)
	for _, w := range h.Webhooks {
		s := sums[w.Plan]
		sums[w.Plan] = Webhook{
			Queued: s.Queued + w.Queued, Delivered: s.Delivered + w.Delivered, Failed: s.Failed + w.Failed, Dropped: s.Dropped + w.Dropped,
		}
	}
	for plan, s := range sums {
		p.counter(descWebhookEvents, s.Delivered, plan, "delivered")
		p.counter(descWebhookEvents, s.Failed, plan, "failed")
		p.counter(descWebhookEvents, s.Dropped, plan, "dropped")
		p.gauge(descWebhookQueue, float64(s.Queued), plan)
	}
	for _, f := range h.Faults {
		p.counter(descPolicyFaults, f.Calls, f.Plan, f.Rule)
	}
}
