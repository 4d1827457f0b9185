package sim

import "time"

// due is embedded in whatever waits for a moment: the moment and the place in
// the agenda. The zero value waits for nothing.
type due struct {
	at  time.Time
	pos int // index in the agenda plus one; 0 = not in it
}

// entry is a thing with a due moment.
type entry interface{ when() *due }

// agenda is a binary min-heap of entries by due moment. An entry knows its place,
// so moving or removing it costs O(log n) without a search.
type agenda[E entry] struct{ heap []E }

// next returns the earliest moment, or zero when nothing waits.
func (a *agenda[E]) next() time.Time {
	if len(a.heap) == 0 {
		return time.Time{}
	}
	return a.heap[0].when().at
}

// pop removes and returns the earliest entry that is due at now.
func (a *agenda[E]) pop(now time.Time) (e E, ok bool) {
	if len(a.heap) == 0 || a.heap[0].when().at.After(now) {
		return e, false
	}
	e = a.heap[0]
	a.remove(e)
	return e, true
}

// set moves e to the moment at; a zero moment takes it out.
func (a *agenda[E]) set(e E, at time.Time) {
	d := e.when()
	if at.IsZero() {
		a.remove(e)
		return
	}
	if d.pos == 0 {
		d.at = at
		a.heap = append(a.heap, e)
		d.pos = len(a.heap)
		a.up(len(a.heap) - 1)
		return
	}
	if at.Equal(d.at) {
		return
	}
	earlier := at.Before(d.at)
	d.at = at
	if earlier {
		a.up(d.pos - 1)
	} else {
		a.down(d.pos - 1)
	}
}

func (a *agenda[E]) remove(e E) {
	d := e.when()
	if d.pos == 0 {
		return
	}
	i, last := d.pos-1, len(a.heap)-1
	a.swap(i, last)
	var none E
	a.heap[last] = none
	a.heap = a.heap[:last]
	*d = due{}
	if i < last {
		a.down(i)
		a.up(i)
	}
}

func (a *agenda[E]) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if !a.less(i, p) {
			return
		}
		a.swap(i, p)
		i = p
	}
}

func (a *agenda[E]) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(a.heap) {
			return
		}
		if c+1 < len(a.heap) && a.less(c+1, c) {
			c++
		}
		if !a.less(c, i) {
			return
		}
		a.swap(i, c)
		i = c
	}
}

func (a *agenda[E]) less(i, j int) bool {
	return a.heap[i].when().at.Before(a.heap[j].when().at)
}

func (a *agenda[E]) swap(i, j int) {
	a.heap[i], a.heap[j] = a.heap[j], a.heap[i]
	a.heap[i].when().pos = i + 1
	a.heap[j].when().pos = j + 1
}
