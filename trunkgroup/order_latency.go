package trunkgroup

import (
	"slices"
	"time"
)

// near is how much slower than the fastest a far end may be, in percent, and still
// take turns with it: less is noise.
const near = 10

// byLatency begins with whoever answers probes fastest (K-20, algorithm 13). Those that
// are hardly slower take turns with it. One that nobody has measured counts as the
// median of the others: it is neither flooded nor starved.
func (o *ordering) byLatency(tier []slot) {
	var known [sorted]time.Duration
	n := 0
	step := (len(tier) + sorted - 1) / sorted // of a large tier every so many-th is asked
	for i := range tier {
		s := &tier[i]
		l := o.latency(s)
		s.rank = uint64(l)
		if l > 0 && i%step == 0 {
			known[n] = l
			n++
		}
	}
	if n == 0 {
		o.takeTurns(tier, o.d.Turn)
		return
	}
	slices.Sort(known[:n])
	median, fastest := uint64(known[n/2]), ^uint64(0)
	for i := range tier {
		if tier[i].rank == 0 {
			tier[i].rank = median
		}
		fastest = min(fastest, tier[i].rank)
	}
	for i := range tier {
		if r := tier[i].rank; r-fastest <= fastest/100*near {
			tier[i].rank = fastest
		}
	}
	o.byRankInTurns(tier)
}

// latency of a far end; of a group that stands there, that of its fastest member.
// 0 = nobody knows.
func (o *ordering) latency(s *slot) (best time.Duration) {
	if s.member.Nested == nil {
		return o.v.latency(s.member)
	}
	for i := s.from; i < s.to; i++ {
		if l := o.v.latency(o.p.inner[i].member); l > 0 && (best == 0 || l < best) {
			best = l
		}
	}
	return best
}

func (v *View) latency(m *Member) time.Duration {
	if v.Latency == nil {
		return 0
	}
	return max(v.Latency[m.Index], 0)
}
