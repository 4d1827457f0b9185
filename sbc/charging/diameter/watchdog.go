package diameter

import "time"

// Health is what is believed of a peer whose connection is up (RFC 3539 3.4).
type Health uint8

// The states.
const (
	// Okay: it answers. Left when it is silent for twice the watchdog's time.
	Okay Health = iota
	// Suspect: it is not sent new requests. Left by anything it says, or after that time again.
	Suspect
	// Reopened: the connection is new, after one that failed; left by three answered watchdogs.
	Reopened
	// Dead: the connection is to be closed.
	Dead
)

// reopenAfter is how many watchdogs a peer that was lost must answer (RFC 3539 3.4.1).
const reopenAfter = 3

// Watchdog tells whether a peer lives. Time is an argument.
type Watchdog struct {
	every   time.Duration
	health  Health
	pending bool
	answers int
	next    time.Time
}

// StartWatchdog begins with a connection that is up. again: the last one was lost for a fault.
func StartWatchdog(now time.Time, every time.Duration, again bool) Watchdog {
	w := Watchdog{every: every, next: now.Add(every)}
	if again {
		w.health, w.next = Reopened, now
	}
	return w
}

// Health is what is believed.
func (w *Watchdog) Health() Health { return w.health }

// Deadline is when Expire is due.
func (w *Watchdog) Deadline() time.Time { return w.next }

// Heard tells that something came; answered that it was a DWA.
func (w *Watchdog) Heard(now time.Time, answered bool) {
	if w.health == Dead {
		return
	}
	if answered {
		w.pending = false
	}
	switch w.health {
	case Reopened:
		if !answered {
			return
		}
		if w.answers++; w.answers >= reopenAfter {
			w.health = Okay
			w.next = now.Add(w.every)
		} else {
			w.next = now // the next one at once: each has its own round trip
		}
		return
	case Suspect:
		w.health, w.pending = Okay, false
	case Okay, Dead:
	}
	w.next = now.Add(w.every)
}

// Expire does what is due, and reports whether a DWR is to be sent.
func (w *Watchdog) Expire(now time.Time) (send bool) {
	if w.health == Dead || now.Before(w.next) {
		return false
	}
	w.next = now.Add(w.every)
	if !w.pending {
		w.pending = true
		return true
	}
	switch w.health {
	case Okay:
		w.health = Suspect
	case Suspect, Reopened:
		w.health = Dead
	case Dead:
	}
	return false
}
