package metrics

// Fraud is what one rule of a customer's fraud section has counted over the
// cluster, and which of its bounds calls passed at this node.
type Fraud struct {
	Customer, Rule          string
	HourCalls, DayCalls     uint64
	HourMinutes, DayMinutes uint64
	Passed                  []FraudPassed
}

// FraudPassed counts the calls that met a bound.
type FraudPassed struct {
	Bound, Action string
	Calls         uint64
}

var (
	descFraudCalls   = desc("fraud_calls", "Calls of the customer over the cluster within the window, as last heard.", "customer", "rule", "window")
	descFraudSeconds = desc("fraud_call_seconds", "Answered time of the customer over the cluster within the window, in whole minutes, as last heard.", "customer", "rule", "window")
	descFraudPassed  = desc("fraud_passed_total", "Calls that found a bound of the customer passed, and what was done.", "customer", "rule", "bound", "action")
)

func (p page) fraud(list []Fraud) {
	for i := range list {
		f := &list[i]
		p.gauge(descFraudCalls, float64(f.HourCalls), f.Customer, f.Rule, "hour")
		p.gauge(descFraudCalls, float64(f.DayCalls), f.Customer, f.Rule, "day")
		p.gauge(descFraudSeconds, 60*float64(f.HourMinutes), f.Customer, f.Rule, "hour")
		p.gauge(descFraudSeconds, 60*float64(f.DayMinutes), f.Customer, f.Rule, "day")
		for _, x := range f.Passed {
			p.counter(descFraudPassed, x.Calls, f.Customer, f.Rule, x.Bound, x.Action)
		}
	}
}
