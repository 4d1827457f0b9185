package tally

import "time"

// Window is a time over which is counted.
type Window uint8

// The windows.
const (
	FiveMinutes Window = iota
	Hour
	Day
	windows
)

// Windows lists all of them, the shortest first.
func Windows() []Window { return []Window{FiveMinutes, Hour, Day} }

// Length is how far back it reaches.
func (w Window) Length() time.Duration {
	return [...]time.Duration{5 * time.Minute, time.Hour, 24 * time.Hour}[min(w, Day)]
}

// String returns the window as operators write it: 5m, 1h, 24h.
func (w Window) String() string { return [...]string{"5m", "1h", "24h"}[min(w, Day)] }

// ParseWindow reads what String writes.
func ParseWindow(s string) (Window, bool) {
	for _, w := range Windows() {
		if w.String() == s {
			return w, true
		}
	}
	return 0, false
}

// Sum is what calls came to within a window.
type Sum struct {
	Attempts  uint64 // that were dialled and not given up by the caller
	Answered  uint64 // of these
	Delivered uint64 // of these: answered, busy, refused or not picked up (RFC 6076 section 4.7)
	Rang      uint64 // of these: with a first 101 to 199, or an answer
	Waited    uint64 // milliseconds from the INVITE to that, together
	Ended     uint64 // answered calls that ended
	Seconds   uint64 // that they lasted, together
}

// Add adds another sum.
func (s *Sum) Add(o Sum) {
	s.Attempts += o.Attempts
	s.Answered += o.Answered
	s.Delivered += o.Delivered
	s.Rang += o.Rang
	s.Waited += o.Waited
	s.Ended += o.Ended
	s.Seconds += o.Seconds
}

// ASR is the answer-seizure ratio, 0 to 1; false when nothing was tried.
func (s *Sum) ASR() (float64, bool) { return ratio(s.Answered, s.Attempts) }

// NER is the network effectiveness ratio, 0 to 1; false when nothing was tried.
func (s *Sum) NER() (float64, bool) { return ratio(s.Delivered, s.Attempts) }

// ACD is the mean length of answered calls in seconds; false when none has ended.
func (s *Sum) ACD() (float64, bool) { return ratio(s.Seconds, s.Ended) }

// PDD is the mean wait from the INVITE of an attempt to its first ringing or answer, in
// seconds; false when nobody rang.
func (s *Sum) PDD() (float64, bool) {
	v, ok := ratio(s.Waited, s.Rang)
	return v / 1000, ok
}

func ratio(a, b uint64) (float64, bool) {
	if b == 0 {
		return 0, false
	}
	return float64(a) / float64(b), true
}
