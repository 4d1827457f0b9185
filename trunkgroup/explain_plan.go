package trunkgroup

import (
	"fmt"
	"strings"
)

// Draw implements Caster.
func (e *explainer) Draw(g *Group) Draw {
	d := e.q.Draw
	if e.q.Draws != nil {
		d = e.q.Draws(e.d, g)
	}
	if e.q.Sticks != nil && e.q.Affinity != "" {
		d.Affinity, d.Remembered = 0, ""
		if g.AffinityHeader != "" {
			d.Affinity, d.Remembered = e.q.Sticks(g, e.q.Affinity)
		}
	}
	return d
}

// Asks implements Caster: whether a node of the site is up is said beside it.
func (e *explainer) Asks(site string) bool { return e.q.Asks == nil || e.q.Asks(site) }

// Planned implements Caster: it tells the try-order of one group in this site.
func (e *explainer) Planned(g *Group, d Draw, order []Candidate, peerFirst bool) {
	if e.byRoutes {
		e.gateway(g, &d)
		return
	}
	if peerFirst {
		e.say("plan", "calls of this value of %s go to %q, which takes the calls of %s: that site is asked first",
			g.AffinityHeader, d.Remembered, e.v.SiteOf(e.t, g, d.Remembered))
	}
	dialable := 0
	for i := range order {
		if order[i].Dialable {
			dialable++
		}
		e.out.Order = append(e.out.Order, e.line(g, &d, &order[i]))
	}
	e.out.Groups = append(e.out.Groups, e.group(g, &d))
	e.say("plan", "%s in %s by %s: %d to dial, %d not", g.Name, e.q.Site, e.method(g, d), dialable, len(order)-dialable)
	e.onlyCall(g)
	if e.v.Panic[e.q.Site] {
		e.say("plan", "%s is in panic: probe verdicts are not believed", e.q.Site)
	}
}

// method names what orders the members of a group for this call.
func (e *explainer) method(g *Group, d Draw) string {
	switch {
	case d.Remembered != "":
		return fmt.Sprintf("%s, after %q, whom the value of %s was sent to", LeastSessions, d.Remembered, g.AffinityHeader)
	case d.Affinity != 0:
		return fmt.Sprintf("%s, since %s has a value", LeastSessions, g.AffinityHeader)
	case g.AffinityHeader != "":
		return fmt.Sprintf("%s, without %s", g.Method, g.AffinityHeader)
	}
	return g.Method.String()
}

// census counts members by state.
func (e *explainer) census(members []*Member) string {
	var counts [len(stateNames)]int
	for _, m := range members {
		counts[e.v.States[m.Index]]++
	}
	var parts []string
	for state, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, State(state)))
		}
	}
	return strings.Join(parts, ", ")
}
