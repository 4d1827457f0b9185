package trunkgroup

import "slices"

// CauseInsecure is the cause of a far end that is not reached over TLS, for a
// call to a sips address.
const CauseInsecure = "insecure"

// Caster says what one call brings into the plans of its groups.
type Caster interface {
	// Draw returns what chance and turn give to the call in a group, and what it
	// sticks by there. It is asked once for each group, in order.
	Draw(g *Group) Draw
	// Asks tells whether the call may be handed to a site and a node of it is up.
	Asks(site string) bool
	// Planned shows what was planned in one group, and whether a peer site is
	// asked before it.
	Planned(g *Group, d Draw, part []Candidate, peerFirst bool)
}

// Course is what a call is planned from.
type Course struct {
	Table  *Table
	View   *View
	Site   string // where it is dialled from
	Groups []*Group
	// Routes are tried in the place of Groups, when somebody else has decided.
	Routes *RouteSet
	// MaxMembers bounds how many of a route's group are tried; 0 means one (S-070).
	MaxMembers int
	// PlanName is the plan's that the routes are by.
	PlanName string
	// Unbounded: it is an emergency call, from which nobody is kept (DEC-17).
	Unbounded bool
	// Secure: it is to a sips address, and goes by TLS on every hop (RFC 3261
	// 26.2.2, RFC 5630 3.1).
	Secure bool
	// Planner is the memory that the course is planned in; nil: a new one.
	Planner *Planner
}

// Plan appends the whole try-order of the call to dst: each group's by its
// distribution, the groups in order. PeerFirst names the site that is asked
// before all of them, since the far end that the call sticks to takes the calls
// of that site; its own members are tried when that site cannot take the call.
// Calls and Explain both ask it. With Routes the order is theirs, and no peer is first.
func (c *Course) Plan(dst []Candidate, by Caster) (order []Candidate, peerFirst string) {
	if c.Routes != nil {
		return c.PlanRoutes(dst, 0, nil, by), ""
	}
	for _, g := range c.Groups {
		d := by.Draw(g)
		begin := len(dst)
		dst = c.planGroup(dst, g, d)
		if begin > 0 && c.overlaps() {
			dst = withoutRepeats(dst, begin)
		}
		if c.Secure {
			keepSecure(dst[begin:])
		}
		if len(c.Groups) == 1 {
			peerFirst = c.elsewhere(g, d.Remembered, by)
		}
		by.Planned(g, d, dst[begin:], peerFirst != "")
	}
	return dst, peerFirst
}

func (c *Course) planGroup(dst []Candidate, g *Group, d Draw) []Candidate {
	view := c.View
	if d.Unbounded {
		view = view.ForEmergency()
	}
	if c.Planner == nil {
		return Plan(dst, g, c.Site, view, d)
	}
	return c.Planner.Plan(dst, g, c.Site, view, d)
}

// overlaps tells whether a far end may stand in two of the groups: one of them has
// places for other groups.
func (c *Course) overlaps() bool {
	return slices.ContainsFunc(c.Groups, func(g *Group) bool { return len(g.Nests()) > 0 })
}

// withoutRepeats takes out of the end of a try-order what stands before it: no far
// end is asked twice for one call.
func withoutRepeats(order []Candidate, begin int) []Candidate {
	before, part := order[:begin], order[begin:]
	kept := slices.DeleteFunc(part, func(c Candidate) bool {
		return slices.ContainsFunc(before, func(o Candidate) bool {
			return o.Member == c.Member && o.Binding == c.Binding && o.Addr == c.Addr
		})
	})
	return order[:begin+len(kept)]
}

// elsewhere returns the peer site that takes the calls of the far end which a
// call sticks to, when it can be asked.
func (c *Course) elsewhere(g *Group, farEnd string, by Caster) string {
	if farEnd == "" {
		return ""
	}
	site := c.View.SiteOf(c.Table, g, farEnd)
	if site == "" || site == c.Site || !by.Asks(site) {
		return ""
	}
	return site
}

// HandsOff tells whether a peer site has members for this call. Only
// configuration may say no: what nodes know of each other is no judge (DEC-04).
func (c *Course) HandsOff() bool { return slices.ContainsFunc(c.Table.PeerSites(c.Site), c.serves) }

// serves tells whether a site has members for this call.
func (c *Course) serves(site string) bool {
	if c.Routes != nil {
		return c.servesRoutes(site)
	}
	return slices.ContainsFunc(c.Groups, func(g *Group) bool { return g.Serves(site) })
}

// keepSecure takes the far ends without TLS out of a try-order.
func keepSecure(part []Candidate) {
	for i := range part {
		c := &part[i]
		t := c.Member.Transport
		if c.Binding != nil {
			t = c.Binding.Transport
		}
		if c.Dialable && !t.Secure() {
			c.Dialable, c.Cause = false, CauseInsecure
		}
	}
}
