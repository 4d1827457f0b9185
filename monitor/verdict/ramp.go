package verdict

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// firstShare is what a member that comes back gets at once, in percent of its share: none would never show whether it copes.
	firstShare = 10
	// rampStep is the least time between two steps of a slow start, so that it costs few boards.
	rampStep = time.Second
)

// Ramps follows which members came back and start slowly. It lives as long as the node: a member that is first seen has never been gone. It is
// not safe for concurrent use.
type Ramps struct {
	gone  map[string]bool      // members that probes or calls have taken out, by key
	since map[string]time.Time // when those came back that start slowly
}

// NewRamps returns the memory of a node that has seen nothing.
func NewRamps() *Ramps {
	return &Ramps{gone: make(map[string]bool), since: make(map[string]time.Time)}
}

// Follow takes a board that was built without ramps, or with older ones, and puts those of this moment into it. What an operator has taken out
// is neither gone nor back; in panic nobody is gone.
func (r *Ramps) Follow(now time.Time, b *Board) {
	for i := range b.Members {
		s := &b.Members[i]
		key := s.Member.Key
		switch {
		case s.Member.Group.SlowStart <= 0 || b.View.Panic[s.Member.Site]:
			delete(r.gone, key)
			delete(r.since, key)
		case s.State.Administrative():
		case !s.State.Selectable():
			r.gone[key] = true
			delete(r.since, key)
		case r.gone[key]:
			delete(r.gone, key)
			r.since[key] = now
		}
	}
	r.forget(now, b.Table)
	r.apply(now, b)
}

// forget drops members that the table has no more, and ramps that are over.
func (r *Ramps) forget(now time.Time, t *trunkgroup.Table) {
	for key := range r.gone {
		if t.Member(key) == nil {
			delete(r.gone, key)
		}
	}
	for key, since := range r.since {
		if m := t.Member(key); m == nil || now.Sub(since) >= m.Group.SlowStart {
			delete(r.since, key)
		}
	}
}

// apply writes the shares of this moment into a board, and when they change.
func (r *Ramps) apply(now time.Time, b *Board) {
	b.View.Ramps = nil
	for i := range b.Members {
		b.Members[i].Ramp = 0
	}
	for key, since := range r.since {
		m := b.Table.Member(key)
		if m == nil || now.Sub(since) >= m.Group.SlowStart {
			continue
		}
		if b.View.Ramps == nil {
			b.View.Ramps = make([]uint8, len(b.Members))
		}
		share := firstShare + uint8((100-firstShare)*max(0, now.Sub(since))/m.Group.SlowStart)
		b.View.Ramps[m.Index], b.Members[m.Index].Ramp = share, share
		b.Until = earlier(b.Until, now.Add(rampStep))
	}
}
