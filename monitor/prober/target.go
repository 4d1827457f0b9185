package prober

import (
	"container/heap"
	"context"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// target is one state machine with its probe. It belongs to the loop.
type target struct {
	Target
	health    trunkgroup.Health
	notBefore time.Time          // of the first probe: spreads the start
	cancel    context.CancelFunc // of the probe in flight; nil = none
	out       time.Time
	silent    time.Time
	told      trunkgroup.State
	toldAt    time.Time
	paused    bool
	due       time.Time // key in the heap; zero = nothing to do
	index     int       // in the heap; -1 = not in it
	ready     bool      // due, waiting for a free slot
	life      int       // one more each time that all is discarded: results of an earlier life do not count
	gone      bool
}

// wake is when the loop must look at the target next; zero for never.
func (t *target) wake() time.Time {
	deadline := t.health.Deadline()
	if t.cancel != nil || t.ready || t.paused {
		return deadline
	}
	next := t.health.NextProbe()
	if !next.IsZero() && next.Before(t.notBefore) {
		next = t.notBefore
	}
	if next.IsZero() || !deadline.IsZero() && deadline.Before(next) {
		return deadline
	}
	return next
}

// note follows what the state machine does not keep: how long the target has been out, and how long it has been silent.
func (t *target) note(now time.Time, result *trunkgroup.ProbeResult) {
	switch {
	case t.health.State().Selectable():
		t.out = time.Time{}
	case t.out.IsZero():
		t.out = now
	}
	if result == nil {
		return
	}
	switch {
	case result.Kind == trunkgroup.Reply:
		t.silent = time.Time{}
	case t.silent.IsZero():
		t.silent = now
	}
}

// schedule orders targets by due time.
type schedule []*target

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].due.Before(s[j].due) }

func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

func (s *schedule) Push(x any) {
	t := x.(*target)
	t.index = len(*s)
	*s = append(*s, t)
}

func (s *schedule) Pop() any {
	old := *s
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*s = old[:len(old)-1]
	t.index = -1
	return t
}

// place puts a target where its next deadline belongs.
func (s *schedule) place(t *target) {
	t.due = t.wake()
	switch {
	case t.gone || t.due.IsZero():
		if t.index >= 0 {
			heap.Remove(s, t.index)
		}
	case t.index >= 0:
		heap.Fix(s, t.index)
	default:
		heap.Push(s, t)
	}
}
