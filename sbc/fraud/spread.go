package fraud

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// tripQuiet is for how long a bound must have been kept before passing it is news.
const tripQuiet = 10 * time.Minute

// tripped is which bounds are passed. Only calls that pass one take its lock.
type tripped struct {
	mu   sync.Mutex
	list map[string]*Trip
}

// Trip is a bound that calls have passed.
type Trip struct {
	Rule, Bound string
	Action      trunkgroup.FraudAction
	Since, Last time.Time
	Calls       uint64 // that met it on this node, since the process began
}

// trip notes that a call met a bound.
func (t *tripped) trip(now time.Time, r *trunkgroup.FraudRule, bound string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := r.Name + " " + bound
	e := t.list[key]
	if e == nil {
		e = &Trip{Rule: r.Name, Bound: bound}
		if t.list == nil {
			t.list = make(map[string]*Trip)
		}
		t.list[key] = e
	}
	if now.Sub(e.Last) > tripQuiet {
		e.Since = now
	}
	e.Last, e.Action = now, r.Action
	e.Calls++
}

func (t *tripped) trips() (list []Trip) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.list {
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b Trip) int { return strings.Compare(a.Rule+a.Bound, b.Rule+b.Bound) })
	return list
}

// Spread gives the shell this node's counts of each customer that changed since
// the last call, or of all that count something, to be told to the other nodes.
func (w *Watch) Spread(now time.Time, all bool, put func(customer string, counts []byte)) {
	for name, a := range *w.accounts.Load() {
		up := a.rules[0].up.Load() > 0 // minutes go on
		if a.dirty.Swap(false) || up || all && a.rules[0].dayCalls.sum(now) > 0 {
			put(name, a.append(nil, now))
		}
	}
}

// Collect replaces what the others have counted. each calls its argument for the
// counts of every other process; it reports how many of them could not be read.
func (w *Watch) Collect(now time.Time, each func(fn func(customer string, counts []byte))) (bad int) {
	accounts := *w.accounts.Load()
	sums := make(map[string]*heard, len(accounts))
	for name, a := range accounts {
		sums[name] = &heard{rules: make([]counts, len(a.rules))}
	}
	each(func(customer string, counts []byte) {
		if a := accounts[customer]; a != nil && a.read(counts, now, sums[customer]) != nil {
			bad++
		}
	})
	for name, a := range accounts {
		a.others.Store(sums[name])
	}
	return bad
}

// Usage is what one rule of a customer has counted over the cluster.
type Usage struct {
	Customer, Rule          string
	HourCalls, DayCalls     uint64
	HourMinutes, DayMinutes uint64
	Bounds                  trunkgroup.FraudRule
	Percent                 int
	ShortCalls              uint64 // of the rule for all
	MaxShort                int    // their bound
	Trips                   []Trip
}

// Usage lists all rules of the table's customers, for people.
func (w *Watch) Usage(now time.Time, t *trunkgroup.Table) (list []Usage) {
	accounts := *w.accounts.Load()
	for _, c := range t.Customers() {
		a := accounts[c.Name]
		if c.Fraud == nil || a == nil || len(a.rules) != len(c.Fraud.Rules) {
			continue
		}
		others, trips := a.others.Load(), a.trips()
		for i := range a.rules {
			own, other := a.rules[i].sums(now), others.rules[i]
			u := Usage{
				Customer: c.Name, Rule: a.names[i], Bounds: c.Fraud.Rules[i], Percent: c.Fraud.Percent(now),
				HourCalls: own.hourCalls + other.hourCalls, DayCalls: own.dayCalls + other.dayCalls,
				HourMinutes: (own.hourSeconds + other.hourSeconds) / 60, DayMinutes: (own.daySeconds + other.daySeconds) / 60,
			}
			if i == 0 {
				u.ShortCalls, u.MaxShort = a.short.sum(now)+others.short, c.Fraud.Short.Calls
			}
			for _, trip := range trips {
				if trip.Rule == u.Rule {
					u.Trips = append(u.Trips, trip)
				}
			}
			list = append(list, u)
		}
	}
	return list
}
