package drain

import (
	"errors"
	"time"
)

// Phase is where a drain stands.
type Phase uint8

// The phases (DEC-19).
const (
	// Serving: the node takes calls and is not draining. Left by Begin.
	Serving Phase = iota
	// Announcing, phase 1: OPTIONS get 503 and the other nodes know; INVITEs are
	// taken. Left when none came for Config.Quiet, or after Config.Announce.
	Announcing
	// Passing, phase 2: new INVITEs go to a sibling of the site, and are taken
	// when there is none. Left when nothing is left, or at Config.Timeout. In the
	// end of it those that come over TCP and TLS get 503 already: see Status.Refuse.
	Passing
	// Ending, phase 3: new INVITEs get 503, what is left gets a BYE or 503. The
	// process ends as soon as the far ends have answered. It is not left.
	Ending
)

// String returns the phase as operators read it.
func (p Phase) String() string {
	switch p {
	case Announcing:
		return "announcing"
	case Passing:
		return "passing"
	case Ending:
		return "ending"
	}
	return "serving"
}

// Config says how patient a drain is. Zero values are no patience at all.
type Config struct {
	// Announce is the longest time of phase 1: two intervals of the slowest
	// probe of a far end.
	Announce time.Duration
	// Quiet is how long no new INVITE must have come for phase 1 to end early.
	Quiet time.Duration
	// Timeout is the longest time from the order to phase 3.
	Timeout time.Duration
}

// Order is who wants the drain and why.
type Order struct {
	// By and Reason are shown to operators.
	By, Reason string
	// Stay keeps the node in phase 2: it ends by a further order only.
	Stay bool
	// Final orders come from a signal: the process has to end and the drain
	// cannot be undone.
	Final bool
}

// Facts are what the node sees of itself.
type Facts struct {
	// Calls that are on the node.
	Calls int
	// Passed INVITEs that a sibling has and that are not yet answered: their
	// responses come through this node.
	Passed int
	// Streams are those of them that came over TCP or TLS: nobody else has the
	// connection that their answers go through.
	Streams int
	// LastInvite is when the last call began here; zero for never.
	LastInvite time.Time
}

// Status is what a drain shows.
type Status struct {
	Phase Phase
	// Since is when the phase began, Begun when the drain did; zero while Serving.
	Since, Begun time.Time
	// Until is when phase 3 comes at the latest; zero while Serving, and for a
	// drain that stays.
	Until time.Time
	Order Order
	// Refuse: INVITEs over TCP and TLS are not passed any more but get 503, so
	// that the end finds none of them unanswered.
	Refuse bool
	// Why says what the phase waits for.
	Why string
}

// ErrFinal is the error of Undo once the process has to end.
var ErrFinal = errors.New("the process was told to end: start it again instead")

// ErrServing is the error of Undo at a node that does not drain.
var ErrServing = errors.New("the node does not drain")

// Machine is one node's drain. The zero value is of no use; see New.
type Machine struct {
	cfg   Config
	st    Status
	facts Facts
	idle  time.Time // since when phase 2 sees no call of its own
}

// New returns the drain of a node that serves.
func New(cfg Config) *Machine { return &Machine{cfg: cfg} }

// Begin takes an order to drain. While the node drains, a final order makes one
// that stays go on, with its whole Timeout before it; nothing else changes.
func (m *Machine) Begin(now time.Time, o Order) {
	switch {
	case m.st.Phase == Serving:
		m.st = Status{Begun: now, Order: o}
		if !o.Stay {
			m.st.Until = now.Add(m.cfg.Timeout)
		}
		m.enter(now, Announcing)
	case m.st.Phase < Ending && (o.Final || !o.Stay):
		if m.st.Order.Stay {
			m.st.Until = now.Add(m.cfg.Timeout)
		}
		m.st.Order.Stay = false
		if o.Final && !m.st.Order.Final {
			m.st.Order = Order{By: o.By, Reason: o.Reason, Final: true}
		}
	}
	m.step(now)
}

// Undo puts the node back into service. Errors: ErrFinal, ErrServing.
func (m *Machine) Undo(time.Time) error {
	switch {
	case m.st.Phase == Serving:
		return ErrServing
	case m.st.Phase == Ending || m.st.Order.Final:
		return ErrFinal
	}
	m.st, m.idle = Status{}, time.Time{}
	return nil
}

// Hurry ends the drain at once, whatever is left, and begins it if need be.
func (m *Machine) Hurry(now time.Time, o Order) {
	if m.st.Phase == Serving {
		m.st = Status{Begun: now, Order: o}
	}
	m.st.Order.Stay, m.st.Order.Final, m.st.Until = false, true, now
	if m.st.Phase < Ending {
		m.enter(now, Ending)
	}
}

// Observe takes what the node sees now, and carries out what is due.
func (m *Machine) Observe(now time.Time, f Facts) {
	m.facts = f
	m.step(now)
}

// Status returns what the drain shows.
func (m *Machine) Status() Status {
	st := m.st
	switch st.Phase {
	case Announcing:
		st.Why = "calls are taken until far ends have noticed"
	case Passing:
		st.Why = "waits for calls to end"
		if m.facts.Calls == 0 {
			st.Why = "waits for passed calls to be answered"
		}
		if st.Refuse {
			st.Why = "waits for passed calls over TCP and TLS to be answered; new ones get 503"
		}
		if st.Order.Stay {
			st.Why = "stays until it is undone or told to end"
		}
	case Ending:
		st.Why = "what is left is ended"
	}
	return st
}

// Deadline returns when Observe is due without a change of facts; zero for never.
func (m *Machine) Deadline() time.Time {
	switch m.st.Phase {
	case Announcing:
		return earliest(m.st.Until, earliest(m.quietAt(), m.st.Since.Add(m.cfg.Announce)))
	case Passing:
		if m.st.Order.Stay || m.idle.IsZero() || m.st.Refuse {
			return m.st.Until
		}
		return earliest(m.st.Until, m.idle.Add(m.cfg.Quiet))
	}
	return time.Time{}
}

// quietAt is when no INVITE has come for long enough.
func (m *Machine) quietAt() time.Time {
	if m.facts.LastInvite.IsZero() {
		return m.st.Since
	}
	return m.facts.LastInvite.Add(m.cfg.Quiet)
}

func (m *Machine) step(now time.Time) {
	if m.st.Phase == Serving || m.st.Phase == Ending {
		return
	}
	if !m.st.Order.Stay && !now.Before(m.st.Until) {
		m.enter(now, Ending)
		return
	}
	if m.st.Phase == Announcing {
		if now.Before(m.quietAt()) && now.Before(m.st.Since.Add(m.cfg.Announce)) {
			return
		}
		m.enter(now, Passing)
	}
	if m.facts.Calls > 0 || m.st.Order.Stay {
		m.idle, m.st.Refuse = time.Time{}, false
		return
	}
	if m.idle.IsZero() {
		m.idle = now
	}
	// A stream of new calls always has some that are passed and not answered yet.
	// Those over UDP are waited for, but not for ever: their sibling answers them
	// itself. Those over TCP and TLS end with this process, so that no more are passed.
	quiet := !now.Before(m.idle.Add(m.cfg.Quiet))
	switch {
	case m.facts.Passed == 0, quiet && m.facts.Streams == 0:
		m.enter(now, Ending)
	case quiet:
		m.st.Refuse = true
	}
}

func (m *Machine) enter(now time.Time, p Phase) {
	m.st.Phase, m.st.Since, m.st.Refuse, m.idle = p, now, false, time.Time{}
}

// earliest returns the earlier of two moments, of which zero is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
