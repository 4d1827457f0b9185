package tally

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Config bounds a Board.
type Config struct {
	// Keys is how many things of one scope are counted apart; 0 means 2,000. What comes
	// beyond is counted under "other".
	Keys int
}

const (
	defaultKeys = 2000
	// other is the name of what found no place of its own.
	other = "other"
)

// Board counts. It is not safe for concurrent use.
type Board struct {
	limit int
	seats map[Key]*seat
	count map[Scope]int
}

// seat is what is known of one key.
type seat struct {
	rings  [windows]ring
	others map[string][windows]Sum // told by other processes
	told   []byte                  // what the others know of it; nil for nothing
}

// New returns an empty board.
func New(c Config) *Board {
	return &Board{limit: cmp.Or(max(c.Keys, 0), defaultKeys), seats: make(map[Key]*seat), count: make(map[Scope]int)}
}

// Attempt is one attempt that ended.
type Attempt struct {
	Carrier, Group, Site string // empty is not counted
	Called               string // E.164
	Answered, Delivered  bool
	Rang                 bool
	Wait                 time.Duration // until it rang
}

// Attempt counts an attempt at a time.
func (b *Board) Attempt(now time.Time, a *Attempt) {
	s := Sum{Attempts: 1}
	if a.Answered {
		s.Answered, s.Delivered = 1, 1
	}
	if a.Delivered {
		s.Delivered = 1
	}
	if a.Rang {
		s.Rang, s.Waited = 1, uint64(max(a.Wait, 0)/time.Millisecond)
	}
	b.add(now, a, s)
}

// Ended counts the end of an answered call that lasted so long.
func (b *Board) Ended(now time.Time, a *Attempt, lasted time.Duration) {
	b.add(now, a, Sum{Ended: 1, Seconds: uint64(max(lasted, 0) / time.Second)})
}

func (b *Board) add(now time.Time, a *Attempt, s Sum) {
	for _, k := range [...]Key{{Carrier, a.Carrier}, {Group, a.Group}, {Site, a.Site}, {Destination, destination(a.Called)}} {
		if k.Name = clean(k.Name); k.Name == "" {
			continue
		}
		seat := b.seat(k)
		for w := range windows {
			seat.rings[w].add(now, w, s)
		}
	}
}

func destination(called string) string {
	if called == "" {
		return ""
	}
	return DestinationOf(called)
}

// seat returns the seat of a key, a common one when there are too many.
func (b *Board) seat(k Key) *seat {
	if s := b.seats[k]; s != nil {
		return s
	}
	if b.count[k.Scope] >= b.limit {
		k.Name = other
		if s := b.seats[k]; s != nil {
			return s
		}
	}
	b.count[k.Scope]++
	s := &seat{others: make(map[string][windows]Sum)}
	b.seats[k] = s
	return s
}

// clean makes a name of what others wrote: no longer than it may be, and text, for it
// becomes the label of a metric.
func clean(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxName)], "")
}

// Sum is what all nodes have counted of a key.
func (b *Board) Sum(now time.Time, k Key, w Window) Sum {
	s := b.seats[k]
	if s == nil {
		return Sum{}
	}
	return s.sum(now, w)
}

func (s *seat) sum(now time.Time, w Window) Sum {
	total := s.rings[w].sum(now, w)
	for _, o := range s.others {
		total.Add(o[w])
	}
	return total
}

// Row is a key with its sum.
type Row struct {
	Key
	Sum
}

// Rows lists what a window has something of, by scope and name.
func (b *Board) Rows(now time.Time, w Window) []Row {
	rows := make([]Row, 0, len(b.seats))
	for k, s := range b.seats {
		if sum := s.sum(now, w); sum != (Sum{}) {
			rows = append(rows, Row{k, sum})
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name)) })
	return rows
}
