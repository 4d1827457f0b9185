package hunt

import "time"

// leg is an attempt in flight.
type leg struct {
	attempt  int
	heard    bool      // it sent a provisional, 100 too
	deadline time.Time // its own timer; zero = none
}

// verdict says what the end of an attempt means for the list. Over the attempts of one fork the highest
// counts.
type verdict uint8

const (
	// goesOn: the next target may be tried.
	goesOn verdict = iota
	// endsList: no other target of this site is, the peer site may be.
	endsList
	// asksPeer: a final that leads to the peer site, or else is the last word (DEC-04).
	asksPeer
	// rangOut: somebody was called and did not come (S-063).
	rangOut
	// lastWord: the far end or the callee has decided (S-033, S-034).
	lastWord
)

// inFlight returns the place in live of an attempt, -1 when an event of it is of no interest: its final
// decides nothing a second time, and what it says after it was abandoned is never relayed or joined
// (S-052).
func (s *Sequence) inFlight(attempt int) int {
	for i := range s.live {
		if s.live[i].attempt == attempt {
			return i
		}
	}
	return -1
}

// watch sets the state from what is in flight.
func (s *Sequence) watch() {
	s.state = Trying
	if s.inProgress() {
		s.state = Ringing
	}
}

// inProgress reports whether an attempt in flight has shown progress.
func (s *Sequence) inProgress() bool {
	for i := range s.live {
		if s.attempts[s.live[i].attempt].Progress {
			return true
		}
	}
	return false
}

// end records how an attempt in flight ended.
func (s *Sequence) end(now time.Time, at, code int, cause string) *Attempt {
	a := &s.attempts[s.live[at].attempt]
	a.Code, a.Cause, a.Elapsed = code, cause, now.Sub(a.Start)
	s.live = append(s.live[:at], s.live[at+1:]...)
	if !s.permitsHandoff(a) {
		s.barred = true
	}
	return a
}

// abandonAll gives up whatever is in flight.
func (s *Sequence) abandonAll(now time.Time, code int, cause string) {
	for len(s.live) > 0 {
		attempt := s.live[0].attempt
		s.end(now, 0, code, cause)
		s.emitFor(Abandon, attempt, 0, cause)
	}
}

// settle goes on after an attempt has ended so. A fork waits for the rest of its attempts and for the
// other addresses of the far end, unless it has the last word.
func (s *Sequence) settle(now time.Time, a *Attempt, v verdict) {
	s.worst = max(s.worst, v)
	if v == goesOn && a.Fork != 0 {
		s.alternate(now, a)
	}
	if len(s.live) > 0 {
		s.watch()
		return
	}
	s.conclude(now)
}

// conclude decides what follows when nothing is in flight any more.
func (s *Sequence) conclude(now time.Time) {
	switch s.worst {
	case goesOn:
		s.advance(now)
	case endsList:
		s.endLocal(now)
	case asksPeer:
		if s.mayHandOff(now) {
			s.handOff(now)
			return
		}
		s.finish(true)
	case rangOut:
		s.finish(false)
	case lastWord:
		s.finish(true)
	}
}

// judge says what a final failure means.
func (s *Sequence) judge(a *Attempt) verdict {
	t := &s.cfg.Targets[a.Target]
	g := s.cfg.group(t)
	switch {
	case s.cfg.advances(t, a.Code):
		return goesOn
	case a.Code < 600 && s.cfg.HandoffOn.Has(a.Code) && !g.NeverAdvance.Has(a.Code):
		// DEC-04: handoff_on is independent of advance_on.
		return asksPeer
	}
	return lastWord
}
