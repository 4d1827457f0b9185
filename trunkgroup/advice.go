package trunkgroup

import (
	"fmt"
	"time"
)

// Advice returns what is no fault of a valid document and still hardly meant, as of
// a time: groups that nobody can reach while windows of maintenance meet, methods that
// few calls go by, and causes that lead nowhere.
func (d *Document) Advice(now time.Time) (list []Fault) {
	for i := range d.TrunkGroups {
		g := &d.TrunkGroups[i]
		list = append(list, g.distributionAdvice(index("trunk_groups", i))...)
		at := g.darkness(now)
		if at.IsZero() {
			continue
		}
		list = append(list, Fault{
			Path:    index("trunk_groups", i) + ".maintenance",
			Problem: fmt.Sprintf("no member of %s takes calls, in any site, %s", g.Name, at.UTC().Format("on 2006-01-02 at 15:04Z")),
			Remedy:  "give the members of each site a window of their own",
		})
	}
	for i := range d.RoutePlans {
		list = append(list, d.RoutePlans[i].causeAdvice(index("route_plans", i))...)
	}
	return list
}

const (
	// adviceAhead is how far windows that come again are looked at: they all come once.
	adviceAhead = 8 * 24 * time.Hour
	// adviceSteps bounds how many edges of windows are looked at in one go.
	adviceSteps = 200
)

// darkness returns the first moment at which no member of the group takes calls for
// its windows, zero for none: within what is ahead, or around a window that comes later
// and once.
func (g *GroupSpec) darkness(now time.Time) time.Time {
	if len(g.Maintenance) == 0 {
		return time.Time{}
	}
	windows := make([]Window, len(g.Maintenance))
	for i := range windows {
		windows[i], _ = parseWindow(&g.Maintenance[i])
	}
	if at := g.dark(windows, now, now.Add(adviceAhead)); !at.IsZero() {
		return at
	}
	for i := range windows {
		if w := &windows[i]; !w.weekly() && w.Start.After(now) {
			if at := g.dark(windows, w.Start, earliest(w.End, w.Start.Add(adviceAhead))); !at.IsZero() {
				return at
			}
		}
	}
	return time.Time{}
}

// dark looks at each edge from a time to another.
func (g *GroupSpec) dark(windows []Window, from, to time.Time) time.Time {
	for at, step := from, 0; at.Before(to) && step < adviceSteps; step++ {
		if g.darkAt(windows, at) {
			return at
		}
		var next time.Time
		for i := range windows {
			if edge := windows[i].Next(at); next.IsZero() || !edge.IsZero() && edge.Before(next) {
				next = edge
			}
		}
		if next.IsZero() {
			break
		}
		at = next
	}
	return time.Time{}
}

// darkAt tells whether windows cover all members that would take calls, of which
// there is one.
func (g *GroupSpec) darkAt(windows []Window, at time.Time) bool {
	within := make([]bool, len(windows))
	for i := range windows {
		within[i] = windows[i].In(at)
	}
	some := false
	for i := range g.Members {
		m := &g.Members[i]
		if m.Disabled || m.Direction == DirectionIn {
			continue
		}
		covered := false
		for j := range windows {
			covered = covered || within[j] && g.Maintenance[j].names(m.ID)
		}
		if !covered {
			return false
		}
		some = true
	}
	return some
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
