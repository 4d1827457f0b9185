package sim

import "time"

// Timers are the SIP timers of one side (RFC 3261 17.1.1.2). Zero values mean the
// RFC's: T1 500 ms, T2 4 s.
type Timers struct {
	T1 time.Duration `json:"t1_ns,omitempty"` // first retransmission interval
	T2 time.Duration `json:"t2_ns,omitempty"` // cap of the interval for finals and non-INVITE requests
}

func (t Timers) withDefaults() Timers {
	if t.T1 <= 0 {
		t.T1 = 500 * time.Millisecond
	}
	if t.T2 <= 0 {
		t.T2 = 8 * t.T1
	}
	return t
}

// lifetime is 64*T1: timers B, F, H and J.
func (t Timers) lifetime() time.Duration { return 64 * t.T1 }

// repeat is a message that is sent again at growing intervals until it is
// stopped or its time is over.
type repeat struct {
	data   []byte
	next   time.Time // zero = no repetition wanted
	wait   time.Duration
	limit  time.Duration // cap of the interval, 0 = none
	giveUp time.Time     // zero = stopped
}

// start arms the repetition; repeated is false on reliable transports, where only
// the end of the wait matters.
func (r *repeat) start(now time.Time, t Timers, data []byte, repeated bool, limit time.Duration) {
	*r = repeat{data: data, wait: t.T1, limit: limit, giveUp: now.Add(t.lifetime())}
	if repeated {
		r.next = now.Add(t.T1)
	}
}

func (r *repeat) stop() { *r = repeat{} }

// running reports whether an answer is still awaited.
func (r *repeat) running() bool { return !r.giveUp.IsZero() }

// quiet ends the repetition but not the wait.
func (r *repeat) quiet() { r.next = time.Time{} }

// deadline is the next moment at which expire has work.
func (r *repeat) deadline() time.Time { return earlier(r.next, r.giveUp) }

// expire reports what is due: sending once more, or the end.
func (r *repeat) expire(now time.Time) (again, over bool) {
	if !r.running() {
		return false, false
	}
	if !now.Before(r.giveUp) {
		r.stop()
		return false, true
	}
	if r.next.IsZero() || now.Before(r.next) {
		return false, false
	}
	r.wait *= 2
	if r.limit > 0 && r.wait > r.limit {
		r.wait = r.limit
	}
	r.next = now.Add(r.wait)
	return true, false
}

// earlier returns the earlier of two moments, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// reached reports whether the moment is set and not in the future.
func reached(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }
