package simulation

import (
	"math/rand/v2"
	"time"
)

// plan is what a seed decides before anything happens.
type plan struct {
	shards             int
	lan, wan           time.Duration
	loss, double, late float64 // of datagrams; loss delays streams too
	clocks             [5]clock
	calls              int
	begin, pace, talk  time.Duration
	calm               bool // nothing breaks
	limited            bool // the documents have limits
	// trouble is when things break, all of which is mended by its end.
	trouble span
	faults  int
}

const (
	// warmUp is what the cluster gets to find itself before the first call.
	warmUp = 15 * time.Second
	// settle is what everything gets to come to its end, from the end of the
	// trouble and of the last call on: a callee's patience, 64*T1 twice, and
	// the time after which the other half of a lost call is given up.
	settle = 170 * time.Second
	// gone bounds how long a fault lasts.
	gone = 40 * time.Second
)

func drawPlan(r *rand.Rand) plan {
	p := plan{
		shards: 1 + r.IntN(2), lan: time.Millisecond, wan: between(r, 5*time.Millisecond, 80*time.Millisecond),
		calls: 60 + r.IntN(21), begin: warmUp, pace: between(r, 300*time.Millisecond, 1500*time.Millisecond),
		talk: between(r, 5*time.Second, 30*time.Second),
	}
	for i := range p.clocks {
		p.clocks[i] = clock{offset: between(r, -5*time.Minute, 5*time.Minute), drift: r.Int64N(20_001) - 10_000}
	}
	switch r.IntN(4) {
	case 0: // a good network
	case 1:
		p.loss = 0.05 * r.Float64()
	case 2:
		p.double, p.late = 0.1, 0.2
	case 3:
		p.loss, p.double, p.late = 0.1*r.Float64(), 0.05, 0.05
	}
	end := p.begin + time.Duration(p.calls)*p.pace
	p.trouble = span{p.begin, max(end, p.begin+time.Minute)}
	p.calm, p.limited = r.IntN(8) == 0, r.IntN(4) == 0
	if !p.calm {
		p.faults = 1 + r.IntN(10)
	}
	return p
}

// end is when the run is over.
func (p *plan) end() time.Duration { return p.trouble.to + p.talk + settle }
