package monitor

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// latencyGrain is how far a latency must move, as a part of itself, for calls to be planned anew: far less than what counts as equal there, and
// enough that probes which all say the same publish no board.
const latencyGrain = 20

// sameLatency says whether the members that are called by latency are as fast in one view as in the other. Those of other groups do not count.
func sameLatency(a, b *trunkgroup.View, t *trunkgroup.Table) bool {
	for _, g := range t.Groups() {
		if g.Method != trunkgroup.Latency {
			continue
		}
		for _, m := range g.Members {
			was, is := latencyOf(a, m), latencyOf(b, m)
			if was == is {
				continue
			}
			if was == 0 || is == 0 || (was-is).Abs() > was/latencyGrain {
				return false
			}
		}
	}
	return true
}

func latencyOf(v *trunkgroup.View, m *trunkgroup.Member) time.Duration {
	if v.Latency == nil {
		return 0
	}
	return v.Latency[m.Index]
}
