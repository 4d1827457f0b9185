package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// routing is how far a call has got with the routes that somebody has decided on.
type routing struct {
	// table and view are those by which the routes that have not had their turn are planned.
	table *trunkgroup.Table
	view  *trunkgroup.View
	rules huntRules
	told  int // attempts that were told of
	again int // times that other routes took the place of those that had failed
	// handed are the routes that went with the hand-off; an attempt of the peer's names its
	// route by the place in it.
	handed []*trunkgroup.CarrierRoute
	// ended is what the caller gets unless other routes are found.
	ended hunt.Action
	won   *trunkgroup.CarrierRoute // that answered
}

// maxReroutes bounds how often one call gets other routes after a failure (S-045).
const maxReroutes = 10

// begin notes by what the call's routes are planned, and says of which of them the group is
// not known (S-072).
func (c *Call) begin(table *trunkgroup.Table, view *trunkgroup.View) {
	c.lc = &routing{table: table, view: view}
	c.faults(table)
}

func (c *Call) faults(table *trunkgroup.Table) {
	for i := range c.routes.Routes {
		r := &c.routes.Routes[i]
		if r.GatewayGroup != "" && table.Provider(r.GatewayGroup) == nil {
			c.s.env.Count(Event{Kind: EventRouteFault, Call: c.id, Carrier: r.CarrierID, Reason: trunkgroup.CauseUnknownGroup, Detail: r.GatewayGroup})
		}
	}
}

// course is what the call is planned from.
func (c *Call) course(table *trunkgroup.Table, view *trunkgroup.View) trunkgroup.Course {
	course := trunkgroup.Course{
		Table: table, View: view, Site: c.s.cfg.Site, Groups: c.groups, Routes: c.routes, Secure: c.secure, Planner: &c.s.planner,
		Unbounded: c.emergency(),
	}
	if c.asks != nil {
		course.MaxMembers, course.PlanName = c.asks.MaxMembers, c.asks.Name
	}
	return course
}

// fresh returns the sequence engine for an event after which it may dial. When states or the
// configuration have changed since the routes were planned, those that have not had their
// turn are planned again: who is dialled is decided at that instant (S-070, S-073).
func (c *Call) fresh() *hunt.Sequence {
	if c.lc == nil || c.seq.State().Done() {
		return c.seq
	}
	table, view := c.s.env.Routing()
	rest := c.seq.Rest()
	if rest >= len(c.cands) || table == c.lc.table && view == c.lc.view {
		return c.seq
	}
	from, begun := c.position(rest)
	c.planRest(table, view, rest, from, c.cands[begun:rest])
	c.seq.Retarget(c.lc.rules.targets[rest:], c.lc.rules.rules)
	return c.seq
}

// position returns which route the far end at a place of the order is of, and the place at
// which that route begins.
func (c *Call) position(rest int) (route, begun int) {
	r := c.cands[rest].Route
	for route < len(c.routes.Routes) && &c.routes.Routes[route] != r {
		route++
	}
	begun = rest
	for begun > 0 && c.cands[begun-1].Route == r {
		begun--
	}
	return route, begun
}

// planRest plans the routes from one on in the place of all far ends from rest on.
func (c *Call) planRest(table *trunkgroup.Table, view *trunkgroup.View, rest, from int, tried []trunkgroup.Candidate) {
	course := c.course(table, view)
	c.lc.table, c.lc.view = table, view
	c.cands = course.PlanRoutes(c.cands[:rest:rest], from, tried, c)
	c.lc.rules.routeRules(c.cands, rest, table, c.asks)
}

