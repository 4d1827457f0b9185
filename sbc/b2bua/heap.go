package b2bua

import "time"

// timed is anything that waits for a deadline.
type timed interface {
	// deadline returns when expire is due; the zero time means never.
	deadline() time.Time
	// expire carries out what is due.
	expire(now time.Time)
	// slot is the place in the heap, kept by the heap; -1 outside.
	slot() *int
}

// place is embedded in a timed thing to hold its heap slot, plus one, so that
// the zero value means "not in the heap".
type place struct{ at int }

func (p *place) slot() *int { return &p.at }

type entry struct {
	when int64 // nanoseconds since the wheel's epoch
	t    timed
}

// alarms is a binary heap of deadlines. A thing is in it at most once.
type alarms struct {
	h     []entry
	epoch time.Time
}

// set moves t to its present deadline.
func (a *alarms) set(t timed) {
	d := t.deadline()
	at := *t.slot() - 1
	if d.IsZero() {
		if at >= 0 {
			a.remove(at)
		}
		return
	}
	when := int64(d.Sub(a.epoch))
	if at < 0 {
		a.h = append(a.h, entry{when, t})
		*t.slot() = len(a.h)
		a.up(len(a.h) - 1)
		return
	}
	if a.h[at].when == when {
		return
	}
	a.h[at].when = when
	if !a.up(at) {
		a.down(at)
	}
}

// drop takes t out.
func (a *alarms) drop(t timed) {
	if at := *t.slot() - 1; at >= 0 {
		a.remove(at)
	}
}

// next returns the earliest deadline; zero when there is none.
func (a *alarms) next() time.Time {
	if len(a.h) == 0 {
		return time.Time{}
	}
	return a.epoch.Add(time.Duration(a.h[0].when))
}

// due takes out and returns one thing whose deadline has come.
func (a *alarms) due(now time.Time) timed {
	if len(a.h) == 0 || a.h[0].when > int64(now.Sub(a.epoch)) {
		return nil
	}
	t := a.h[0].t
	a.remove(0)
	return t
}

func (a *alarms) remove(i int) {
	last := len(a.h) - 1
	*a.h[i].t.slot() = 0
	if i != last {
		a.h[i] = a.h[last]
		*a.h[i].t.slot() = i + 1
	}
	a.h[last] = entry{}
	a.h = a.h[:last]
	if i != last && !a.up(i) {
		a.down(i)
	}
}

func (a *alarms) up(i int) bool {
	moved := false
	for i > 0 {
		p := (i - 1) / 2
		if a.h[p].when <= a.h[i].when {
			break
		}
		a.swap(i, p)
		i, moved = p, true
	}
	return moved
}

func (a *alarms) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(a.h) {
			return
		}
		if c+1 < len(a.h) && a.h[c+1].when < a.h[c].when {
			c++
		}
		if a.h[i].when <= a.h[c].when {
			return
		}
		a.swap(i, c)
		i = c
	}
}

func (a *alarms) swap(i, j int) {
	a.h[i], a.h[j] = a.h[j], a.h[i]
	*a.h[i].t.slot() = i + 1
	*a.h[j].t.slot() = j + 1
}
