package interconnect

import "time"

// RTT estimates the round-trip time of a stream and its variation as RFC 6298
// section 2 does. The zero value has no sample.
type RTT struct {
	smoothed  time.Duration
	variation time.Duration
}

// Sample takes one measured round trip.
func (r *RTT) Sample(rtt time.Duration) {
	if rtt < 0 {
		return
	}
	if r.smoothed == 0 {
		// "When the first RTT measurement R is made: SRTT <- R, RTTVAR <- R/2"
		r.smoothed, r.variation = max(rtt, 1), rtt/2
		return
	}
	// "RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|", beta = 1/4, before
	// "SRTT <- (1 - alpha) * SRTT + alpha * R'", alpha = 1/8.
	r.variation += ((r.smoothed - rtt).Abs() - r.variation) / 4
	r.smoothed = max(r.smoothed+(rtt-r.smoothed)/8, 1)
}

// Smoothed returns srtt, 0 before the first sample.
func (r *RTT) Smoothed() time.Duration { return r.smoothed }

// Bound returns srtt + 4 x rttvar, the time within which an answer is due.
func (r *RTT) Bound() time.Duration { return r.smoothed + 4*r.variation }
