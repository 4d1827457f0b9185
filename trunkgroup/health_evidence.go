package trunkgroup

import "time"

// Evidence takes what calls say about the target (DEC-11). ok is false for a
// transport error, for an attempt without any response, and for a final that
// the group lists in passive_codes; it is true for any other response. Only
// EvidenceAfter failures in a row count. They make the member trying, which
// still gets calls; a probe decides.
//
// It reports whether a probe should be sent now: NextProbe is due then, and
// until the member is down or answers, its probes follow each other at once.
func (h *Health) Evidence(now time.Time, ok bool, cause string) (probeNow bool) {
	if !h.m.Enabled || h.admin == AdminDisabled {
		return false
	}
	h.Expire(now)
	if ok {
		h.evidence, h.suspect = 0, false
		if h.state == Trying && h.failed == 0 && h.misses == 0 {
			h.set(Active, "answers calls", now)
		}
		return false
	}
	h.evidence++
	if h.evidence < h.m.EvidenceAfter || !h.state.Selectable() {
		return false
	}
	h.set(Trying, "calls fail: "+cause, now)
	if h.suspect || !h.asked.IsZero() && now.Sub(h.asked) < h.m.Timeout {
		return false // one is under way, or has just been
	}
	h.suspect, h.asked = true, now
	h.due(now)
	return true
}

// RetryAfter takes the Retry-After of a 503 that a call got. It lowers this
// member only, for at most CallRetryAfterMax (DEC-11); a longer pause extends a
// running one, a shorter one does not shorten it. It reports whether State
// changed.
func (h *Health) RetryAfter(now time.Time, d time.Duration) (changed bool) {
	if !h.m.Enabled || d <= 0 || h.admin == AdminDisabled {
		return false
	}
	was := h.State()
	h.Expire(now)
	if h.state.Selectable() || h.state == Cooldown {
		h.cool(now, min(d, h.m.CallRetryAfterMax), Active, "Retry-After with 503 to a call")
	}
	return h.State() != was
}

// cool begins or extends a cooldown. What follows it is the worst of what its
// causes ask for.
func (h *Health) cool(now time.Time, d time.Duration, resume State, reason string) {
	if h.state != Cooldown || resume == Down {
		h.resume = resume
	}
	if until := now.Add(d); until.After(h.coolUntil) {
		h.coolUntil = until
	}
	h.set(Cooldown, reason, now)
}
