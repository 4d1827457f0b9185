package hunt

import "time"

// fork dials all far ends of the next target's tier at once, up to MaxBranches and to the attempts that
// their group has left. A target that cannot be dialled is recorded on the way.
func (s *Sequence) fork(now time.Time) {
	first := s.cfg.Targets[s.next]
	fork := uint16(len(s.attempts) + 1)
	for s.next < len(s.cfg.Targets) {
		t := &s.cfg.Targets[s.next]
		if t.Group != first.Group || t.Within != first.Within || t.Tier != first.Tier {
			return
		}
		switch {
		case !t.Dialable:
			s.skip(now, t.Cause)
			s.attempts[len(s.attempts)-1].Fork = fork
		case t.Alternate && len(s.live) > 0:
			s.next++
		case len(s.live) == MaxBranches || s.full(t):
			return
		default:
			s.dial(now, s.next, fork)
			s.next++
		}
	}
}

// alternate dials the next address of the far end of a fork's attempt that has failed.
func (s *Sequence) alternate(now time.Time, a *Attempt) {
	for next := a.Target + 1; next < s.next; next++ {
		t := &s.cfg.Targets[next]
		switch {
		case !t.Alternate:
			return
		case t.Dialable:
			if end, _ := s.pdd(); !s.full(t) && !s.spent(t, now) && (end.IsZero() || now.Before(end)) {
				s.dial(now, next, a.Fork)
			}
			return
		}
	}
}

// decides returns the index of the attempt by which a list ended, -1 of none: the last one, or of a fork
// that ended it the one that says most. The last word of the far ends, when there is one, is the best of
// those that were last words (RFC 3261 16.7); else ringing without an answer goes before any other
// final, that before silence, and what was not dialled says nothing beside what was.
func decides(attempts []Attempt, definitive bool) int {
	at := len(attempts) - 1
	if at < 0 || attempts[at].Fork == 0 {
		return at
	}
	last := attempts[at]
	best := -1
	for i := at; i >= 0 && attempts[i].Fork == last.Fork && attempts[i].Site == last.Site; i-- {
		if w := weight(&attempts[i], definitive); best < 0 || w >= weight(&attempts[best], definitive) {
			best = i
		}
	}
	return best
}

// weight orders attempts of one fork by what they say about its end, the most first.
func weight(a *Attempt, definitive bool) int {
	switch {
	case definitive && a.LastWord: // as the caller would hear it: a challenge says nothing to him
		return 1000 - rankOf(&Attempt{Dialed: true, Code: CallerCode(a.Code)})
	case a.silent() && a.Progress:
		return 4
	case a.Dialed && a.Final:
		return 3
	case a.Dialed:
		return 2
	}
	return 1
}
