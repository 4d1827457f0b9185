package hunt

import "time"

// HandoffResult is how a hand-off ended.
type HandoffResult struct {
	// Answered: the peer answered; the rest but Attempts is without meaning.
	Answered bool
	// Accepted: a peer node took the call up, that is the peer site was tried.
	Accepted bool
	// Code is the peer's final, 0 when there was none.
	Code int
	// Attempts are the peer's, with Site, Group and Member.
	Attempts []Attempt
	// Definitive: Code is the far end's or the callee's last word (Action.Definitive at the peer).
	Definitive bool
}

// permitsHandoff reports whether a call with an attempt that ended so may be handed off: "not dialled,
// transport error, no response (no 101-199 and no final), or a code in the group's handoff_on" (DEC-04).
func (s *Sequence) permitsHandoff(a *Attempt) bool {
	switch {
	case !a.Dialed, a.undelivered(), a.silent() && !a.Progress:
		return true
	}
	return a.Code < 600 && s.cfg.HandoffOn.Has(a.Code)
}

// mayHandOff is the hand-off rule at the end of the local list (DEC-04): configuration permits it, it
// was not done, every attempt permits it, nobody showed progress at the end, and there is time left.
func (s *Sequence) mayHandOff(now time.Time) bool {
	if !s.cfg.Handoff || s.handed || s.barred || s.budget(now) <= 0 {
		return false
	}
	list := s.attempts[s.from:]
	if i := decides(list, false); i >= 0 {
		last := &list[i]
		return !last.silent() || !last.Progress
	}
	return true
}

// budget is what remains of max_pdd for the peer. Without max_pdd, or once a 18x has met it, it is
// HandoffLimit.
func (s *Sequence) budget(now time.Time) time.Duration {
	if s.cfg.MaxPDD <= 0 || s.alerted {
		return HandoffLimit
	}
	return s.invited.Add(s.cfg.MaxPDD).Sub(now)
}

// handOff asks the peer site.
func (s *Sequence) handOff(now time.Time) {
	budget := s.budget(now)
	s.state, s.handed = HandedOff, true
	s.peerEnd = now.Add(budget)
	s.emit(Action{Kind: Handoff, Attempt: -1, Target: -1, Budget: budget})
}

// endLocal decides at the end of the local list.
func (s *Sequence) endLocal(now time.Time) {
	if s.mayHandOff(now) {
		s.handOff(now)
		return
	}
	s.finish(false)
}

// HandoffProvisional takes a provisional of the hand-off. Any of them says that the peer took the call
// up; 101 to 199 is relayed; 18x ends the budget, and the peer's ring bound holds from then on. Where
// ringing is bounded at all, HandoffLimit bounds the wait for the peer's next word, as timer C does for
// a proxy: its final response may have been lost on the way.
func (s *Sequence) HandoffProvisional(now time.Time, code int) []Action {
	if !s.begin(s.state == HandedOff && code >= 100 && code < 200) {
		return nil
	}
	s.accepted = true
	if code == 100 {
		return nil
	}
	if alerts(code) {
		s.alerted = true
	}
	if s.alerted {
		s.peerEnd = time.Time{}
		if s.cfg.Ring > 0 {
			s.peerEnd = now.Add(max(HandoffLimit, 2*s.cfg.Ring))
		}
	}
	s.emit(Action{Kind: RelayHandoff, Attempt: -1, Target: -1, Code: code})
	return s.out
}

// HandoffDone takes the end of the hand-off. The peer's attempts go on the list; the hop itself is no
// attempt (DEC-06). A list that comes after the caller gave up is kept for the record.
//
// When the local list was left early for the sake of the hand-off and the peer could not take the call,
// what is left of the list is tried in what is left of the time.
func (s *Sequence) HandoffDone(now time.Time, r HandoffResult) []Action {
	if !s.begin(s.handed && !s.peerList) {
		return nil
	}
	s.peerList = true
	s.attempts = append(s.attempts, r.Attempts...)
	if s.state != HandedOff {
		return nil
	}
	s.peerEnd = time.Time{}
	s.accepted = s.accepted || r.Accepted || r.Answered
	switch {
	case r.Answered:
		s.state = Answered
		s.emit(Action{Kind: AnswerHandoff, Attempt: -1, Target: -1, Code: r.Code})
	case r.Definitive && r.Code >= 300:
		s.state = Failed
		s.emit(Action{Kind: ForwardHandoff, Attempt: -1, Target: -1, Code: r.Code, Definitive: true})
	case s.cut && s.next < len(s.cfg.Targets):
		s.advance(now)
	default:
		s.finish(false)
	}
	return s.out
}
