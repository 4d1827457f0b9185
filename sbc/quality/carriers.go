package quality

import (
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Carriers of route plans that demand something are judged like members. Their ids come
// with the routes, so a seat is made for each when a call to it is counted, or
// another node tells of it. Their counts are not on the path of calls: they take the lock.

// maxCarriers bounds the carriers that are judged.
const maxCarriers = 2000

// carriers are the seats of the carriers of the table's plans.
type carriers struct {
	plans map[string]*trunkgroup.RoutePlan // those that demand something
	seats map[string]*seat                 // by trunkgroup.CarrierKey
}

// use judges by the plans of a table. A carrier of a plan that demands the same keeps its
// counts and its bar. It yields the seats that are no more.
func (c *carriers) use(t *trunkgroup.Table, lost func(key string, s *seat)) {
	c.plans = make(map[string]*trunkgroup.RoutePlan)
	for _, p := range t.RoutePlans() {
		if p.Quality != nil {
			c.plans[p.Name] = p
		}
	}
	for key, s := range c.seats {
		if p := c.planOf(key); p == nil || *p.Quality != s.demand {
			delete(c.seats, key)
			lost(key, s)
		}
	}
}

// planOf returns the plan of a carrier's key; nil when none demands anything of it.
func (c *carriers) planOf(key string) *trunkgroup.RoutePlan {
	name, ok := strings.CutPrefix(key, "@")
	if !ok {
		return nil
	}
	name, _, _ = strings.Cut(name, "/")
	return c.plans[name]
}

// carrier returns the seat of a carrier, a new one where there is room; nil for none.
// The lock is held.
func (w *Watch) carrier(key string) *seat {
	p := w.carriers.planOf(key)
	if p == nil {
		return nil
	}
	s := w.carriers.seats[key]
	if s == nil && len(w.carriers.seats) < maxCarriers {
		s = w.fresh(key, *p.Quality)
		if w.carriers.seats == nil {
			w.carriers.seats = make(map[string]*seat)
		}
		w.carriers.seats[key] = s
	}
	return s
}

// CarrierAttempt counts an attempt by a route of a plan.
func (w *Watch) CarrierAttempt(now time.Time, plan, carrier string, o Outcome, final bool) {
	if !Counts(o, final) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.carrier(trunkgroup.CarrierKey(plan, carrier)); s != nil {
		s.attempt(now, o)
	}
}

// CarrierEnded counts the end of a call that a carrier of a plan answered.
func (w *Watch) CarrierEnded(now time.Time, plan, carrier string, lasted time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.carrier(trunkgroup.CarrierKey(plan, carrier)); s != nil {
		s.finished(now, lasted)
	}
}

// CarrierReport is what is known of the calls by one carrier's routes in a plan.
type CarrierReport struct {
	Plan, Carrier string
	Tally         trunkgroup.CallTally // of all nodes within the window
	Bar           trunkgroup.Bar       // zero for none
}

// Carriers returns what was counted of carriers of plans that demand something.
func (w *Watch) Carriers(now time.Time) (list []CarrierReport) {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, s := range w.carriers.seats {
		plan, carrier, _ := strings.Cut(key[1:], "/")
		r := CarrierReport{Plan: plan, Carrier: carrier, Tally: s.sum(now, s.from)}
		if b := s.bar.Load(); b != nil && now.Before(b.Until) {
			r.Bar = *b
		}
		list = append(list, r)
	}
	return list
}

// BarredCarriers says of carriers that get no calls now why, by trunkgroup.CarrierKey; nil when
// there are none.
func (w *Watch) BarredCarriers(now time.Time) map[string]string {
	var barred map[string]string
	for _, r := range w.Carriers(now) {
		if r.Bar.Until.IsZero() {
			continue
		}
		if barred == nil {
			barred = make(map[string]string)
		}
		barred[trunkgroup.CarrierKey(r.Plan, r.Carrier)] = r.Bar.Reason
	}
	return barred
}
