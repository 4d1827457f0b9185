package hunt

import "time"

// Deadline is when Expire must be called next, zero for never.
func (s *Sequence) Deadline() time.Time {
	if s.current < 0 { // a hand-off, or nothing is going on
		return s.deadline
	}
	if at, _ := s.pdd(); s.deadline.IsZero() || !at.IsZero() && at.Before(s.deadline) {
		return at
	}
	return s.deadline
}

// pdd returns the instant up to which the local list may go on without having rung, zero for no limit.
// While the call could still be handed off it is the end of the local part of max_pdd, and reserve is
// set (DEC-05).
func (s *Sequence) pdd() (at time.Time, reserve bool) {
	if s.cfg.MaxPDD <= 0 || s.alerted {
		return time.Time{}, false
	}
	at = s.invited.Add(s.cfg.MaxPDD)
	progress := s.current >= 0 && s.attempts[s.current].Progress
	if s.cfg.Handoff && !s.handed && !s.barred && !progress {
		return at.Add(-s.cfg.HandoffReserve), true
	}
	return at, false
}

// Expire fires the timer that is due. When several are, the earliest counts.
func (s *Sequence) Expire(now time.Time) []Action {
	d := s.Deadline()
	if !s.begin(!d.IsZero() && !now.Before(d)) {
		return nil
	}
	switch {
	case s.state == HandedOff:
		s.expireHandoff()
	case d.Equal(s.deadline):
		s.expireAttempt(now)
	default:
		s.expirePDD(now)
	}
	return s.out
}

// expireAttempt ends an attempt that was silent or rang for too long. It is recorded as 408.
func (s *Sequence) expireAttempt(now time.Time) {
	i := s.current
	t := &s.cfg.Targets[s.attempts[i].Target]
	progress := s.attempts[i].Progress
	cause := CauseNoResponse
	switch {
	case progress:
		cause = CauseRingTimeout
	case s.heard:
		cause = CauseNoProgress
	}
	s.end(now, 408, cause)
	s.emitFor(Abandon, i, 0, cause)
	switch {
	case progress && !t.RerouteAfterProgress: // S-063: the rest is not tried
		s.finish(false)
	case t.advances(408): // S-031, S-061, S-067
		s.advance(now)
	default:
		s.endLocal(now)
	}
}

// expirePDD ends an attempt because nobody has rung in time: for the hand-off while there is one, else
// for good with a 503 of our own.
func (s *Sequence) expirePDD(now time.Time) {
	i := s.current
	cause := CausePDD
	_, reserve := s.pdd()
	if reserve {
		cause = CauseReserve
	}
	s.end(now, 408, cause)
	s.emitFor(Abandon, i, 0, cause)
	if reserve && s.mayHandOff(now) {
		s.cut = true
		s.handOff(now)
		return
	}
	s.fail(503, CausePDD, false)
}

// expireHandoff ends a hand-off whose budget is spent.
func (s *Sequence) expireHandoff() {
	cause := CausePDD
	if s.cfg.MaxPDD <= 0 || s.alerted {
		cause = CauseHandoffTimeout
	}
	s.emit(Action{Kind: CancelHandoff, Attempt: -1, Target: -1, Cause: cause})
	s.fail(503, cause, false)
}
