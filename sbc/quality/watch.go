package quality

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Watch counts the calls to members of the groups that demand something of them. It
// is safe for concurrent use; make one with NewWatch. A nil Watch counts nothing.
type Watch struct {
	index atomic.Pointer[index]

	mu       sync.Mutex // of what follows, and of the seats' judgements
	seats    map[string]*seat
	carriers carriers
	early    map[string]map[string]told // heard of members that no table has, by member and process
	gone     map[string]bool            // members of earlier tables of which the others know something
}

// index finds the seats of the table in force.
type index struct {
	table *trunkgroup.Table
	seats []*seat // by Member.Index; nil for members of whose calls nobody demands anything
	byKey map[string]*seat
}

// seat is one member.
type seat struct {
	demand trunkgroup.Quality
	ring   *ring
	bar    atomic.Pointer[trunkgroup.Bar] // nil for none
	dirty  atomic.Bool                    // something was not told

	// What follows is under Watch.mu.
	from   time.Time       // what was counted before does not count
	others map[string]told // by process
	known  bool            // the others know something of it
}

// maxEarly bounds what is kept of members that no table has: others may have a newer
// one.
const maxEarly = 1024

// NewWatch returns a Watch that counts nothing until the first Use.
func NewWatch() *Watch {
	return &Watch{seats: make(map[string]*seat), early: make(map[string]map[string]told), gone: make(map[string]bool)}
}

// Use counts for the groups of a table from now on. A member of which the same is
// demanded keeps its counts and its bar.
func (w *Watch) Use(t *trunkgroup.Table) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.index.Load(); old != nil && old.table == t {
		return
	}
	next := &index{table: t, seats: make([]*seat, len(t.Members())), byKey: make(map[string]*seat)}
	for i, m := range t.Members() {
		if q := m.Group.Quality; q != nil && m.Direction != trunkgroup.DirectionIn {
			next.seats[i] = w.seat(m.Key, *q)
			next.byKey[m.Key] = next.seats[i]
		}
	}
	for key, s := range w.seats {
		if next.byKey[key] == nil {
			w.remember(key, s.others)
			if s.known {
				w.gone[key] = true
			}
		}
	}
	w.carriers.use(t, func(key string, s *seat) {
		w.remember(key, s.others)
		if s.known {
			w.gone[key] = true
		}
	})
	w.seats = next.byKey
	w.index.Store(next)
}

// seat returns the seat of a member, as it was where the same is demanded of it.
func (w *Watch) seat(key string, demand trunkgroup.Quality) *seat {
	was := w.seats[key]
	if was != nil && was.demand == demand {
		return was
	}
	s := w.fresh(key, demand)
	if was != nil {
		s.others, s.known = was.others, was.known
	}
	return s
}

// fresh makes a seat, with what others have told of it before.
func (w *Watch) fresh(key string, demand trunkgroup.Quality) *seat {
	s := &seat{demand: demand, ring: newRing(demand.Window), others: w.early[key], known: w.gone[key]}
	delete(w.early, key)
	delete(w.gone, key)
	if s.others == nil {
		s.others = make(map[string]told)
	}
	return s
}

// each yields all seats. The lock is held.
func (w *Watch) each(fn func(key string, s *seat)) {
	for key, s := range w.seats {
		fn(key, s)
	}
	for key, s := range w.carriers.seats {
		fn(key, s)
	}
}

// find returns the seat of a member, also of one of another table; nil for none.
func (w *Watch) find(m *trunkgroup.Member) *seat {
	if w == nil || m == nil {
		return nil
	}
	x := w.index.Load()
	switch {
	case x == nil:
		return nil
	case m.Index < len(x.seats) && x.table.Members()[m.Index] == m:
		return x.seats[m.Index]
	}
	return x.byKey[m.Key]
}

// Attempt counts an attempt at a member. It takes no lock and does not allocate.
func (w *Watch) Attempt(now time.Time, m *trunkgroup.Member, o Outcome, final bool) {
	s := w.find(m)
	if s == nil || !Counts(o, final) {
		return
	}
	s.attempt(now, o)
}

func (s *seat) attempt(now time.Time, o Outcome) {
	s.ring.add(now, attempts, 1)
	if o == Answered {
		s.ring.add(now, answered, 1)
	}
	if o == Answered || o == Callee {
		s.ring.add(now, delivered, 1)
	}
	s.touch()
}

// Ended counts the end of a call that a member answered. It takes no lock and does
// not allocate.
func (w *Watch) Ended(now time.Time, m *trunkgroup.Member, lasted time.Duration) {
	s := w.find(m)
	if s == nil {
		return
	}
	s.finished(now, lasted)
}

func (s *seat) finished(now time.Time, lasted time.Duration) {
	lasted = max(lasted, 0)
	s.ring.add(now, ended, 1)
	s.ring.add(now, seconds, uint64(lasted/time.Second))
	if lasted < s.demand.ShortCall {
		s.ring.add(now, short, 1)
	}
	s.touch()
}

// touch notes that there is something to tell.
func (s *seat) touch() {
	if !s.dirty.Load() {
		s.dirty.Store(true)
	}
}

// Bar returns why a member gets no calls now; false when nothing speaks against it.
// It takes no lock.
func (w *Watch) Bar(now time.Time, m *trunkgroup.Member) (trunkgroup.Bar, bool) {
	s := w.find(m)
	if s == nil {
		return trunkgroup.Bar{}, false
	}
	b := s.bar.Load()
	if b == nil || !now.Before(b.Until) {
		return trunkgroup.Bar{}, false
	}
	return *b, true
}
