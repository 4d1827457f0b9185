package trunkgroup

import (
	"cmp"

	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// policed applies the rules of the plan to the routes that the query brings, as a call
// does, and says what they did; then what they would do with a failure.
func (e *explainer) policed(plan *RoutePlan, d *Decision, set *RouteSet) *RouteSet {
	p := plan.Policy
	if p == nil {
		return set
	}
	call := e.policyCall(plan, d, set)
	var m policy.Machine
	out := p.Police(&m, &call, set)
	for _, words := range out.Words(p, set) {
		e.say("policy", "%s", words)
	}
	for i := range p.Failures {
		when := "always"
		if p.Failures[i].When != nil {
			when = "when " + p.Failures[i].When.String()
		}
		e.say("policy", "once all routes have failed, on_failure[%d], %s: %s", i, when, p.Failures[i].Words())
	}
	return out.Set
}

// policyCall is the call of the query as rules see it: without what only an INVITE has.
func (e *explainer) policyCall(plan *RoutePlan, d *Decision, set *RouteSet) policy.Call {
	call := policy.Call{
		Plan: plan.Name, Group: d.Customer.Name, Customer: d.Customer.Customer,
		Caller: cmp.Or(string(e.shown), string(e.q.Caller)), Called: d.Called, CalledRaw: string(e.q.Called),
		Transport: e.q.Source.Transport.String(), User: e.q.Username, Site: e.q.Site, Decided: set.Source,
	}
	call.SetTime(e.q.Now)
	if a := e.q.Source.Source.Addr(); a.IsValid() {
		call.Source = a.String()
	}
	return call
}
