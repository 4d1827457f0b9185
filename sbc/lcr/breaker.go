package lcr

import "time"

// BreakerState says whether a server is asked.
type BreakerState uint8

// The states.
const (
	// Closed: it is asked. Failures in a row open.
	Closed BreakerState = iota
	// Open: nobody is asked, until a time.
	Open
	// HalfOpen: one question is under way, and its end decides.
	HalfOpen
)

// String names the state as metrics do.
func (s BreakerState) String() string {
	switch s {
	case Open:
		return "open"
	case HalfOpen:
		return "half_open"
	}
	return "closed"
}

// Breaker leaves a server alone that fails, so that calls do not wait for it one after
// the other. Its zero value is closed. It is not safe for use by more than one goroutine.
type Breaker struct {
	state    BreakerState
	failures int
	since    time.Time // of the first failure in the row
	until    time.Time // Open: when it is tried again; HalfOpen: when the trial is given up
}

// State returns the state and since when the server fails; zero while it does not.
func (b *Breaker) State() (state BreakerState, since time.Time) { return b.state, b.since }

// Until is when an open breaker lets the next question through.
func (b *Breaker) Until() time.Time { return b.until }

// Allow reports whether a question may be asked at this time. trial says that it is
// the one that decides: it must end with Success, Failure or Unsaid within patience,
// or another one is let through.
func (b *Breaker) Allow(now time.Time, patience time.Duration) (ok, trial bool) {
	switch {
	case b.state == Closed:
		return true, false
	case now.Before(b.until):
		return false, false
	}
	b.state, b.until = HalfOpen, now.Add(patience)
	return true, true
}

// Success tells that the server answered as it should.
func (b *Breaker) Success() { *b = Breaker{} }

// Unsaid tells that a question ended in a way that says nothing of the server.
func (b *Breaker) Unsaid(now time.Time, trial bool) {
	if trial && b.state == HalfOpen {
		b.state, b.until = Open, now
	}
}

// Failure tells that it did not answer as it should. After as many as after in a row it
// is left alone for so long. What was asked before is no news while it is left alone.
func (b *Breaker) Failure(now time.Time, trial bool, after int, hold time.Duration) {
	if b.failures == 0 {
		b.since = now
	}
	b.failures++
	switch {
	case b.state == Closed && b.failures >= after, b.state == HalfOpen && trial:
		b.state, b.until = Open, now.Add(hold)
	}
}
