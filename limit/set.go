package limit

import (
	"maps"
	"sync/atomic"
	"time"
)

// Verdict is the answer to a call that wants to use something.
type Verdict uint8

// The verdicts.
const (
	Granted Verdict = iota + 1
	Refused         // it is used up in the whole cluster
	Waiting         // this node's share is used up: more has been asked for
)

// String returns the word for logs and traces.
func (v Verdict) String() string {
	switch v {
	case Granted:
		return "granted"
	case Refused:
		return "refused"
	case Waiting:
		return "waiting"
	default:
		return "unknown"
	}
}

// Use is one thing that a call uses. Whoever takes it notes the meter in it, so
// that it is given back to the same one whatever table is in force by then.
type Use struct {
	Key   Key
	meter *Meter
	short bool
}

// Short reports whether it was this use that was not to be had, when not all of
// a call's were.
func (u *Use) Short() bool { return u.short }

// Taken reports whether the use is counted now.
func (u *Use) Taken() bool { return u.meter != nil }

// Set finds meters by key. All methods may be called by several goroutines;
// Replace by one at a time.
type Set struct {
	meters atomic.Pointer[map[Key]*Meter]
	under  atomic.Uint64
}

// NewSet returns an empty set.
func NewSet() *Set {
	s := new(Set)
	s.meters.Store(&map[Key]*Meter{})
	return s
}

// Meter returns the meter of a key, or nil.
func (s *Set) Meter(k Key) *Meter { return (*s.meters.Load())[k] }

// All returns all meters. The caller must not change the map.
func (s *Set) All() map[Key]*Meter { return *s.meters.Load() }

// Replace makes these the meters that count from now on. A call that was counted
// by a meter that goes still gives back to it.
func (s *Set) Replace(meters map[Key]*Meter) {
	own := maps.Clone(meters)
	s.meters.Store(&own)
}

// Admit takes all of the uses, or none. A key without a meter has no limit.
// Where other calls wait already, this one has to wait behind them. It takes no
// lock and does not allocate.
func (s *Set) Admit(now time.Time, uses []Use) Verdict {
	meters := *s.meters.Load()
	for i := range uses {
		m := meters[uses[i].Key]
		if m == nil {
			continue
		}
		if m.waiting.Load() == 0 && m.Take(now) {
			uses[i].meter = m
			continue
		}
		uses[i].short = true
		m.missed.Add(1)
		s.Release(uses[:i])
		if m.refuses(now, uses[i].Key.Kind, m.Waiting()) {
			return Refused
		}
		return Waiting
	}
	return Granted
}

// refuses reports whether there is no point in waiting: the cluster has nothing
// to give. What is used for one second only is worth a wait of less, as long as
// not too many wait before: a half of the share ends within half a second.
func (m *Meter) refuses(now time.Time, k Kind, ahead int) bool {
	if !m.Full(now) {
		return false
	}
	share, _ := m.Read()
	return k != Rate || ahead >= (share+1)/2
}

// Release gives back what of the uses is taken; a second time it does nothing.
func (s *Set) Release(uses []Use) {
	for i := range uses {
		if m := uses[i].meter; m != nil {
			uses[i].meter = nil
			if !m.Give() {
				s.under.Add(1)
			}
		}
	}
}

// Underruns is how often more was given back than had been taken: always zero.
func (s *Set) Underruns() uint64 { return s.under.Load() }
