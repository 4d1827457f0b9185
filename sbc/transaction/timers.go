package transaction

import "time"

// Timers are the base values of RFC 3261 section 17 from which every timer follows. One value is
// shared by all transactions of a node and must not change.
type Timers struct {
	// T1 estimates the round trip; 0 is not valid.
	T1 time.Duration
	// T2 is the longest interval between repeats of a non-INVITE request and of a final response.
	T2 time.Duration
	// T4 is how long a message may stay in the network.
	T4 time.Duration
}

// DefaultTimers returns the values of RFC 3261: 500 ms, 4 s and 5 s.
func DefaultTimers() Timers {
	return Timers{T1: 500 * time.Millisecond, T2: 4 * time.Second, T4: 5 * time.Second}
}

// Life is 64*T1: timers B, F, H, J, L and M, and how long a 2xx waits for its ACK.
func (t *Timers) Life() time.Duration { return 64 * t.T1 }

// timerD is how long a client absorbs repeats of a failure: "at least 32 seconds for unreliable
// transports" (RFC 3261 section 17.1.1.2).
func (t *Timers) timerD() time.Duration { return max(32*time.Second, t.Life()) }

// Do says what the owner of a machine does now. It is a set of bits; zero means nothing.
type Do uint8

const (
	// Send puts the stored request or the stored last response on the wire.
	Send Do = 1 << iota
	// Pass gives the event to the transaction user.
	Pass
	// Ack sends the ACK for the failure that was received (RFC 3261 section 17.1.1.3).
	Ack
	// Timeout tells the transaction user that nothing came in time: timer B, F or H, or no ACK for a 2xx.
	Timeout
	// Done says that the machine has ended; it does nothing any more and may be forgotten.
	Done
)

// Has reports whether every bit of d2 is in d.
func (d Do) Has(d2 Do) bool { return d&d2 == d2 }

// String lists the bits, for tests and traces: "send|pass".
func (d Do) String() string {
	if d == 0 {
		return "nothing"
	}
	var b []byte
	for i, name := range [...]string{"send", "pass", "ack", "timeout", "done"} {
		if d&(1<<i) != 0 {
			if len(b) > 0 {
				b = append(b, '|')
			}
			b = append(b, name...)
		}
	}
	return string(b)
}

// State is the state of a client or server transaction.
type State uint8

const (
	// Idle is a machine that was not started.
	Idle State = iota
	// Calling is an INVITE client without any response; a response or timer B ends it.
	Calling
	// Trying is a non-INVITE transaction without any response yet.
	Trying
	// Proceeding has seen or sent a provisional response; a final response ends it. An INVITE server
	// begins here.
	Proceeding
	// Accepted has seen or sent a 2xx to an INVITE and keeps its identity for repeats (RFC 6026); timer
	// L or M ends it.
	Accepted
	// Completed has seen or sent another final response and absorbs or answers repeats; an ACK or timer
	// D, H, J or K ends it.
	Completed
	// Confirmed is an INVITE server whose failure was acknowledged; timer I ends it.
	Confirmed
	// Terminated has ended.
	Terminated
)

// String returns the name of the state in lower case.
func (s State) String() string {
	names := [...]string{"idle", "calling", "trying", "proceeding", "accepted", "completed", "confirmed", "terminated"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// alarm is an instant as an offset from a machine's start; off, which is also that of a machine that was
// not started, never comes.
type alarm time.Duration

const off alarm = 0

// clock keeps the start of a machine and its two alarms: the next repetition and the end of the state.
// Keeping offsets instead of instants halves the size of a machine.
type clock struct {
	start    time.Time
	repeat   alarm
	end      alarm
	interval time.Duration
}

func (c *clock) since(now time.Time) alarm { return alarm(now.Sub(c.start)) }

func (c *clock) after(now time.Time, d time.Duration) alarm {
	return max(off+1, c.since(now)+alarm(d))
}

// due reports whether an alarm has come.
func (c *clock) due(a alarm, now time.Time) bool { return a != off && c.since(now) >= a }

// next is the earlier of the two alarms as an instant, zero when none is set.
func (c *clock) next() time.Time {
	a := c.repeat
	if a == off || c.end != off && c.end < a {
		a = c.end
	}
	if a == off {
		return time.Time{}
	}
	return c.start.Add(time.Duration(a))
}

// repeatEvery arms the repetition with its first interval.
func (c *clock) repeatEvery(now time.Time, interval time.Duration) {
	c.interval = interval
	c.repeat = c.after(now, interval)
}

// repeated doubles the interval up to limit (0 = no limit) and arms the next repetition.
func (c *clock) repeated(now time.Time, limit time.Duration) {
	c.interval *= 2
	if limit > 0 && c.interval > limit {
		c.interval = limit
	}
	c.repeat = c.after(now, c.interval)
}
