package hunt

import "time"

// timer names what is due.
type timer uint8

const (
	attemptTimer timer = iota
	setupTimer
	pddTimer
	peerTimer
)

// Deadline is when Expire must be called next, zero for never.
func (s *Sequence) Deadline() time.Time {
	at, _ := s.due()
	return at
}

// due returns the timer that ends first. Of timers that end together an attempt's own goes first.
func (s *Sequence) due() (at time.Time, what timer) {
	if len(s.live) == 0 { // a hand-off, or nothing is going on
		return s.peerEnd, peerTimer
	}
	for i := range s.live {
		at = earlier(at, s.live[i].deadline)
	}
	if pdd, _ := s.pdd(); !pdd.IsZero() && (at.IsZero() || pdd.Before(at)) {
		at, what = pdd, pddTimer
	}
	if s.tallies == nil {
		return at, what
	}
	if setup := s.setup(); !setup.IsZero() && (at.IsZero() || setup.Before(at)) {
		at, what = setup, setupTimer
	}
	return at, what
}

// earlier returns the earlier of two instants of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// pdd returns the instant up to which the local list may go on without having rung, zero for no limit.
// While the call could still be handed off it is the end of the local part of max_pdd, and reserve is
// set (DEC-05).
func (s *Sequence) pdd() (at time.Time, reserve bool) {
	if s.cfg.MaxPDD <= 0 || s.alerted {
		return time.Time{}, false
	}
	at = s.invited.Add(s.cfg.MaxPDD)
	if s.cfg.Handoff && !s.handed && !s.barred && !s.inProgress() {
		return at.Add(-s.cfg.HandoffReserve), true
	}
	return at, false
}

// Expire fires the timer that is due. When several are, the earliest counts.
func (s *Sequence) Expire(now time.Time) []Action {
	d, what := s.due()
	if !s.begin(!d.IsZero() && !now.Before(d)) {
		return nil
	}
	switch what {
	case attemptTimer:
		s.expireAttempts(now, d)
	case setupTimer:
		s.expireSetup(now, d)
	case pddTimer:
		s.expirePDD(now)
	case peerTimer:
		s.expireHandoff()
	}
	return s.out
}

// expireAttempts ends the attempts that were silent or rang for too long: one, or those of a fork that
// began together.
func (s *Sequence) expireAttempts(now, due time.Time) {
	for at := 0; at < len(s.live); {
		if !s.live[at].deadline.Equal(due) {
			at++
			continue
		}
		a, v := s.expireAttempt(now, at)
		s.worst = max(s.worst, v)
		if v == goesOn && a.Fork != 0 {
			s.alternate(now, a)
		}
	}
	if len(s.live) > 0 {
		s.watch()
		return
	}
	s.conclude(now)
}

// expireAttempt ends one attempt. It is recorded as 408.
func (s *Sequence) expireAttempt(now time.Time, at int) (*Attempt, verdict) {
	l := s.live[at]
	t := s.target(l)
	progress := s.attempts[l.attempt].Progress
	cause := CauseNoResponse
	switch {
	case progress:
		cause = CauseRingTimeout
	case l.heard:
		cause = CauseNoProgress
	}
	a := s.end(now, at, 408, cause)
	s.emitFor(Abandon, l.attempt, 0, cause)
	switch {
	case progress && !t.RerouteAfterProgress: // S-063: the rest is not tried
		return a, rangOut
	case s.cfg.advances(t, 408): // S-031, S-061, S-067
		return a, goesOn
	}
	return a, endsList
}

// expireSetup ends what a group has in flight because nobody of it has shown progress in time: the next
// group has its turn, unless another attempt of the fork had the last word.
func (s *Sequence) expireSetup(now, due time.Time) {
	s.each(s.target(s.live[0]), func(_ *Group, used *tally) {
		if used.until.Equal(due) {
			used.spent, used.until = true, time.Time{}
		}
	})
	s.abandonAll(now, 408, CauseSetup)
	s.conclude(now)
}

// expirePDD ends what is in flight because nobody has rung in time: for the hand-off while there is one,
// else for good with a 503 of our own.
func (s *Sequence) expirePDD(now time.Time) {
	cause := CausePDD
	_, reserve := s.pdd()
	if reserve {
		cause = CauseReserve
	}
	s.abandonAll(now, 408, cause)
	if s.worst == lastWord { // of another attempt of the fork
		s.finish(true)
		return
	}
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
