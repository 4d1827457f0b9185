package deck

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Book answers calls whose plans leave it to rate decks. It is immutable: whoever has new
// decks, another document or new scores makes another one. Any number of goroutines may
// ask it.
type Book struct {
	decks map[string]Named
	desks map[string]*desk // by plan
}

// Sources are what a Book is made of.
type Sources struct {
	Plans  []trunkgroup.RoutePlanSpec // those of the document; the ones without a deck are passed over
	Decks  []Named
	Scores Scores // must not change any more
	// Before is the Book so far; what it keeps is taken over where nothing has changed. Nil
	// for the first.
	Before *Book
}

// NewBook puts decks beside plans.
func NewBook(s Sources) *Book {
	b := &Book{decks: make(map[string]Named, len(s.Decks)), desks: make(map[string]*desk)}
	for _, d := range s.Decks {
		b.decks[d.Name] = d
	}
	for i := range s.Plans {
		if p := &s.Plans[i]; p.Deck != nil {
			k := b.desk(*p.Deck, s.Scores)
			if s.Before != nil {
				if old := s.Before.desks[p.Name]; old != nil && old.same(k) {
					k = old
				}
			}
			b.desks[p.Name] = k
		}
	}
	return b
}

// desk puts a plan's decks together.
func (b *Book) desk(spec trunkgroup.DeckSpec, scores Scores) *desk {
	k := &desk{spec: spec, margin: spec.Margin(), buy: b.decks[spec.Name], scores: scores}
	if spec.Sell != "" {
		k.sell = b.decks[spec.Sell]
	}
	if why := k.fault(); why != "" {
		k.absent = &trunkgroup.RouteSet{Absent: true, Source: trunkgroup.RoutesDeck, Why: why}
		return k
	}
	k.kept = newKept(k.buy.Deck.Prefixes())
	return k
}

// fault says why the decks of a plan cannot be gone by; empty: they can.
func (k *desk) fault() string {
	switch {
	case k.buy.Deck == nil:
		return fmt.Sprintf("there is no rate deck %q", k.spec.Name)
	case k.buy.Deck.sells:
		return fmt.Sprintf("rate deck %q says what customers pay, not what carriers cost", k.spec.Name)
	case k.spec.Sell == "":
		return ""
	case k.sell.Deck == nil:
		return fmt.Sprintf("there is no rate deck %q", k.spec.Sell)
	case !k.sell.Deck.sells:
		return fmt.Sprintf("rate deck %q says what carriers cost, not what customers pay", k.spec.Sell)
	case k.sell.Deck.currency != k.buy.Deck.currency:
		return fmt.Sprintf("rate deck %q is in %s and %q in %s", k.spec.Name, currencyText(k.buy.Deck.currency), k.spec.Sell, currencyText(k.sell.Deck.currency))
	}
	return ""
}

// same reports whether a desk answers as another one does.
func (k *desk) same(other *desk) bool {
	return k.spec == other.spec && k.buy == other.buy && k.sell == other.sell && maps.Equal(k.scores, other.scores)
}

// Routes returns the routes of a call: the number is E.164 with its +. It takes no lock,
// and allocates only when nobody asked for such a number since the decks changed.
func (b *Book) Routes(plan, number string, now time.Time) *trunkgroup.RouteSet {
	if b == nil {
		return noBook
	}
	k := b.desks[plan]
	if k == nil {
		return noBook
	}
	if k.absent != nil {
		return k.absent
	}
	n, ok := parseNumber(number)
	if !ok {
		return noNumber
	}
	s, t := k.spotOf(n), at(now)
	if set := k.kept.get(s, t); set != nil {
		return set
	}
	j := k.judge(s, t)
	set := k.routeSet(&j)
	k.kept.put(s, t, j.until, set)
	return set
}

// Answers to what no deck is asked about. Nobody changes them.
var (
	noBook   = &trunkgroup.RouteSet{Absent: true, Source: trunkgroup.RoutesDeck, Why: "this node has no rate decks yet"}
	noNumber = &trunkgroup.RouteSet{Source: trunkgroup.RoutesDeck, Why: "rate decks are for E.164 numbers"}
)

// Fault is a plan that cannot be gone by.
type Fault struct{ Plan, Why string }

// Faults lists the plans whose decks are not there or do not go together, by name.
func (b *Book) Faults() (list []Fault) {
	if b == nil {
		return nil
	}
	for plan, k := range b.desks {
		if k.absent != nil {
			list = append(list, Fault{plan, k.absent.Why})
		}
	}
	slices.SortFunc(list, func(x, y Fault) int { return cmp.Compare(x.Plan, y.Plan) })
	return list
}

// Decks lists the decks by name.
func (b *Book) Decks() []Named {
	if b == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(b.decks), func(x, y Named) int { return cmp.Compare(x.Name, y.Name) })
}

// Deck returns the deck of a name.
func (b *Book) Deck(name string) (Named, bool) {
	if b == nil {
		return Named{}, false
	}
	d, ok := b.decks[name]
	return d, ok
}

// PlansOf lists the plans that name a deck, in order.
func (b *Book) PlansOf(deck string) (plans []string) {
	if b == nil {
		return nil
	}
	for plan, k := range b.desks {
		if k.spec.Name == deck || k.spec.Sell == deck {
			plans = append(plans, plan)
		}
	}
	slices.Sort(plans)
	return plans
}

// Bounds of what a desk keeps: places for routes. A place holds some kilooctets.
const (
	minPlaces = 64
	maxPlaces = 16384
)

// kept are routes by spot: each has one place, which the last one who needed it has.
type kept []atomic.Pointer[keptRoutes]

type keptRoutes struct {
	spot        spot
	from, until instant // for which times they hold; until 0: for ever
	set         *trunkgroup.RouteSet
}

func newKept(prefixes int) kept {
	n := minPlaces
	for n < prefixes && n < maxPlaces {
		n *= 2
	}
	return make(kept, n)
}

func (c kept) place(s spot) *atomic.Pointer[keptRoutes] {
	h := (uint64(uint32(s.buy))<<32 | uint64(uint32(s.sell))) * 0x9e3779b97f4a7c15
	return &c[(h>>40)&uint64(len(c)-1)]
}

func (c kept) get(s spot, now instant) *trunkgroup.RouteSet {
	if r := c.place(s).Load(); r != nil && r.spot == s && r.from <= now && (r.until == 0 || now < r.until) {
		return r.set
	}
	return nil
}

func (c kept) put(s spot, now, until instant, set *trunkgroup.RouteSet) {
	c.place(s).Store(&keptRoutes{s, now, until, set})
}
