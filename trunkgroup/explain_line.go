package trunkgroup

import "time"

// line is one candidate by name, with what is known of it.
func (e *explainer) line(g *Group, d *Draw, c *Candidate) OrderLine {
	m := c.Member
	l := OrderLine{
		Group: m.Group.Name, Member: m.ID, Site: e.q.Site, Transport: m.Transport.String(),
		Dialable: c.Dialable, Cause: c.Cause, State: e.v.States[m.Index].String(),
		Priority: m.Priority, LastResort: m.LastResort, Weight: int(e.v.weight(m)), MaxCalls: m.Limits.Calls, MaxCPS: m.Limits.CPS,
	}
	if m.Group != g {
		l.Within = g.Name
	}
	if c.Binding != nil {
		l.Contact, l.Binding, l.Transport = c.Binding.Contact, c.Binding.ID, c.Binding.Transport.String()
	}
	switch {
	case c.Dialable:
		e.places++
		l.Place, l.Addr = e.places, c.Addr.String()
	case m.Addr.IsValid():
		l.Addr = m.Addr.String()
	}
	e.measure(&l, d, c)
	return l
}

// measure adds what distributions compare.
func (e *explainer) measure(l *OrderLine, d *Draw, c *Candidate) {
	m := c.Member
	if r := e.v.ramp(m); r < full {
		l.Ramp = int(r)
	}
	if key, ok := m.Group.KeyHash(d.Traits); ok && m.Group.Method.Hashes() && m.Group.Method != HashMod {
		l.Score = e.v.Score(m, c.Binding, key)
	}
	if e.v.Latency != nil {
		l.Latency = float64(e.v.Latency[m.Index].Round(10*time.Microsecond)) / float64(time.Millisecond)
	}
	if !m.Group.CountsSessions() {
		return
	}
	n := e.v.sessions(slot{member: m, binding: c.Binding}, m.Group.Sessions)
	l.Sessions = &n
	if e.v.Sessions != nil {
		own := e.v.Sessions.Sessions(m, c.Binding)
		l.Calls = &own
	}
}
