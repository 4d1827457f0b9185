package limit

import (
	"slices"
	"time"
)

// Waiter is a call that waits until all of its uses are to be had.
type Waiter struct {
	Shard    int    // where the call is
	Ref      uint64 // which of that shard's calls
	Uses     []Use
	Deadline time.Time
	blocked  *Meter
}

// Outcome is how a wait ended: with all uses taken, or with none.
type Outcome struct {
	Waiter
	OK bool
}

// Queue holds waiting calls in the order in which they came. It is not safe for
// use by several goroutines.
type Queue struct {
	set   *Set
	limit int
	list  []*Waiter
}

// NewQueue returns a queue for the meters of a set that holds at most limit
// calls.
func NewQueue(s *Set, limit int) *Queue { return &Queue{set: s, limit: limit} }

// Add takes a call that was told to wait. It reports false when too many wait:
// the call is then refused.
func (q *Queue) Add(w Waiter) bool {
	if len(q.list) >= q.limit {
		return false
	}
	meters := q.set.All()
	for i := range w.Uses { // which one it waits for, Step finds out
		if m := meters[w.Uses[i].Key]; m != nil {
			w.blocked = m
			if share, used := m.Read(); used >= share {
				break
			}
		}
	}
	if w.blocked != nil {
		w.blocked.waiting.Add(1)
	}
	q.list = append(q.list, &w)
	return true
}

// Len is how many calls wait.
func (q *Queue) Len() int { return len(q.list) }

// Deadline returns when the next wait ends; the zero time when none waits.
func (q *Queue) Deadline() time.Time {
	var next time.Time
	for _, w := range q.list {
		if next.IsZero() || w.Deadline.Before(next) {
			next = w.Deadline
		}
	}
	return next
}

// Step tries all waiting calls in their order and returns those whose wait ends
// now: because all of their uses are taken, because there is nothing to wait for,
// or because they have waited long enough.
func (q *Queue) Step(now time.Time) []Outcome {
	var done []Outcome
	var passed []*Meter // what the calls ahead still wait for, one entry for each
	q.list = slices.DeleteFunc(q.list, func(w *Waiter) bool {
		ok, over := q.try(now, w, &passed)
		if ok || over {
			done = append(done, Outcome{*w, ok})
		}
		return ok || over
	})
	return done
}

// try takes what a waiter wants. over means that it waits no longer.
func (q *Queue) try(now time.Time, w *Waiter, passed *[]*Meter) (ok, over bool) {
	meters := q.set.All()
	for i := range w.Uses {
		w.Uses[i].short = false
	}
	if w.blocked != nil {
		w.blocked.waiting.Add(-1)
		w.blocked = nil
	}
	for i := range w.Uses {
		m := meters[w.Uses[i].Key]
		if m == nil {
			continue
		}
		if !slices.Contains(*passed, m) && m.Take(now) {
			w.Uses[i].meter = m
			continue
		}
		q.set.Release(w.Uses[:i])
		w.Uses[i].short = true
		if !now.Before(w.Deadline) || m.refuses(now, w.Uses[i].Key.Kind, count(*passed, m)) {
			return false, true
		}
		*passed = append(*passed, m)
		w.blocked = m
		m.waiting.Add(1)
		return false, false
	}
	return true, false
}

func count(list []*Meter, m *Meter) (n int) {
	for _, other := range list {
		if other == m {
			n++
		}
	}
	return n
}
