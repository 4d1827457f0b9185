package client

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Result is how a question ended.
type Result uint8

// The results.
const (
	Routed        Result = iota // with routes
	Rejected                    // the call is refused (S-012)
	NoRoute                     // with no routes (S-013)
	TimedOut                    // the deadline passed
	Unreachable                 // no connection, or it broke
	BadStatus                   // not 2xx
	Invalid                     // no answer of the contract (S-021)
	Misconfigured               // a variable is missing, or the address is none
	Busy                        // too many are under way: not asked
	Broken                      // the server is left alone: not asked
	results
)

var resultNames = [results]string{
	"routed", "rejected", "no_route", "timeout", "unreachable", "status", "invalid", "misconfigured", "busy", "broken",
}

// String names the result as metrics do.
func (r Result) String() string { return resultNames[r] }

// failed reports whether there is no decision.
func (r Result) failed() bool { return r >= TimedOut }

// LatencyBounds are those of the histogram of round trips, in seconds.
var LatencyBounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10}

// latency counts round trips; the last place is beyond all bounds.
type latency struct {
	counts [len(LatencyBounds) + 1]atomic.Uint64
	nanos  atomic.Int64
}

func (l *latency) add(d time.Duration) {
	at := 0
	for at < len(LatencyBounds) && d.Seconds() > LatencyBounds[at] {
		at++
	}
	l.counts[at].Add(1)
	l.nanos.Add(int64(d))
}

// plan is what is known of one plan's server. It outlives tables.
type plan struct {
	name string

	hits, misses, fallbacks atomic.Uint64
	results                 [results]atomic.Uint64
	latency                 latency
	// alone: the server says of its answers that they are good for one call, so that
	// nobody waits for the question of another.
	alone atomic.Bool

	mu      sync.Mutex
	server  *trunkgroup.DecisionServer // of the table in force
	breaker lcr.Breaker
	pending int
	bad     int       // questions in a row that brought no decision
	since   time.Time // of the first of them
	why     string    // what became of the last of them
	lastBad time.Time
	lastOK  time.Time
	away    bool // bad has passed the bound
	noted   time.Time
	unnoted int
}

// admit says whether a question may be asked. why says why not.
func (p *plan) admit(now time.Time, s *trunkgroup.DecisionServer) (trial bool, why Result, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending >= s.MaxPending {
		return false, Busy, false
	}
	ok, trial = p.breaker.Allow(now, s.Timeout)
	if !ok {
		return false, Broken, false
	}
	p.pending++
	return trial, 0, true
}

// ended takes the result of a question that was asked. It reports whether the server
// began to fail, or works again.
func (p *plan) ended(now time.Time, s *trunkgroup.DecisionServer, x *exchange, trial bool) (turned bool) {
	p.results[x.result].Add(1)
	p.latency.add(x.took)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending--
	if !p.has(s) {
		return false // this says nothing of the server that the plan has by now
	}
	switch {
	case !x.result.failed():
		p.breaker.Success()
		p.bad, p.since, p.lastOK = 0, time.Time{}, now
	case x.unsaid:
		p.breaker.Unsaid(now, trial)
		p.failed(now, x.why)
	default:
		p.breaker.Failure(now, trial, s.BreakAfter, s.BreakFor)
		p.failed(now, x.why)
	}
	was := p.away
	p.away = p.bad >= s.BreakAfter
	return was != p.away
}

// has reports whether a server is the one that the plan has now; the lock is held.
func (p *plan) has(s *trunkgroup.DecisionServer) bool {
	return p.server == nil || p.server.Edition == s.Edition
}

// learn notes whether the answers of a server are good for one call only.
func (p *plan) learn(s *trunkgroup.DecisionServer, alone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.has(s) {
		p.alone.Store(alone)
	}
}

func (p *plan) failed(now time.Time, why string) {
	if p.bad == 0 {
		p.since = now
	}
	p.bad++
	p.why, p.lastBad = why, now
}

// use takes the server of a new table. What was known of another one is forgotten.
func (p *plan) use(s *trunkgroup.DecisionServer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil && p.server.Edition != s.Edition {
		p.breaker.Success()
		p.bad, p.away, p.why, p.since = 0, false, "", time.Time{}
		p.alone.Store(false)
	}
	p.server = s
}

// without is what calls get when there is no decision (S-011, S-093).
func (p *plan) without(s *trunkgroup.DecisionServer, why string) *trunkgroup.RouteSet {
	if s.FallbackGroup == "" {
		return &trunkgroup.RouteSet{Absent: true, Why: why}
	}
	p.fallbacks.Add(1)
	return &trunkgroup.RouteSet{
		Routes: []trunkgroup.CarrierRoute{{CarrierID: "fallback:" + s.FallbackGroup, GatewayGroup: s.FallbackGroup}},
		Source: trunkgroup.RoutesFallback, Why: why,
	}
}
