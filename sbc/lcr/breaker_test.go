package lcr

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	breakAfter = 3
	breakFor   = 10 * time.Second
	patience   = 2 * time.Second
)

func TestBreakerOpensAfterFailuresInARow(t *testing.T) {
	var b Breaker
	at := time.Unix(1000, 0)
	allow := func(wantOK, wantTrial bool) {
		t.Helper()
		if ok, trial := b.Allow(at, patience); ok != wantOK || trial != wantTrial {
			t.Fatalf("%s: %v %v", b.state, ok, trial)
		}
	}
	for range 2 {
		allow(true, false)
		b.Failure(at, false, breakAfter, breakFor)
	}
	b.Success() // a good one begins the row anew
	first := at.Add(time.Second)
	for range 3 {
		at = at.Add(time.Second)
		allow(true, false)
		b.Failure(at, false, breakAfter, breakFor)
	}
	if state, since := b.State(); state != Open || since != first {
		t.Fatalf("%s since %s", state, since)
	}
	at = at.Add(breakFor - time.Millisecond)
	allow(false, false)
	b.Failure(at, false, breakAfter, breakFor) // asked before it opened: no news
	at = at.Add(time.Millisecond)
	allow(true, true)   // half open: one
	allow(false, false) // and no second one
	b.Failure(at, true, breakAfter, breakFor)
	at = at.Add(breakFor - 1)
	allow(false, false)
	at = at.Add(1)
	allow(true, true)
	b.Unsaid(at, true) // it ended in a way that says nothing: the next may try
	allow(true, true)
	at = at.Add(patience)
	allow(true, true) // the one before was lost
	b.Success()
	allow(true, false)
	if state, since := b.State(); state != Closed || !since.IsZero() {
		t.Errorf("%s since %s", state, since)
	}
}

// Whatever happens in whatever order: an open breaker lets nobody through before its
// time, and at most one question is a trial within its patience.
func TestBreakerProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Breaker
		at := time.Unix(0, 0)
		var trialUntil time.Time
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
			before, until := b.state, b.until
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				ok, trial := b.Allow(at, patience)
				if before == Open && at.Before(until) && ok || before == Closed && (!ok || trial) {
					t.Fatalf("%s: %v %v", before, ok, trial)
				}
				if trial {
					if before == HalfOpen && at.Before(trialUntil) {
						t.Fatal("two trials at a time")
					}
					trialUntil = at.Add(patience)
				}
			case 1:
				b.Failure(at, before == HalfOpen && rapid.Bool().Draw(t, "trial"), breakAfter, breakFor)
				if before == Closed && b.state == Closed && b.failures >= breakAfter {
					t.Fatal("too many failures, and closed")
				}
			case 2:
				b.Success()
				if b.state != Closed {
					t.Fatal("a success leaves it open")
				}
			case 3:
				b.Unsaid(at, rapid.Bool().Draw(t, "trial"))
			}
		}
	})
}
