package geo

import "time"

// Seen are the call ids that this node took over. A node accepts an id once, and remembers it until the
// call has ended plus 64*T1, when no copy of the hand-off can arrive any more (DEC-08). It belongs to
// one goroutine; the zero value is ready.
type Seen struct {
	calls map[string]bool // true once the call has ended
	ended []endedCall     // in order of their expiry
}

type endedCall struct {
	id string
	at time.Time
}

// Accept takes a call id that was not seen before and reports false for one that was.
func (s *Seen) Accept(callID string) bool {
	if _, known := s.calls[callID]; known {
		return false
	}
	if s.calls == nil {
		s.calls = make(map[string]bool)
	}
	s.calls[callID] = false
	return true
}

// End says that the call has ended; its id is kept for the given time, the same for all calls.
func (s *Seen) End(callID string, now time.Time, keep time.Duration) {
	if over, known := s.calls[callID]; known && !over {
		s.calls[callID] = true
		s.ended = append(s.ended, endedCall{id: callID, at: now.Add(keep)})
	}
}

// Expire forgets the ids whose time is over.
func (s *Seen) Expire(now time.Time) {
	n := 0
	for n < len(s.ended) && !s.ended[n].at.After(now) {
		delete(s.calls, s.ended[n].id)
		s.ended[n] = endedCall{}
		n++
	}
	s.ended = s.ended[n:]
	if len(s.calls) == 0 {
		*s = Seen{} // maps and slices do not shrink by themselves
	}
}

// Deadline is when Expire must be called next, zero for never.
func (s *Seen) Deadline() time.Time {
	if len(s.ended) == 0 {
		return time.Time{}
	}
	return s.ended[0].at
}

// Len is the number of ids that are remembered.
func (s *Seen) Len() int { return len(s.calls) }
