package trunkgroup

import "slices"

// Planner plans calls one after the other in memory of its own: whoever keeps one
// plans groups of any size without allocation. The zero value is ready. It is not for
// concurrent use.
type Planner struct {
	order []slot // the far ends of the group
	inner []slot // those of groups that stand in it
	flat  []slot // both, each in its place
	spare []slot // for moving many
}

// Plan is the function Plan in the planner's memory.
func (p *Planner) Plan(dst []Candidate, g *Group, site string, v *View, d Draw) []Candidate {
	dst, p.order = p.plan(dst, p.order[:0], g, site, v, &d)
	return dst
}

// plan is Plan in a memory for the far ends of the group, which it returns.
func (p *Planner) plan(dst []Candidate, order []slot, g *Group, site string, v *View, d *Draw) ([]Candidate, []slot) {
	at := g.sites[site]
	if at == nil {
		return dst, order
	}
	p.inner = p.inner[:0]
	dst, order = p.gather(dst, order, g, site, v, d)
	if at.registers {
		byPreference(order)
	}
	o := ordering{p: p, g: g, v: v, d: d, tiers: at.tiers}
	o.distribute(order)
	all := order
	if len(p.inner) > 0 {
		all = p.flatten(order, site, v, d)
	}
	if d.Remembered != "" {
		toFront(all, d.Remembered)
	}
	return appendOrder(dst, all, g, v), order
}

// gather appends the members of a group in a site that get no call now to dst, and the
// far ends of the others to order.
func (p *Planner) gather(dst []Candidate, order []slot, g *Group, site string, v *View, d *Draw) ([]Candidate, []slot) {
	at, panicking := g.sites[site], v.Panic[site]
	limited := g.Method == CallLoad && !d.Unbounded
	for i, m := range at.ranked {
		switch {
		case m.Nested != nil:
			dst, order = p.gatherNested(dst, order, m, at.places[i], site, v, d)
		case m.Registration == nil && !limited && v.dialable(m, panicking) == "": // most are
			order = append(order, slot{member: m, standing: at.places[i]})
		default:
			dst, order = v.gather(dst, order, m, at.places[i], site, panicking, d)
		}
	}
	return dst, order
}

// gatherNested appends the place of a group: it takes calls when one of the group's
// members does.
func (p *Planner) gatherNested(dst []Candidate, order []slot, m *Member, where standing, site string, v *View, d *Draw) ([]Candidate, []slot) {
	begin, lost := len(p.inner), len(dst)
	at, panicking := m.Nested.sites[site], v.Panic[site]
	for i, in := range at.ranked {
		dst, p.inner = v.gather(dst, p.inner, in, at.places[i], site, panicking, d)
	}
	if m.Disabled {
		for _, s := range p.inner[begin:] {
			dst = append(dst, Candidate{Member: s.member, Binding: s.binding, Cause: Disabled.String()})
		}
		p.inner = p.inner[:begin]
	}
	for i := lost; i < len(dst); i++ {
		dst[i].Outer = m.Group
	}
	if len(p.inner) > begin {
		order = append(order, slot{member: m, standing: where, from: int32(begin), to: int32(len(p.inner))})
	}
	return dst, order
}

// gather appends one member, to dst when it gets no call now, else to order.
func (v *View) gather(dst []Candidate, order []slot, m *Member, where standing, site string, panicking bool, d *Draw) ([]Candidate, []slot) {
	switch cause := v.dialable(m, panicking); {
	case cause != "":
		dst = append(dst, Candidate{Member: m, Cause: cause})
	case m.Group.Method == CallLoad && !d.Unbounded && !v.hasRoom(m):
		dst = append(dst, Candidate{Member: m, Cause: CauseCapacity})
	case m.Registration != nil:
		begin := len(order)
		dst, order = v.registered(dst, order, m, site)
		for i := begin; i < len(order); i++ {
			order[i].standing = where
		}
	default:
		order = append(order, slot{member: m, standing: where})
	}
	return dst, order
}

// flatten orders the members of groups that stand in the group by their own method, and
// puts them where their group stands. The group that stands first takes a turn of its
// own; turns of the others would be taken from calls that begin with them.
func (p *Planner) flatten(order []slot, site string, v *View, d *Draw) []slot {
	p.flat = p.flat[:0]
	for i := range order {
		s := &order[i]
		if s.member.Nested == nil {
			p.flat = append(p.flat, *s)
			continue
		}
		in := p.inner[s.from:s.to]
		inner := s.member.Nested
		draw := *d
		switch {
		case i == 0 && d.Turns != nil:
			draw.Turn = d.Turns.Turn(inner)
		case i == 0:
			draw.Turn = d.Turn / uint64(len(order))
		default:
			draw.Turn = mix(d.Random)
		}
		if registers(in) {
			byPreference(in)
		}
		o := ordering{p: p, g: inner, v: v, d: &draw, tiers: inner.sites[site].tiers}
		o.distribute(in)
		p.flat = append(p.flat, in...)
	}
	return p.flat
}

func registers(order []slot) bool {
	for i := range order {
		if order[i].binding != nil {
			return true
		}
	}
	return false
}

// appendOrder appends far ends as candidates, a member by name with each of its
// addresses.
func appendOrder(dst []Candidate, order []slot, g *Group, v *View) []Candidate {
	dst = slices.Grow(dst, len(order))
	for i := range order {
		s := &order[i]
		var outer *Group
		if s.member.Group != g {
			outer = g
		}
		if b := s.binding; b != nil {
			dst = append(dst, Candidate{Member: s.member, Binding: b, Addr: b.Addr, Dialable: true, Outer: outer})
			continue
		}
		addrs := v.Addrs[s.member.Index]
		for j := range addrs {
			dst = append(dst, Candidate{Member: s.member, Addr: addrs[j], Dialable: true, Outer: outer})
		}
	}
	return dst
}
