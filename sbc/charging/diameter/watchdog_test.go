package diameter

import (
	"testing"
	"time"
)

// TestS102_Watchdog: RFC 3539 3.4.1, a peer that is silent is asked, then suspect, then given up; one that
// comes back proves itself with three answers.
func TestS102_Watchdog(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const tw = 30 * time.Second
	w := StartWatchdog(start, tw, false)
	if w.Expire(start.Add(tw - 1)) {
		t.Error("asked too early")
	}
	w.Heard(start.Add(20*time.Second), false) // an answer to anything postpones it
	if w.Expire(start.Add(tw)) || !w.Expire(start.Add(50*time.Second)) {
		t.Error("not asked after a silence of 30 s")
	}
	w.Heard(start.Add(51*time.Second), true)
	now := start.Add(51 * time.Second)
	for i, want := range []struct {
		send   bool
		health Health
	}{{true, Okay}, {false, Suspect}, {false, Dead}} {
		now = now.Add(tw)
		if send := w.Expire(now); send != want.send || w.Health() != want.health {
			t.Errorf("silence %d: sent %v, health %d, want %+v", i+1, send, w.Health(), want)
		}
	}
	w = StartWatchdog(start, tw, false)
	w.Expire(start.Add(tw))
	w.Expire(start.Add(2 * tw))
	if w.Heard(start.Add(65*time.Second), false); w.Health() != Okay {
		t.Error("a suspect peer that speaks is still suspect")
	}
	w = StartWatchdog(start, tw, true)
	for i := range 3 {
		if w.Health() != Reopened || !w.Expire(start) {
			t.Fatalf("answer %d: health %d", i, w.Health())
		}
		w.Heard(start, true)
	}
	if w.Health() != Okay {
		t.Error("three answers are not enough")
	}
}
