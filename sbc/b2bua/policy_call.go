package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// policyCall is the call as rules and webhooks see it. What strangers wrote is cut, for
// patterns read it.
func (c *Call) policyCall(set *trunkgroup.RouteSet) policy.Call {
	call := policy.Call{
		ID: c.id, SIPCallID: cut(c.a.callID), Plan: c.asks.Name, Group: c.customer.Name, Customer: c.customer.Customer,
		Caller: cut(c.shownCaller()), Called: c.called, CalledRaw: cut(c.calledRaw), Source: c.source.Addr().String(),
		Transport: c.proto.String(), User: cut(c.user), Site: c.s.cfg.Site, Node: c.s.cfg.Node,
		Test: c.test,
	}
	call.SetTime(c.s.now)
	if e164 := c.appendCallerE164(nil); len(e164) > 0 {
		call.Caller = string(e164)
	}
	if c.msg != nil {
		call.From, call.To = cut(string(addressURI(c.msg.Header(sip.From)))), cut(string(addressURI(c.msg.Header(sip.To))))
	}
	if set != nil {
		call.Decided = set.Source
	}
	return call
}

// cut bounds what a stranger wrote.
func cut(s string) string { return s[:min(len(s), policy.MaxURI)] }

// failedAttempts are the attempts that have failed, oldest first (S-047): up to one of them,
// or all.
func (c *Call) failedAttempts(upTo *hunt.Attempt) []policy.Attempt {
	all := c.seq.Attempts()
	list := make([]policy.Attempt, 0, len(all))
	for i := range all {
		if a := &all[i]; a.Failed() {
			list = append(list, c.policyAttempt(a))
			if a == upTo {
				break
			}
		}
	}
	return list[max(0, len(list)-policy.MaxAttempts):]
}

// policyAttempt is an attempt as rules and webhooks see it.
func (c *Call) policyAttempt(a *hunt.Attempt) policy.Attempt {
	out := policy.Attempt{
		Group: a.Group, Member: a.Member, Site: a.Site, Status: a.Code, Cause: a.Cause,
		ElapsedMS: int(a.Elapsed.Milliseconds()), Dialed: a.Dialed, Progress: a.Progress,
	}
	if r := c.routeOf(a); r != nil {
		out.CarrierID = r.CarrierID
	}
	if m := c.memberOf(a); m != nil {
		out.Group, out.Member, out.Site = c.groupOf(a, m), m.ID, c.s.cfg.Site
	}
	return out
}

// policyRoute is a route as webhooks see it, nil for none. Its place is that in the routes
// that the call has now, 0 when it was of those before.
func (c *Call) policyRoute(r *trunkgroup.CarrierRoute) *policy.Route {
	if r == nil {
		return nil
	}
	place := 0
	for i := range c.routes.Routes {
		if &c.routes.Routes[i] == r {
			place = i + 1
		}
	}
	out := &policy.Route{}
	trunkgroup.FillRoute(out, r, place)
	return out
}
