package trunkgroup

import (
	"strconv"
	"time"
)

// ProbeKind says what came of a probe.
type ProbeKind uint8

// The kinds.
const (
	Reply          ProbeKind = 1 // a final response; Code says which
	Timeout        ProbeKind = 2 // none in Monitoring.Timeout
	TransportError ProbeKind = 3 // ICMP, connection refused or cut, TLS failure, name not resolved
)

// String returns the name in lower case.
func (k ProbeKind) String() string {
	switch k {
	case Reply:
		return "reply"
	case Timeout:
		return "timeout"
	case TransportError:
		return "transport-error"
	}
	return "none"
}

// ProbeResult is what came of one probe.
type ProbeResult struct {
	Kind       ProbeKind
	Code       int           // of a Reply; a local timeout is never shown as 408 (PRB-01)
	RetryAfter time.Duration // of a Reply; 0 = none
	RTT        time.Duration // from sending the probe to this result, also when it failed
	Detail     string        // of a TransportError: what the system said; may be empty
}

// String says the result in words.
func (r ProbeResult) String() string {
	switch r.Kind {
	case Reply:
		return strconv.Itoa(r.Code)
	case Timeout:
		return "no reply"
	case TransportError:
		if r.Detail != "" {
			return "transport error: " + r.Detail
		}
		return "transport error"
	}
	return "none"
}

// Probe takes the result of one probe. It reports whether State changed.
func (h *Health) Probe(now time.Time, r ProbeResult) (changed bool) {
	if !h.m.Enabled || h.admin == AdminDisabled {
		return false
	}
	was := h.State()
	h.Expire(now)
	h.last, h.lastAt = r, now
	h.latency.Note(r)
	ok := r.Kind == Reply && h.m.GoodReply(r.Code)
	pause := r.RetryAfter > 0 && r.Kind == Reply && (h.m.AnyRetryAfter || !ok)
	if ok {
		h.lastGood = now
	}
	switch {
	case pause:
		h.good, h.misses = 0, 0
		h.cool(now, min(r.RetryAfter, h.m.RetryAfterMax), Down, "Retry-After with "+r.String()+" to a probe")
		h.due(h.after(now, r, h.m.Interval))
	case ok:
		h.goodProbe(now, r)
	default:
		h.badProbe(now, r)
	}
	return h.State() != was
}

func (h *Health) goodProbe(now time.Time, r ProbeResult) {
	h.misses, h.failed, h.evidence, h.suspect = 0, 0, 0, false
	h.good++
	up := h.good >= h.upAfter()
	switch h.state {
	case Down, Probation:
		if up {
			h.set(Active, "answers probes with "+r.String(), now)
		} else {
			h.set(Probation, "answers again with "+r.String(), now)
		}
	case Cooldown: // good probes do not end it
		if up {
			h.resume = Active
		}
	default:
		h.set(Active, "answers probes with "+r.String(), now)
	}
	h.due(h.after(now, r, h.interval()))
}

func (h *Health) badProbe(now time.Time, r ProbeResult) {
	h.good = 0
	switch h.state {
	case Cooldown:
		h.resume = Down
		h.due(h.after(now, r, h.interval()))
	case Down, Probation:
		h.set(Down, "probe failed: "+r.String(), now)
		h.due(h.after(now, r, h.interval()))
	default:
		h.missed(now, r)
	}
}

// missed counts a failed probe of a member that gets calls. DEC-16: on no
// reply the probe is repeated at once as a new transaction.
func (h *Health) missed(now time.Time, r ProbeResult) {
	h.misses++
	next := now
	if h.misses > h.m.Repeats {
		h.misses = 0
		h.failed++
		if h.failed >= h.m.DownAfter {
			h.set(Down, "probe failed: "+r.String(), now)
			h.failed, h.evidence, h.suspect = 0, 0, false
			h.due(h.after(now, r, h.interval()))
			return
		}
		if !h.suspect {
			next = h.after(now, r, h.interval())
		}
	}
	h.set(Trying, "probe failed: "+r.String(), now)
	h.due(next)
}

// interval returns the time between probes in the present state.
func (h *Health) interval() time.Duration {
	if h.state == Down || h.state == Probation {
		return h.m.DownInterval
	}
	return h.m.Interval
}

// after returns the next probe's time, counted from the start of this probe,
// so that waiting for replies does not stretch the cycle (PRB-03).
func (h *Health) after(now time.Time, r ProbeResult, interval time.Duration) time.Time {
	elapsed := r.RTT
	if elapsed == 0 && r.Kind == Timeout {
		elapsed = h.m.Timeout
	}
	return now.Add(max(0, interval-elapsed))
}
