package hunt

import "time"

// Provisional takes a provisional of an attempt. 100 only stops the B timer; 101 to 199 is progress
// (S-060): it is relayed and moves the attempt's deadline.
func (s *Sequence) Provisional(now time.Time, attempt, code int) []Action {
	if !s.begin(s.inFlight(attempt) && code >= 100 && code < 200) {
		return nil
	}
	a := &s.attempts[attempt]
	t := &s.cfg.Targets[a.Target]
	progress := s.cfg.progress(t)
	if code == 100 {
		if !a.Progress {
			s.deadline = a.Start.Add(progress)
		}
		s.heard = true
		return nil
	}
	s.heard = true
	a.Progress = true
	s.state = Ringing
	switch {
	case t.RerouteAfterProgress:
		s.deadline = a.Start.Add(progress)
	case s.cfg.Ring == 0: // S-065
		s.deadline = time.Time{}
	default: // S-062: progress never shortens
		s.deadline = a.Start.Add(max(progress, s.cfg.Ring))
	}
	if alerts(code) {
		s.alerted = true
	}
	s.emitFor(Relay, attempt, code, "")
	return s.out
}

// alerts reports whether a provisional ends the post-dial delay: 18x.
func alerts(code int) bool { return code/10 == 18 }

// Final takes a final response of an attempt.
func (s *Sequence) Final(now time.Time, attempt, code int) []Action {
	if !s.begin(s.inFlight(attempt) && code >= 200 && code < 700) {
		return nil
	}
	s.attempts[attempt].Final = true
	a := s.end(now, code, "")
	if code < 300 {
		s.state = Answered
		s.emitFor(Answer, attempt, code, "")
		return s.out
	}
	switch {
	case s.cfg.Targets[a.Target].advances(code):
		s.advance(now)
	case code < 600 && s.cfg.HandoffOn.Has(code) && s.mayHandOff(now):
		// DEC-04: handoff_on is independent of advance_on.
		s.handOff(now)
	default: // S-033, S-034
		s.finish(true)
	}
	return s.out
}

// TransportError says that the INVITE of an attempt was sent and refused, or that its connection broke:
// the next target follows at once, whatever AdvanceOn says, for nobody has responded. An attempt that
// had spoken is abandoned, so that it does not ring on.
func (s *Sequence) TransportError(now time.Time, attempt int, cause string) []Action {
	if !s.begin(s.inFlight(attempt)) {
		return nil
	}
	if s.heard {
		s.emitFor(Abandon, attempt, 0, CauseTransport)
	}
	if cause == "" {
		cause = CauseTransport
	}
	s.end(now, 503, cause)
	s.advance(now)
	return s.out
}

// Undialable says that no INVITE of an attempt was put on the wire: it is recorded as not dialled and
// skipped (S-043, S-044).
func (s *Sequence) Undialable(now time.Time, attempt int, cause string) []Action {
	if !s.begin(s.inFlight(attempt)) {
		return nil
	}
	s.attempts[attempt].Dialed = false
	s.dialed--
	s.end(now, 503, cause)
	s.advance(now)
	return s.out
}

// Cancel says that the caller gave up, by CANCEL or by an early BYE: whatever is in flight is given up,
// the caller gets 487, and nothing more is tried.
func (s *Sequence) Cancel(now time.Time) []Action {
	if !s.begin(!s.state.Done()) {
		return nil
	}
	switch s.state {
	case Trying, Ringing:
		attempt := s.current
		s.end(now, 0, CauseCancelled)
		s.emitFor(Abandon, attempt, 0, CauseCancelled)
	case HandedOff:
		s.emit(Action{Kind: CancelHandoff, Attempt: -1, Target: -1, Cause: CauseCancelled})
	}
	s.fail(487, CauseCancelled, true)
	s.state = Cancelled
	return s.out
}
