package trunkgroup

import "time"

// Health is the state machine of one probed target. It is pure: the caller
// sends a probe when NextProbe is due, reports what came of it by Probe,
// reports calls by Evidence and RetryAfter, and calls Expire at Deadline.
// A Health is not safe for concurrent use.
//
//	unknown   -> active     first good probe
//	active    -> trying     a failed probe, or calls without any response
//	trying    -> active     a good probe, or a response to a call
//	trying    -> down       DownAfter failed cycles
//	down      -> probation  a good probe, when UpAfter is above 1
//	probation -> active     UpAfter good probes in a row
//	probation -> down       a failed probe
//	any       -> cooldown   Retry-After; ends by time or by an operator
//
// A target that comes and goes needs more good probes each time, see health_flap.go.
//
// A cycle is one probe and, while it fails, up to Repeats more at once.
type Health struct {
	m       Monitoring
	state   State // by probes, evidence and time; the operator's word stands above it
	admin   AdminState
	since   time.Time
	reason  string
	changes int

	next     time.Time // when the next probe is due
	misses   int       // failed probes of this cycle
	failed   int       // failed cycles in a row
	good     int       // good probes in a row
	evidence int       // calls without any response in a row
	flaps    int       // how often in a row it went down soon after it had come back
	back     time.Time // when it came back last
	suspect  bool      // evidence has asked for a probe; failed cycles follow each other at once
	asked    time.Time // when evidence last asked for a probe

	coolUntil time.Time
	resume    State // what follows the cooldown: Active or Down

	last     ProbeResult
	lastAt   time.Time
	lastGood time.Time
	latency  RoundTrips
	outages  outages
}

// NewHealth returns a target that is unknown and whose first probe is due now;
// one that is not monitored is active for ever and never due.
func NewHealth(m Monitoring, now time.Time) Health {
	h := Health{m: m, since: now, next: now, reason: "not probed yet"}
	if !m.Enabled {
		h.state, h.next, h.reason = Active, time.Time{}, "not monitored"
	}
	return h
}

// Inherit takes over the state that another observer found, until the first
// own result comes (DEC-13). It does nothing when there is one already.
func (h *Health) Inherit(s State, reason string, now time.Time) {
	if !h.m.Enabled || !h.lastAt.IsZero() || s.Administrative() || s == Cooldown {
		return
	}
	h.set(s, reason, now)
}

// Configure takes over new settings, as a changed document brings them, and
// keeps what is known. Switching monitoring on or off begins anew.
func (h *Health) Configure(m Monitoring, now time.Time) {
	if m.Enabled != h.m.Enabled {
		admin := h.admin
		*h = NewHealth(m, now)
		h.SetAdmin(admin, now)
		return
	}
	h.m = m
	if latest := now.Add(h.interval()); h.next.After(latest) {
		h.next = latest
	}
}

// SetAdmin takes an operator's word. AdminUp also ends a cooldown, and makes a
// member that is down unknown again, with a probe due at once.
func (h *Health) SetAdmin(a AdminState, now time.Time) {
	if a == AdminInactive || a == AdminTrying {
		h.order(a, now)
		return
	}
	was := h.State()
	h.admin = a
	switch {
	case !h.m.Enabled:
	case a == AdminDisabled:
		h.next = time.Time{}
	case a == AdminUp && !h.state.Selectable(), was == Disabled:
		h.restart(now)
	}
	if s := h.State(); s != was {
		h.changed(now)
		if s != h.state || a == AdminUp {
			h.reason = "set by operator"
		}
	}
}

// restart forgets all results.
func (h *Health) restart(now time.Time) {
	h.state, h.next = Unknown, now
	h.misses, h.failed, h.good, h.evidence = 0, 0, 0, 0
	h.suspect, h.coolUntil = false, time.Time{}
}

// Expire ends a cooldown whose time is over. It reports whether State changed.
func (h *Health) Expire(now time.Time) bool {
	if h.state != Cooldown || now.Before(h.coolUntil) {
		return false
	}
	was := h.State()
	h.coolUntil = time.Time{}
	if h.resume == Active {
		h.set(Active, "pause is over", now)
	} else {
		h.good = 0
		h.set(Down, "pause is over, not probed yet", now)
		h.due(now)
	}
	return h.State() != was
}

// Deadline returns when Expire has something to do; zero when it has not.
func (h *Health) Deadline() time.Time { return h.coolUntil }

// State returns the state, the operator's word first.
func (h *Health) State() State {
	switch h.admin {
	case AdminDisabled:
		return Disabled
	case AdminDraining:
		return Draining
	}
	return h.state
}

// Since returns when State last changed.
func (h *Health) Since() time.Time { return h.since }

// Reason says in words why the state is as it is.
func (h *Health) Reason() string { return h.reason }

// Changes counts the changes of State, which tells a flapping member.
func (h *Health) Changes() int { return h.changes }

// Admin returns the operator's word.
func (h *Health) Admin() AdminState { return h.admin }

// NextProbe returns when the next probe is due; zero when the target is not
// probed. The caller may add jitter.
func (h *Health) NextProbe() time.Time { return h.next }

// LastProbe returns the last result and when it came; a zero time when there
// is none.
func (h *Health) LastProbe() (ProbeResult, time.Time) { return h.last, h.lastAt }

// LastGood returns when the last good result came; zero when there is none.
func (h *Health) LastGood() time.Time { return h.lastGood }

// due sets the next probe, unless the operator has stopped probing.
func (h *Health) due(at time.Time) {
	if h.admin != AdminDisabled {
		h.next = at
	}
}

// set is the only place that moves the state.
func (h *Health) set(s State, reason string, now time.Time) {
	if s == h.state {
		return
	}
	h.flap(s, now)
	if h.state.Selectable() && !s.Selectable() {
		h.outages.note(now)
	}
	h.state = s
	if h.admin == AdminUp {
		h.reason = reason
		h.changed(now)
	}
}

func (h *Health) changed(now time.Time) {
	h.since = now
	h.changes++
}