// reroute asks the rules of the plan what becomes of a call whose routes have failed
// (S-045), once for each list of routes. It reports false when the caller gets the failure.
func (c *Call) reroute(a hunt.Action) bool {
	if c.token.yes || c.seq.State() == hunt.Cancelled {
		return false // the caller, and the origin, have decided
	}
	code, cause := a.Code, a.Cause
	if a.Kind == hunt.Fail {
		code, cause = failureOf(c.seq.Attempts(), code, cause)
	} else {
		cause = vendorCause(code)
	}
	r := c.ruled(code, cause)
	c.lc.ended = a
	switch more := c.lc.again < maxReroutes; {
	case r.routes != nil && more:
		c.routes = r.routes
		c.again()
	case r.ask && more:
		if set := c.ask(code, cause); set != nil && c.take(set) {
			c.again()
		}
	case r.code != 0:
		c.end.cause = causeRejected
		c.finalFailure(r.code, r.reason, nil)
	default:
		return false
	}
	return true
}

// again tries other routes in the place of those that have failed.
func (c *Call) again() {
	c.lc.again++
	table, view := c.s.env.Routing()
	c.faults(table)
	rest := c.seq.Rest()
	c.planRest(table, view, rest, 0, nil)
	c.do(c.seq.Again(c.s.now, c.lc.rules.targets[rest:], c.lc.rules.rules))
}

// tellAttempts tells of the attempts that have failed since it was last called, once of each
// (S-046, S-048). What the peer site tried counts here, where the call came in.
func (c *Call) tellAttempts() {
	attempts := c.seq.Attempts()
	for ; c.lc.told < len(attempts); c.lc.told++ {
		a := &attempts[c.lc.told]
		if a.Code == 0 && !c.seq.State().Done() {
			return // it is in flight
		}
		if !a.Failed() {
			continue
		}
		e := Event{Kind: EventRouteFailed, Call: c.id, Code: a.Code, Dialed: a.Dialed, Final: a.Final, Reason: a.Cause, Wait: a.Elapsed}
		if r := c.routeOf(a); r != nil {
			e.Carrier = r.CarrierID
		}
		c.s.env.Count(e)
		if !c.token.yes {
			c.tellAttempt(a)
		}
	}
}

// routeOf returns the route of an attempt, nil where there is none.
func (c *Call) routeOf(a *hunt.Attempt) *trunkgroup.CarrierRoute {
	switch {
	case c.lc == nil:
	case a.Site != "":
		if i := int(a.Route) - 1; i >= 0 && i < len(c.lc.handed) {
			return c.lc.handed[i]
		}
	case a.Target >= 0 && a.Target < len(c.cands):
		return c.cands[a.Target].Route
	}
	return nil
}

// activeRoute is the route that answered (S-015), nil before that and for calls without
// routes.
func (c *Call) activeRoute() *trunkgroup.CarrierRoute {
	switch {
	case c.lc == nil || c.winner == nil:
		return nil
	case c.seq == nil: // the hunt is over
		return c.lc.won
	}
	attempts := c.seq.Attempts()
	for i := range attempts {
		if attempts[i].Code/100 == 2 {
			return c.routeOf(&attempts[i])
		}
	}
	return nil
}

// settleRoutes lets go of what only the hunt needed.
func (c *Call) settleRoutes() {
	if c.lc != nil {
		c.lc = &routing{won: c.activeRoute()}
	}
}

// groupOf is the group that an attempt here is recorded under: of a route that has no far
// end the one that it names.
func (c *Call) groupOf(a *hunt.Attempt, m *trunkgroup.Member) string {
	if r := c.routeOf(a); r != nil && m.Group.Name == "" && m.ID == "" {
		return r.GatewayGroup
	}
	return m.Group.Name
}

// placeOf is the place of an attempt's route in the list that came with the hand-off, from 1;
// 0 = none.
func (c *Call) placeOf(a *hunt.Attempt) uint16 {
	r := c.routeOf(a)
	for i := range c.handedIn() {
		if &c.routes.Routes[i] == r {
			return uint16(i + 1)
		}
	}
	return 0
}

// handedIn are the routes that came with the hand-off.
func (c *Call) handedIn() []trunkgroup.CarrierRoute {
	if c.routes == nil || !c.token.yes {
		return nil
	}
	return c.routes.Routes
}
