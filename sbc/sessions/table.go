package sessions

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Table counts calls by far end. It is safe for concurrent use; make one with
// NewTable.
type Table struct {
	index   atomic.Pointer[index]
	changed atomic.Pointer[Seat] // whose own count is to be told: a list that many push to

	mu     sync.Mutex // of what follows, and of all copies on write
	places map[string]*place
	others map[string]map[string]int // by far end and process
}

// index finds the places of the table in force by Member.Index; nil for members
// of groups that do not count.
type index struct {
	table  *trunkgroup.Table
	places []*place
}

// place is a member: its seats are its own, or those of its bindings by ID.
type place struct {
	member   *Seat
	bindings atomic.Pointer[map[string]*Seat]
	kept     int // bindings after the last sweep
}

// Seat is one far end with its calls.
type Seat struct {
	farEnd string
	table  *Table
	own    atomic.Int64 // calls of this node; negative once swept
	others atomic.Int64 // calls of all other nodes
	queued atomic.Bool  // it is on the list of changes
	next   *Seat        // in that list
}

// swept marks a seat that is no longer in the table: whoever comes late sees it.
const swept = -1 << 40

// sweepFrom is the number of bindings of a member from which seats without calls
// are looked for.
const sweepFrom = 8

// NewTable returns a table that counts nothing until the first Publish.
func NewTable() *Table {
	return &Table{places: make(map[string]*place), others: make(map[string]map[string]int)}
}

// Publish counts for the groups of a table from now on. Calls that are up keep
// their seats.
func (t *Table) Publish(table *trunkgroup.Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.index.Load(); old != nil && old.table == table {
		return
	}
	next := &index{table: table, places: make([]*place, len(table.Members()))}
	for _, m := range table.Members() {
		if !m.Group.CountsSessions() {
			continue
		}
		p := t.places[m.Key]
		if p == nil {
			p = &place{member: t.seat(m.Key)}
			p.bindings.Store(&map[string]*Seat{})
			t.places[m.Key] = p
			t.recall(p, m.Key)
		}
		next.places[m.Index] = p
	}
	t.index.Store(next)
	maps.DeleteFunc(t.places, func(key string, p *place) bool {
		m := table.Member(key)
		return (m == nil || !m.Group.CountsSessions()) && !p.busy()
	})
}

// busy tells whether a call of this node is at the member.
func (p *place) busy() bool {
	if p.member.own.Load() > 0 {
		return true
	}
	for _, s := range *p.bindings.Load() {
		if s.own.Load() > 0 {
			return true
		}
	}
	return false
}

// recall gives a new place what other nodes have told of it before. The lock is
// held.
func (t *Table) recall(p *place, key string) {
	for farEnd := range t.others {
		if member, id, ok := split(farEnd); ok && member == key {
			t.add(p, id, t.seat(farEnd))
		}
	}
}

// seat makes a seat with what other nodes have told of it. The lock is held.
func (t *Table) seat(farEnd string) *Seat {
	s := &Seat{farEnd: farEnd, table: t}
	for _, n := range t.others[farEnd] {
		s.others.Add(int64(n))
	}
	return s
}

// at returns the place of a member, which may be one of an older table, or nil
// when its group does not count.
func (t *Table) at(m *trunkgroup.Member) *place {
	x := t.index.Load()
	if x == nil {
		return nil
	}
	if all := x.table.Members(); m.Index >= len(all) || all[m.Index] != m {
		if m = x.table.Member(m.Key); m == nil {
			return nil
		}
	}
	return x.places[m.Index]
}

// Sessions implements trunkgroup.SessionCounter.
func (t *Table) Sessions(m *trunkgroup.Member, b *trunkgroup.Binding) int {
	p := t.at(m)
	if p == nil {
		return 0
	}
	s := p.member
	if b != nil {
		if s = (*p.bindings.Load())[b.ID]; s == nil {
			return 0
		}
	}
	return int(max(s.own.Load(), 0) + max(s.others.Load(), 0))
}

// Own returns the calls of this node that are with a member, at all of its bindings;
// 0 when its group does not count.
func (t *Table) Own(m *trunkgroup.Member) int {
	p := t.at(m)
	if p == nil {
		return 0
	}
	n := max(p.member.own.Load(), 0)
	for _, s := range *p.bindings.Load() {
		n += max(s.own.Load(), 0)
	}
	return int(n)
}

// Enter counts one call at a far end until Leave of what it returns; that is nil
// where nobody goes by it.
func (t *Table) Enter(m *trunkgroup.Member, b *trunkgroup.Binding) *Seat {
	p := t.at(m)
	if p == nil {
		return nil
	}
	if b == nil {
		p.member.change(1)
		return p.member
	}
	if s := (*p.bindings.Load())[b.ID]; s != nil && s.change(1) {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := (*p.bindings.Load())[b.ID]
	if s == nil {
		s = t.seat(trunkgroup.FarEnd(m, b))
		t.add(p, b.ID, s)
	}
	s.change(1) // under the lock nobody sweeps
	return s
}

// Leave takes the call of Enter back, once.
func (s *Seat) Leave() { s.change(-1) }

// change reports false when the seat was swept and does not count any more.
func (s *Seat) change(n int64) bool {
	if s.own.Add(n) < 0 {
		return false
	}
	if !s.queued.Swap(true) {
		for {
			s.next = s.table.changed.Load()
			if s.table.changed.CompareAndSwap(s.next, s) {
				break
			}
		}
	}
	return true
}

// add enters a seat and sweeps those without calls when there are many. The lock
// is held.
func (t *Table) add(p *place, id string, s *Seat) {
	old := *p.bindings.Load()
	next := maps.Clone(old)
	if len(next) >= max(sweepFrom, 2*p.kept) {
		maps.DeleteFunc(next, func(_ string, s *Seat) bool {
			return s.others.Load() == 0 && !s.queued.Load() && s.own.CompareAndSwap(0, swept)
		})
		p.kept = len(next)
	}
	next[id] = s
	p.bindings.Store(&next)
}

// split takes the name of a far end apart; ok is false for one without binding.
func split(farEnd string) (member, id string, ok bool) {
	for i := range len(farEnd) {
		if farEnd[i] == 0 {
			return farEnd[:i], farEnd[i+1:], true
		}
	}
	return farEnd, "", false
}
