package verdict

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Held is a record as its reader holds it.
type Held struct {
	Record
	Received time.Time // by the reader's clock
}

// Since is when the target entered its state, by the reader's clock.
func (h *Held) Since() time.Time { return h.Received.Add(-h.Age) }

// Store holds the newest record of each observer for each target. It is not safe for concurrent use.
type Store struct {
	records map[Key][]Held // at most one per observer
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{records: make(map[Key][]Held)} }

// Put takes a record that arrives now. It is false when the store holds a newer one of the same observer.
func (s *Store) Put(now time.Time, r Record) bool {
	list := s.records[r.Key]
	for i := range list {
		if list[i].Node != r.Node {
			continue
		}
		if !r.newer(&list[i].Record) {
			return false
		}
		list[i] = Held{r, now}
		return true
	}
	s.records[r.Key] = append(list, Held{r, now})
	return true
}

// State is the state that an observer gave to a target; Unknown when it gave none.
func (s *Store) State(key Key, node string) trunkgroup.State {
	for i := range s.records[key] {
		if h := &s.records[key][i]; h.Node == node {
			return h.State
		}
	}
	return trunkgroup.Unknown
}

// Discard forgets what an observer said of a target.
func (s *Store) Discard(key Key, node string) {
	list := s.records[key]
	for i := range list {
		if list[i].Node == node {
			list[i] = list[len(list)-1]
			s.records[key] = list[:len(list)-1]
			return
		}
	}
}

// Prune forgets the records that arrived before a time, and all of targets for which keep is false.
func (s *Store) Prune(before time.Time, keep func(Key) bool) {
	for key, list := range s.records {
		kept := list[:0]
		for _, h := range list {
			if !h.Received.Before(before) {
				kept = append(kept, h)
			}
		}
		clear(list[len(kept):])
		if len(kept) == 0 || !keep(key) {
			delete(s.records, key)
			continue
		}
		s.records[key] = kept
	}
}

// Len counts the records.
func (s *Store) Len() (n int) {
	for _, list := range s.records {
		n += len(list)
	}
	return n
}

// young is how long a record counts, by the receiver's clock (DEC-13). A target that gets no calls is probed at its down interval, but the
// bound is the same for both: a reader need not know the state to know the age.
func young(m *trunkgroup.Monitoring) time.Duration {
	return 2*max(m.Interval, m.DownInterval) + m.Timeout
}

// Choose returns the record that a reader follows (DEC-13): the owner's while it is young, else the youngest other that is young. A record
// that nobody renews is no verdict: a dead observer's last word must not stand for ever. until is when the choice may change by time alone.
func (s *Store) Choose(now time.Time, key Key, owner string, m *trunkgroup.Monitoring) (chosen *Held, until time.Time) {
	limit := young(m)
	list := s.records[key]
	for i := range list {
		h := &list[i]
		if now.Sub(h.Received) >= limit {
			continue
		}
		if h.Node == owner {
			return h, h.Received.Add(limit)
		}
		if chosen == nil || h.Received.After(chosen.Received) || h.Received.Equal(chosen.Received) && h.Node < chosen.Node {
			chosen, until = h, h.Received.Add(limit)
		}
	}
	return chosen, until
}
