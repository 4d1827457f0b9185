package fraud

import (
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Verdict is what a new call gets.
type Verdict struct {
	// Action is zero for a call within its bounds.
	Action trunkgroup.FraudAction
	// Rule and Bound name the bound that is passed, in words of the document.
	Rule, Bound string
	// Use is to be told of the call's answer and end; nil for a refused call.
	Use *Use
}

// Use is a call that counts.
type Use struct {
	account  *account
	rule     int
	under    time.Duration
	answered time.Time
}

// Watch counts the calls of all customers. Its methods may be called by many
// goroutines at once.
type Watch struct {
	accounts atomic.Pointer[map[string]*account]
	origins  atomic.Pointer[trunkgroup.NumberIndex]
}

// NewWatch returns a Watch that knows no customer.
func NewWatch() *Watch {
	w := &Watch{}
	w.accounts.Store(&map[string]*account{})
	return w
}

// SetTable takes the customers of a table. Counts of those that stay go on. It is
// called by one goroutine at a time.
func (w *Watch) SetTable(t *trunkgroup.Table) {
	old := *w.accounts.Load()
	next := make(map[string]*account)
	for _, c := range t.Customers() {
		if c.Fraud != nil {
			next[c.Name] = newAccount(c.Fraud, old[c.Name])
		}
	}
	w.accounts.Store(&next)
}

// Screen judges a new call and counts it when it may go on. proven says that the
// caller has shown a digest, which is what FraudChallenge asks for.
func (w *Watch) Screen(now time.Time, f *trunkgroup.Fraud, e164 []byte, proven bool) Verdict {
	if w == nil || f == nil {
		return Verdict{}
	}
	a := (*w.accounts.Load())[f.Customer]
	if a == nil || len(a.rules) != len(f.Rules) {
		return Verdict{} // the table is being swapped
	}
	rule := f.RuleOf(e164)
	v := a.judge(now, f, rule, proven, a.trip)
	if v.Action == trunkgroup.FraudBlock || v.Action == trunkgroup.FraudChallenge {
		return v
	}
	a.rules[0].called(now)
	if rule > 0 {
		a.rules[rule].called(now)
	}
	a.dirty.Store(true)
	v.Use = &Use{account: a, rule: rule, under: f.Short.Under}
	return v
}

// Ask says what Screen would say of a call that nobody makes. It counts nothing.
func (w *Watch) Ask(now time.Time, f *trunkgroup.Fraud, e164 []byte, proven bool) Verdict {
	a := (*w.accounts.Load())[f.Customer]
	if a == nil || len(a.rules) != len(f.Rules) {
		return Verdict{} // the table is being swapped
	}
	return a.judge(now, f, f.RuleOf(e164), proven, func(time.Time, *trunkgroup.FraudRule, string) {})
}

// judge asks the bounds of the call's destination and those of all. Every rule that is
// passed is given to trip, and the strictest action decides: an alarm for one destination must not
// let a call by that all calls together are blocked for.
func (a *account) judge(now time.Time, f *trunkgroup.Fraud, rule int, proven bool,
	trip func(time.Time, *trunkgroup.FraudRule, string),
) (v Verdict) {
	percent, others := uint64(f.Percent(now)), a.others.Load()
	note := func(r *trunkgroup.FraudRule, bound string) {
		if bound == "" {
			return
		}
		trip(now, r, bound)
		if strictness(r.Action, proven) > strictness(v.Action, proven) {
			v = Verdict{Action: r.Action, Rule: r.Name, Bound: bound}
		}
	}
	if rule > 0 {
		note(&f.Rules[rule], a.beyond(now, &f.Rules[rule], rule, percent, others))
	}
	all := &f.Rules[0]
	note(all, a.beyond(now, all, 0, percent, others))
	if f.Short.Calls > 0 && a.short.sum(now)+others.short >= scaled(f.Short.Calls, percent) {
		note(all, "short_calls")
	}
	return v
}

// strictness orders actions by whom they keep out. A challenge keeps nobody out who has
// shown a digest.
func strictness(a trunkgroup.FraudAction, proven bool) int {
	switch {
	case a == trunkgroup.FraudBlock:
		return 3
	case a == trunkgroup.FraudChallenge && !proven:
		return 2
	case a == trunkgroup.FraudAlarm:
		return 1
	}
	return 0
}

// beyond names the bound of a rule that one more call passes.
func (a *account) beyond(now time.Time, r *trunkgroup.FraudRule, i int, percent uint64, others *heard) string {
	if r.Closed {
		return "closed"
	}
	if r.Calls == (trunkgroup.FraudWindows{}) && r.Minutes == (trunkgroup.FraudWindows{}) {
		return ""
	}
	own := a.rules[i].sums(now)
	other := others.rules[i]
	switch {
	case passed(own.hourCalls+other.hourCalls, r.Calls.Hour, percent):
		return "calls.hour"
	case passed(own.dayCalls+other.dayCalls, r.Calls.Day, percent):
		return "calls.day"
	case passed((own.hourSeconds+other.hourSeconds)/60, r.Minutes.Hour, percent):
		return "minutes.hour"
	case passed((own.daySeconds+other.daySeconds)/60, r.Minutes.Day, percent):
		return "minutes.day"
	}
	return ""
}

func passed(n uint64, bound int, percent uint64) bool {
	return bound > 0 && n >= scaled(bound, percent)
}

// scaled is a bound at night; one that is there never becomes none.
func scaled(bound int, percent uint64) uint64 { return (uint64(bound)*percent + 99) / 100 }

// Answered tells that the call is up.
func (u *Use) Answered(now time.Time) {
	if u == nil || !u.answered.IsZero() {
		return
	}
	u.answered = now
	u.each(func(m *meter) {
		m.answers.Add(now.Unix())
		m.up.Add(1)
	})
}

// Ended tells that the call is over.
func (u *Use) Ended(now time.Time) {
	if u == nil || u.answered.IsZero() {
		return
	}
	began, lasted := u.answered.Unix(), now.Sub(u.answered)
	u.each(func(m *meter) {
		m.up.Add(-1)
		m.answers.Add(-began)
		m.talked(now, lasted)
	})
	u.answered = time.Time{}
	if lasted < u.under {
		u.account.short.add(now, 1)
	}
	u.account.dirty.Store(true)
}

func (u *Use) each(fn func(*meter)) {
	fn(u.account.rules[0])
	if u.rule > 0 {
		fn(u.account.rules[u.rule])
	}
}

// SetOrigins replaces the node's own do-not-originate list; nil is none.
func (w *Watch) SetOrigins(list *trunkgroup.NumberIndex) { w.origins.Store(list) }

// ListsOrigins reports whether the node has a list of its own.
func (w *Watch) ListsOrigins() bool { return w != nil && w.origins.Load() != nil }

// MayOriginate reports whether a call may show this caller, an E.164 number, as
// far as the node's own list goes.
func (w *Watch) MayOriginate(e164 []byte) bool {
	if !w.ListsOrigins() {
		return true
	}
	_, _, listed := w.origins.Load().Lookup(e164)
	return !listed
}
