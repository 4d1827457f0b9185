package trunkgroup

import (
	"math"
	"time"
)

// latencyWeight is how much of the newest reply counts in the estimate, as
// Kamailio's ds_latency_estimator_alpha has it by default.
const latencyWeight = 0.1

// latencyMemory bounds how many replies the average and the deviation remember: a
// far end that was moved must not be told by what it was a month ago.
const latencyMemory = 10_000

// RoundTrips sums up how long a target takes to answer probes (K-29). The zero value
// knows nothing.
type RoundTrips struct {
	Estimate time.Duration // exponentially weighted: follows a change within some 20 probes; 0 = nothing is known
	Average  time.Duration
	Max      time.Duration
	Replies  uint64 // that it goes by
	Timeouts uint64 // probes without any reply
	// spread is the mean square of the distances from the average, in ns².
	spread float64
}

// Known reports whether there was a reply.
func (l *RoundTrips) Known() bool { return l.Replies > 0 }

// Deviation returns the standard deviation of the replies.
func (l *RoundTrips) Deviation() time.Duration { return time.Duration(math.Sqrt(l.spread)) }

// Remember gives back what another node has told: all of it but the deviation
// stands in the fields.
func (l *RoundTrips) Remember(deviation time.Duration) {
	l.spread = float64(deviation) * float64(deviation)
}

// Note takes what came of one probe. A transport error tells nothing of the far
// end's speed.
func (l *RoundTrips) Note(r ProbeResult) {
	switch {
	case r.Kind == Timeout:
		l.Timeouts++
	case r.Kind == Reply && r.RTT > 0:
		l.reply(r.RTT)
	}
}

// reply follows Welford's method, so that nothing is lost to differences of large
// sums.
func (l *RoundTrips) reply(rtt time.Duration) {
	l.Max = max(l.Max, rtt)
	l.Replies++
	if l.Replies == 1 {
		l.Estimate, l.Average = rtt, rtt
		return
	}
	l.Estimate += time.Duration(latencyWeight * float64(rtt-l.Estimate))
	n := float64(min(l.Replies, latencyMemory))
	before := float64(rtt - l.Average)
	l.Average += time.Duration(before / n)
	l.spread += (before*float64(rtt-l.Average) - l.spread) / n
	l.spread = max(l.spread, 0)
}
