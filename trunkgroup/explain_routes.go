package trunkgroup

import (
	"cmp"
	"strconv"
	"strings"
)

// RouteLine is one route of a decision, as the call would take it.
type RouteLine struct {
	Route     int      `json:"route"` // from 1, in the order in which they are tried
	Carrier   string   `json:"carrier"`
	Group     string   `json:"group,omitempty"`
	NextHop   string   `json:"next_hop,omitempty"`
	RURI      string   `json:"ruri,omitempty"`
	Dialable  int      `json:"dialable"`           // far ends of it in the order
	Cause     string   `json:"cause,omitempty"`    // why there is none
	Rate      *float64 `json:"rate,omitempty"`     // of a minute
	Currency  string   `json:"currency,omitempty"` // ISO 4217
	Timeout   string   `json:"timeout,omitempty"`  // for the wait for progress
	Onwards   bool     `json:"reroute_after_progress,omitempty"`
	AdvanceOn []int    `json:"advance_on"` // in force
}

// decided takes the routes that the query brings for a call that others decide about. It
// reports false when there are none to try.
func (e *explainer) decided(x *Explored) bool {
	set, plan := e.q.Routes, x.Decision.Plan
	if plan == nil || set == nil {
		return false
	}
	set = e.policed(plan, &x.Decision, set)
	switch {
	case EmergencyNumber([]byte(x.Decision.Called)) && (set.Absent || set.Reject.Code != 0 || len(set.Routes) == 0) && len(e.t.providers) > 0:
		x.Decision.Plan, x.Decision.Groups = nil, e.t.providers
		e.say("route", "the decision brings no routes; an emergency call goes to all carriers all the same")
		return true
	case set.Absent:
		e.refuse(503, "nobody has decided, and the plan has no fallback group: %s", cmp.Or(set.Why, "no answer"))
	case set.Reject.Code != 0:
		e.refuse(set.Reject.Code, "the decision refuses the call: %d %s", set.Reject.Code, set.Reject.Reason)
	case len(set.Routes) == 0:
		e.refuse(404, "the decision has no route: 404")
	default:
		x.Course.Routes, x.Course.MaxMembers, x.Course.PlanName = set, plan.MaxMembers, plan.Name
		x.Course.Unbounded = EmergencyNumber([]byte(x.Decision.Called))
		e.byRoutes, e.draws = true, map[*Group]*Draw{}
		return true
	}
	return false
}

func (e *explainer) refuse(code int, format string, args ...any) {
	e.out.Code = code
	e.say("route", format, args...)
}

// gateway notes what a group says of the call, once however many routes name it.
func (e *explainer) gateway(g *Group, d *Draw) {
	if e.draws[g] == nil {
		e.out.Groups = append(e.out.Groups, e.group(g, d))
		e.draws[g] = d
	}
}

// routes says what becomes of each route of a decision, and fills in the order by name.
func (e *explainer) routes(x *Explored) {
	if x.Course.Routes == nil {
		return
	}
	for i := range x.Order {
		e.out.Order = append(e.out.Order, e.routeEntry(&x.Order[i]))
	}
	if e.quiet {
		return
	}
	next := 0
	for i := range x.Course.Routes.Routes {
		r, begin := &x.Course.Routes.Routes[i], next
		for next < len(x.Order) && x.Order[next].Route == r {
			next++
		}
		l := e.routeLine(x.Decision.Plan, r, x.Order[begin:next])
		l.Route = i + 1
		e.out.Routes = append(e.out.Routes, l)
		e.say("route", "%d. %s", l.Route, l.text(x.Order[begin:next]))
	}
}

// routeLine is a route with its part of the order.
func (e *explainer) routeLine(plan *RoutePlan, r *CarrierRoute, part []Candidate) RouteLine {
	l := RouteLine{
		Carrier: r.CarrierID, Group: r.GatewayGroup, NextHop: r.NextHop, RURI: r.RURI, Currency: r.Currency,
		Timeout: said(r.Timeout), Onwards: r.RerouteAfterProgress, AdvanceOn: e.causesOf(plan, r),
	}
	if r.Rated {
		l.Rate = &r.Rate
	}
	for i := range part {
		if part[i].Dialable {
			l.Dialable++
		}
	}
	if l.Dialable == 0 && len(part) > 0 {
		l.Cause = part[0].Cause
	}
	return l
}

// routeEntry is an entry of the order of routes.
func (e *explainer) routeEntry(c *Candidate) OrderLine {
	if c.Member.Index >= 0 {
		g := cmp.Or(c.Outer, c.Member.Group)
		l := e.line(g, cmp.Or(e.draws[g], &Draw{}), c)
		l.Carrier = c.Route.CarrierID
		return l
	}
	l := OrderLine{
		Group: c.Route.GatewayGroup, Member: c.Member.ID, Site: e.q.Site, Transport: c.Member.Transport.String(), Carrier: c.Route.CarrierID,
		Dialable: c.Dialable, Cause: c.Cause,
	}
	if c.Dialable {
		e.places++
		l.Group, l.Place, l.Addr = "", e.places, c.Addr.String()
	}
	return l
}

// causesOf are the finals after which a route leads to the next one (S-036).
func (e *explainer) causesOf(plan *RoutePlan, r *CarrierRoute) []int {
	g := e.t.Provider(r.GatewayGroup)
	switch {
	case !r.RerouteCauses.Empty():
		return r.RerouteCauses.Codes()
	case g != nil && e.t.SaysAdvance(g):
		return g.AdvanceOn.Codes()
	case !plan.RerouteCauses.Empty():
		return plan.RerouteCauses.Codes()
	}
	return defaultAdvanceOn()
}

// text says a route in words.
func (l *RouteLine) text(part []Candidate) string {
	var b strings.Builder
	b.WriteString(cmp.Or(l.Carrier, "a route without a carrier"))
	if l.Rate != nil {
		b.WriteString(" at " + strings.TrimSpace(strconv.FormatFloat(*l.Rate, 'f', -1, 64)+" "+l.Currency))
	}
	if l.Dialable == 0 {
		return b.String() + " is not dialled: " + l.whyNot()
	}
	b.WriteString(" by ")
	for i := range part {
		if i > 0 {
			b.WriteString(", then ")
		}
		b.WriteString(strings.TrimPrefix(part[i].Member.Key, "/"))
	}
	if l.Group != "" && part[0].Member.Index < 0 {
		b.WriteString(", its next hop, for nobody of " + l.Group + " can be dialled")
	}
	return b.String()
}

// whyNot words the cause of a route that is not dialled.
func (l *RouteLine) whyNot() string {
	switch l.Cause {
	case CauseUnknownGroup:
		return "no pstn-provider group is called " + strconv.Quote(l.Group)
	case CauseNoTarget:
		return "it names no group and no next hop"
	case CauseUnresolved:
		if l.Group == "" {
			return "its next hop has no address"
		}
	case CauseNoMember:
		return "group " + l.Group + " has no member in this site"
	case CauseQuality:
		return "calls to this carrier have done too badly of late"
	}
	return "everybody of " + l.Group + " is out, the first for " + l.Cause
}
