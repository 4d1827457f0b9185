package hunt

import "time"

// Rest is the index of the first target that has not had its turn.
func (s *Sequence) Rest() int { return s.next }

// Retarget puts other targets in the place of those that have not had their turn: who can be dialled is
// decided at the instant of the dial (S-070), not when the call began. Groups begin with those that were
// there. The sequence keeps both slices.
func (s *Sequence) Retarget(rest []Target, groups []Group) {
	s.cfg.Targets = append(s.cfg.Targets[:s.next:s.next], rest...)
	s.cfg.Groups = groups
	switch {
	case s.tallies != nil:
		s.tallies = append(s.tallies, make([]tally, len(groups)-len(s.tallies))...)
	case s.cfg.bounded():
		s.tallies = make([]tally, len(groups))
	}
}

// Again goes through another list of targets when one has failed and the caller has not been told
// (S-045). The attempts go on one list; those of the new list alone decide its end. Neither the time
// that the call has nor the hand-off begins anew: a call crosses to a peer site once.
func (s *Sequence) Again(now time.Time, targets []Target, groups []Group) []Action {
	if !s.begin(s.state == Failed && len(s.live) == 0) {
		return nil
	}
	s.Retarget(targets, groups)
	s.from, s.cut = len(s.attempts), false
	s.peerList = s.handed // what the peer says late has no place in the new list
	s.advance(now)
	return s.out
}
