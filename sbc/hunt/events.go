package hunt

import "time"

// Provisional takes a provisional of an attempt. 100 only stops the B timer; 101 to 199 is progress
// (S-060): it is relayed, moves the attempt's deadline and ends the setup time of its group.
func (s *Sequence) Provisional(now time.Time, attempt, code int) []Action {
	at := s.inFlight(attempt)
	if !s.begin(at >= 0 && code >= 100 && code < 200) {
		return nil
	}
	l, a := &s.live[at], &s.attempts[attempt]
	t := &s.cfg.Targets[a.Target]
	progress := s.cfg.progress(t)
	l.heard = true
	if code == 100 {
		if !a.Progress {
			l.deadline = a.Start.Add(progress)
		}
		return nil
	}
	if !a.Progress {
		a.First = now.Sub(a.Start)
	}
	a.Progress = true
	s.state = Ringing
	s.met(t)
	switch {
	case t.RerouteAfterProgress:
		l.deadline = a.Start.Add(progress)
	case s.cfg.Ring == 0: // S-065
		l.deadline = time.Time{}
	default: // S-062: progress never shortens
		l.deadline = a.Start.Add(max(progress, s.cfg.Ring))
	}
	if alerts(code) {
		s.alerted = true
	}
	s.emitFor(Relay, attempt, code, "")
	return s.out
}

// alerts reports whether a provisional ends the post-dial delay: 18x.
func alerts(code int) bool { return code/10 == 18 }

// Final takes a final response of an attempt. The first 2xx of a fork wins; a 6xx speaks for all places,
// so that the others are given up (RFC 3261 16.7); any other failure waits for them.
func (s *Sequence) Final(now time.Time, attempt, code int) []Action {
	at := s.inFlight(attempt)
	if !s.begin(at >= 0 && code >= 200 && code < 700) {
		return nil
	}
	s.attempts[attempt].Final = true
	a := s.end(now, at, code, "")
	if code < 300 {
		if !a.Progress {
			a.First = a.Elapsed
		}
		s.abandonAll(now, 0, CauseElsewhere)
		s.state = Answered
		s.emitFor(Answer, attempt, code, "")
		return s.out
	}
	v := s.judge(a)
	a.LastWord = v >= asksPeer
	if code >= 600 {
		s.abandonAll(now, 0, CauseDeclined)
	}
	s.settle(now, a, v)
	return s.out
}

// TransportError says that the INVITE of an attempt was sent and refused, or that its connection broke:
// the next target follows at once, whatever AdvanceOn says, for nobody has responded. An attempt that
// had spoken is abandoned, so that it does not ring on.
func (s *Sequence) TransportError(now time.Time, attempt int, cause string) []Action {
	at := s.inFlight(attempt)
	if !s.begin(at >= 0) {
		return nil
	}
	if s.live[at].heard {
		s.emitFor(Abandon, attempt, 0, CauseTransport)
	}
	if cause == "" {
		cause = CauseTransport
	}
	s.settle(now, s.end(now, at, 503, cause), goesOn)
	return s.out
}

// Undialable says that no INVITE of an attempt was put on the wire: it is recorded as not dialled and
// skipped (S-043, S-044).
func (s *Sequence) Undialable(now time.Time, attempt int, cause string) []Action {
	at := s.inFlight(attempt)
	if !s.begin(at >= 0) {
		return nil
	}
	a := &s.attempts[attempt]
	a.Dialed = false
	s.uncount(&s.cfg.Targets[a.Target])
	s.settle(now, s.end(now, at, 503, cause), goesOn)
	return s.out
}

// Unsent says of an attempt that was given up that no INVITE of it had left, for it was
// still waiting for what it uses. Nothing follows from that but what the list says.
func (s *Sequence) Unsent(attempt int) { s.attempts[attempt].Dialed = false }

// Cancel says that the caller gave up, by CANCEL or by an early BYE: whatever is in flight is given up,
// the caller gets 487, and nothing more is tried.
func (s *Sequence) Cancel(now time.Time) []Action {
	if !s.begin(!s.state.Done()) {
		return nil
	}
	s.letGo(now, CauseCancelled)
	s.fail(487, CauseCancelled, true)
	s.state = Cancelled
	return s.out
}

// Stop gives up whatever is in flight for a cause of the call's own, like a node that
// ends. Nothing more is tried, and the caller's final is for the call to give: it is
// not among the actions.
func (s *Sequence) Stop(now time.Time, cause string) []Action {
	if !s.begin(!s.state.Done()) {
		return nil
	}
	s.letGo(now, cause)
	s.state, s.peerEnd = Failed, time.Time{}
	return s.out
}

func (s *Sequence) letGo(now time.Time, cause string) {
	s.abandonAll(now, 0, cause)
	if s.state == HandedOff {
		s.emit(Action{Kind: CancelHandoff, Attempt: -1, Target: -1, Cause: cause})
	}
}
