package verdict

import "time"

// Latency is how long the member takes to answer probes: the estimate of its fastest address that gets calls, of its fastest one when none does.
// Zero when nobody knows.
func (s *Status) Latency() time.Duration {
	var best, called time.Duration
	for i := range s.Targets {
		t := &s.Targets[i]
		d := t.Latency.Estimate
		if d == 0 {
			continue
		}
		if best == 0 || d < best {
			best = d
		}
		if t.State.Selectable() && (called == 0 || d < called) {
			called = d
		}
	}
	if called > 0 {
		return called
	}
	return best
}

// measure writes the latencies into the view.
func (b *Board) measure() {
	for i := range b.Members {
		d := b.Members[i].Latency()
		if d == 0 {
			continue
		}
		if b.View.Latency == nil {
			b.View.Latency = make([]time.Duration, len(b.Members))
		}
		b.View.Latency[i] = d
	}
}
