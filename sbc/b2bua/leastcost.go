package b2bua

import (
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Router asks others where calls go.
type Router interface {
	// Decide returns what is decided for a call, when it is known at once: an answer that
	// is still good, or decks. Else it returns nil, and whoever answers says so with
	// Shard.Decided(ref), exactly once, not later than the plan's timeout. The query and
	// what it holds is the shard's again afterwards.
	Decide(ref uint64, q *RouteQuery) *trunkgroup.RouteSet
}

// RouteQuery is a call that others decide about (rules 1.2.c).
type RouteQuery struct {
	Plan      *trunkgroup.RoutePlan
	Group     string // the customer's trunk group
	Dialed    string // normalised
	CallID    []byte // of the A leg
	From, To  []byte // URIs of the A leg
	Source    netip.AddrPort
	Transport trunkgroup.Transport
	Caller    []byte // his number, E.164 where it could be read
	User      string // digest user
	Now       time.Time
	// Failed is the final response that the routes so far came to, and FailedCause why, of
	// a call that asks for others (S-045); 0 = it asks for the first time. What is known is
	// no answer then, and the answer is nobody else's.
	Failed      int
	FailedCause string
}

// decisionGrace is how much longer than the plan's timeout a call waits: who asks ends
// the wait by himself, and only a fault of ours lets it pass.
const decisionGrace = time.Second

// Causes of calls that others decided about.
const (
	causeNoDecision = "ROUTE_UNAVAILABLE" // nobody decided (S-011)
	causeRejected   = "ROUTE_REJECTED"    // the decision refuses the call (S-012)
)

// askRoutes asks for the routes of a call that others decide about. It reports false
// while the call waits, and when it has its final response.
func (c *Call) askRoutes() bool {
	if c.asks == nil || c.routes != nil {
		return true
	}
	set := c.ask(0, "")
	return set != nil && c.take(set)
}

// ask asks for routes, when others have failed with their final response. It returns nil
// while the call waits.
func (c *Call) ask(failed int, cause string) *trunkgroup.RouteSet {
	s := c.s
	q := &s.query
	*q = RouteQuery{
		Plan: c.asks, Group: c.customer.Name, Dialed: c.called, CallID: c.msg.CallID(),
		From: addressURI(c.msg.Header(sip.From)), To: addressURI(c.msg.Header(sip.To)),
		Source: c.source, Transport: c.proto, Caller: c.appendCallerE164(q.Caller[:0]), User: c.user, Now: s.now,
		Failed: failed, FailedCause: cause,
	}
	ref := s.newBranch()
	set := s.env.Decide(ref, q)
	if set == nil {
		c.wait = &wait{call: c, kind: waitRoutes, ref: ref, until: s.now.Add(c.patience())}
		s.waits[ref] = c.wait
		c.arm()
	}
	return set
}

// take takes a decision (S-011 to S-013). It reports false when that ends the call: with
// what it says, or with the failure of the routes before it.
func (c *Call) take(set *trunkgroup.RouteSet) bool {
	set = c.policed(set)
	if c.lc != nil && (set.Absent || set.Reject.Code == 0 && len(set.Routes) == 0) {
		c.give(c.lc.ended)
		return false
	}
	switch {
	case c.emergency() && (set.Absent || set.Reject.Code != 0 || len(set.Routes) == 0):
		table, _ := c.s.env.Routing()
		return c.anyCarrier(table)
	case set.Absent:
		c.end.cause = causeNoDecision
		c.finalFailure(503, "Route Unavailable", nil)
	case set.Reject.Code != 0:
		c.end.cause = causeRejected
		c.finalFailure(set.Reject.Code, set.Reject.Reason, nil)
	case len(set.Routes) == 0:
		c.end.cause = trunkgroup.CauseNoRoute
		c.finalFailure(404, "No Route", nil)
	default:
		c.routes = set
		return true
	}
	return false
}

// Decided tells what was decided for a call that waits for it.
func (s *Shard) Decided(now time.Time, ref uint64, set *trunkgroup.RouteSet) {
	s.now, s.hot = now, nil
	w := s.waits[ref]
	if w == nil {
		return
	}
	delete(s.waits, ref)
	c := w.call
	if c == nil || c.phase != hunting {
		return
	}
	s.hot = c
	c.wait = nil
	c.decided(set)
	c.arm()
}

// decided goes on with a call that has waited for a decision.
func (c *Call) decided(set *trunkgroup.RouteSet) {
	switch {
	case !c.take(set):
	case c.lc != nil:
		c.again()
	default:
		c.resume()
	}
}
