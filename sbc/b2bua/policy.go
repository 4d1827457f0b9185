package b2bua

import (
	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// Hooks hears what becomes of calls whose plan has somebody told of it.
type Hooks interface {
	// Tell takes an event for the webhooks of a plan. It is the other side's to keep, and
	// nobody waits for it.
	Tell(p *trunkgroup.RoutePolicy, e *policy.Event)
}

// ruledCall is what a call keeps of the rules of its plan.
type ruledCall struct {
	used   uint32                 // bits of the rules for failures that were carried out
	fields []trunkgroup.NameValue // for the record
}

// rules returns the rules of the call's plan, nil for most calls: none have those that came
// with a hand-off, for the site where they came in applies them.
func (c *Call) rules() *trunkgroup.RoutePolicy {
	if c.asks == nil || c.token.yes {
		return nil
	}
	return c.asks.Policy
}

// policed applies the rules of the call's plan to what was decided: which routes stay, and
// in which order (S-014).
func (c *Call) policed(set *trunkgroup.RouteSet) *trunkgroup.RouteSet {
	p := c.rules()
	if p == nil || p.Keep == nil && p.Order == nil {
		return set
	}
	call := c.policyCall(set)
	out := p.Police(&c.s.machine, &call, set)
	c.ruleFaults(out.Faults)
	return out.Set
}

// ruling is what the plan's rules say about a call whose routes have all failed (S-045).
// The zero value leaves it at that.
type ruling struct {
	routes *trunkgroup.RouteSet // try these
	ask    bool                 // or ask who decides again, with the failure
	code   int                  // or give the caller this in place of the failure
	reason string
}

// ruled asks the rules, and tells of the failure.
func (c *Call) ruled(code int, cause string) ruling {
	p := c.rules()
	if p == nil || len(p.Failures) == 0 && !p.Tells(policy.OnFailure) {
		return ruling{}
	}
	call, attempts := c.policyCall(c.routes), c.failedAttempts(nil)
	failure := policy.Failure{Code: code, Cause: cause, Reroutes: c.lc.again}
	for i := range attempts {
		if attempts[i].Dialed {
			failure.Dialed++
		}
	}
	at, faults := p.Rule(&c.s.machine, c.ruledBy.used, &call, &failure, attempts)
	c.ruleFaults(faults)
	var r ruling
	told := policy.Told{}
	if at >= 0 {
		rule := &p.Failures[at]
		c.ruledBy.used |= 1 << at
		r = ruling{routes: rule.Routes, ask: rule.Ask, code: rule.Reject.Code, reason: rule.Reject.Reason}
		told = policy.Told{Rule: at + 1, Route: rule.Groups(), Ask: rule.Ask, Code: r.code, Reason: r.reason}
	}
	if p.Tells(policy.OnFailure) {
		c.tell(p, &policy.Event{Kind: policy.OnFailure, Call: call, Attempts: attempts, Failure: &failure, Ruling: &told})
	}
	return r
}

// tellAttempt tells of an attempt that failed (S-046), once for each.
func (c *Call) tellAttempt(a *hunt.Attempt) {
	p := c.rules()
	if !p.Tells(policy.OnRouteFailure) {
		return
	}
	one := c.policyAttempt(a)
	c.tell(p, &policy.Event{
		Kind: policy.OnRouteFailure, Call: c.policyCall(c.routes), Route: c.policyRoute(c.routeOf(a)), Attempt: &one,
		Attempts: c.failedAttempts(a),
	})
}

// tellAnswer tells that a route answered, and has the rules say what the record gets of it
// (S-015).
func (c *Call) tellAnswer() {
	p := c.rules()
	if p == nil || c.lc == nil || len(p.Fields) == 0 && !p.Tells(policy.OnAnswer) {
		return
	}
	call, attempts, route := c.policyCall(c.routes), c.failedAttempts(nil), c.policyRoute(c.activeRoute())
	if p.Tells(policy.OnAnswer) {
		c.tell(p, &policy.Event{Kind: policy.OnAnswer, Call: call, Route: route, Attempts: attempts})
	}
	if route == nil {
		route = &policy.Route{}
	}
	var faults []trunkgroup.RuleFault
	c.ruledBy.fields, faults = p.FieldTexts(&c.s.machine, &call, route, attempts)
	c.ruleFaults(faults)
}

// addFields puts what the rules say into the record, in the place of what the route said
// under the same name.
func (c *Call) addFields(r *cdr.Record) {
	for _, f := range c.ruledBy.fields {
		at := 0
		for at < len(r.Fields) && r.Fields[at].Name != f.Name {
			at++
		}
		if at == len(r.Fields) {
			r.Fields = append(r.Fields, cdr.Field{Name: f.Name})
		}
		r.Fields[at].Value = f.Value
	}
	c.ruledBy.fields = nil
}

// ruleFaults counts rules that could not be evaluated: the call goes on as without them.
func (c *Call) ruleFaults(faults []trunkgroup.RuleFault) {
	for i := range faults {
		c.s.env.Count(Event{
			Kind: EventPolicyFault, Call: c.id, Plan: c.asks.Name, Reason: faults[i].Rule, Detail: faults[i].Err.Error(),
		})
	}
}

// tell completes an event and lets it go.
func (c *Call) tell(p *trunkgroup.RoutePolicy, e *policy.Event) {
	s := c.s
	e.Version, e.ID, e.Time = policy.EventVersion, callID(s.now, s.env.Random(), s.env.Random()), s.now.UTC()
	s.env.Tell(p, e)
}
