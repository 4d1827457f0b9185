package trunkgroup

import "slices"

// Causes of a route that is not dialled, beside those of members.
const (
	CauseUnknownGroup = "unknown_group" // no pstn-provider group has the name (S-072)
	CauseNoMember     = "no_member"     // the group has no member in this site
	CauseNoTarget     = "no_target"     // the route does not say where to go (S-020)
)

// hopGroup is the group of far ends that stand in no document: the next hops of routes.
// It has the defaults of a carrier's group, and no bounds.
var hopGroup = Group{Index: -1, Role: PSTNProvider, Timers: compileTimers(PSTNProvider, TimersSpec{})}

// nowhere stands for the far end of a route that has none.
var nowhere = Member{Index: -1, Group: &hopGroup}

// Provider returns the pstn-provider group of a name, or nil: routes lead to no other
// group (S-072).
func (t *Table) Provider(name string) *Group {
	if g := t.byName[name]; g != nil && g.Role == PSTNProvider {
		return g
	}
	return nil
}

// SaysAdvance reports whether the document says for a group which finals lead on, so that
// this counts before what a route plan says (S-036).
func (t *Table) SaysAdvance(g *Group) bool {
	return g.Index >= 0 && g.Index < len(t.groups) && t.groups[g.Index] == g && len(t.document.TrunkGroups[g.Index].AdvanceOn) > 0
}

// PlanRoutes appends the far ends of the routes from one on to dst: of each the first that
// its group would dial now, by its distribution, or as many as MaxMembers says. A route
// that nobody can be dialled of has one entry that says why (S-043, S-044). Tried are the
// far ends that the first of these routes has had already; with them, one that has no more
// is left out.
func (c *Course) PlanRoutes(dst []Candidate, from int, tried []Candidate, by Caster) []Candidate {
	dst = slices.Grow(dst, len(c.Routes.Routes)-from)
	for i := from; i < len(c.Routes.Routes); i++ {
		dst = c.planRoute(dst, &c.Routes.Routes[i], tried, by)
		tried = nil
	}
	return dst
}

// planRoute appends the far ends of one route.
func (c *Course) planRoute(dst []Candidate, r *CarrierRoute, tried []Candidate, by Caster) []Candidate {
	begin, most := len(dst), max(c.MaxMembers, 1)-len(tried)
	if most <= 0 {
		return dst
	}
	cause := CauseNoTarget
	switch {
	case !r.Routable():
	case c.barred(r) && !c.allBarred():
		cause = CauseQuality
	case r.GatewayGroup != "":
		dst, cause = c.planGateway(dst, r, most, tried, by)
	default:
		dst, cause = c.planHops(dst, r, most, tried)
	}
	if len(dst) == begin && len(tried) == 0 {
		dst = append(dst, Candidate{Member: &nowhere, Cause: cause})
	}
	for i := begin; i < len(dst); i++ {
		dst[i].Route = r
	}
	return dst
}

// barred reports whether the calls of a route's carrier do so badly that it gets none (D10).
func (c *Course) barred(r *CarrierRoute) bool {
	return c.View.BarredCarriers != nil && !c.Unbounded && c.View.BarredCarriers[CarrierKey(c.PlanName, r.CarrierID)] != ""
}

// allBarred reports whether all routes are of such carriers: a bad one is better than none.
func (c *Course) allBarred() bool {
	return !slices.ContainsFunc(c.Routes.Routes, func(r CarrierRoute) bool { return !c.barred(&r) })
}

// planGateway appends far ends of a route's group, and where nobody of it can be dialled
// those of its next hop (S-071).
func (c *Course) planGateway(dst []Candidate, r *CarrierRoute, most int, tried []Candidate, by Caster) ([]Candidate, string) {
	begin, cause := len(dst), CauseUnknownGroup
	if g := c.Table.Provider(r.GatewayGroup); g != nil {
		cause = CauseNoMember
		d := by.Draw(g)
		d.Unbounded = d.Unbounded || c.Unbounded
		dst = c.planGroup(dst, g, d)
		if c.Secure {
			keepSecure(dst[begin:])
		}
		dst, cause = chosen(dst, begin, most, tried, cause)
		by.Planned(g, d, dst[begin:], false)
	}
	if len(dst) > begin && dst[begin].Dialable || r.NextHop == "" || len(tried) > 0 {
		return dst, cause
	}
	at := len(dst)
	if dst, _ = c.planHops(dst, r, most, tried); len(dst) > at && dst[at].Dialable {
		return slices.Delete(dst, begin, at), ""
	}
	return slices.Delete(dst, at, len(dst)), cause
}

// chosen leaves of the try-order of a group the first ones that can be dialled; when there
// is none, the first that cannot, unless others have been tried.
func chosen(dst []Candidate, begin, most int, tried []Candidate, cause string) ([]Candidate, string) {
	part, kept := dst[begin:], 0
	for i := range part {
		if part[i].Dialable && kept < most && !among(tried, &part[i]) {
			part[kept] = part[i]
			kept++
		}
	}
	if kept == 0 && len(part) > 0 && len(tried) == 0 {
		kept, cause = 1, part[0].Cause
	}
	return dst[:begin+kept], cause
}

// among tells whether a far end is one of those in a list, by its key: it may be of another
// revision.
func among(list []Candidate, cand *Candidate) bool {
	return slices.ContainsFunc(list, func(o Candidate) bool { return o.Member.Key == cand.Member.Key && o.Addr == cand.Addr })
}

// planHops appends the next hops of a route.
func (c *Course) planHops(dst []Candidate, r *CarrierRoute, most int, tried []Candidate) ([]Candidate, string) {
	begin := len(dst)
	for i := range r.Hops {
		cand := Candidate{Member: hopMember(&r.Hops[i]), Addr: r.Hops[i].Addr, Dialable: true}
		if len(dst)-begin < most && !among(tried, &cand) {
			dst = append(dst, cand)
		}
	}
	if c.Secure {
		keepSecure(dst[begin:])
	}
	return dst, CauseUnresolved
}

// hopMember is the far end that a next hop is. It is a member of no group of the table.
func hopMember(h *Hop) *Member {
	m := &Member{Index: -1, Group: &hopGroup, Transport: h.Transport}
	if h.Name == "" {
		m.ID, m.Addr = h.Addr.String(), h.Addr
	} else {
		m.ID, m.FQDN, m.ServerName = h.Name, h.Name, h.Name
		if h.Addr.Port() != h.Transport.DefaultPort() {
			m.Port = h.Addr.Port()
		}
	}
	m.Key = m.ID // there is no group to put before it
	return m
}

// servesRoutes tells whether a site has members of a group of one of the routes. A next hop
// stands in no site, and whoever did not take a call there takes it from no other one.
func (c *Course) servesRoutes(site string) bool {
	for i := range c.Routes.Routes {
		if g := c.Table.Provider(c.Routes.Routes[i].GatewayGroup); g != nil && g.Serves(site) {
			return true
		}
	}
	return false
}
