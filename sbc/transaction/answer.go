package transaction

import "time"

// Answer repeats a 2xx to an INVITE from the core until its ACK arrives, on every transport: RFC 3261
// section 13.3.1.4, "the 2xx response is passed to the transport with an interval that starts at T1
// seconds and doubles for each retransmission until it reaches T2 seconds". The zero value waits for
// Start.
type Answer struct {
	clock
	timers  *Timers
	waiting bool
}

// Start says that the 2xx was just sent for the first time.
func (a *Answer) Start(now time.Time, t *Timers) {
	*a = Answer{clock: clock{start: now}, timers: t, waiting: true}
	a.repeatEvery(now, t.T1)
	a.end = a.after(now, t.Life())
}

// Ack says that the ACK has come; nothing is sent any more.
func (a *Answer) Ack() {
	a.waiting = false
	a.repeat, a.end = off, off
}

// Waiting reports whether the ACK is still awaited.
func (a *Answer) Waiting() bool { return a.waiting }

// Deadline is when Expire must be called next, zero for never.
func (a *Answer) Deadline() time.Time {
	if !a.waiting {
		return time.Time{}
	}
	return a.next()
}

// Expire says Send when the 2xx is due again, and Timeout|Done once, 64*T1 after Start: the dialog
// stands, but "the session SHOULD be terminated" with a BYE.
func (a *Answer) Expire(now time.Time) Do {
	switch {
	case !a.waiting:
		return 0
	case a.due(a.end, now):
		a.Ack()
		return Timeout | Done
	case a.due(a.repeat, now):
		a.repeated(now, a.timers.T2)
		return Send
	}
	return 0
}
