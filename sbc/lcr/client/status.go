package client

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Status is what is known of one plan's server.
type Status struct {
	Plan    string
	Server  *trunkgroup.DecisionServer
	Breaker lcr.BreakerState
	// Away: as many questions in a row as open the breaker brought no decision, the
	// first at Since; Why says what became of the last.
	Away  bool
	Since time.Time
	Why   string
	// Until is when an open breaker lets the next question through.
	Until           time.Time
	LastOK, LastBad time.Time // zero: never
	Pending         int

	Hits, Misses, Fallbacks uint64
	Results                 [results]uint64 // by Result
	Latency                 [len(LatencyBounds) + 1]uint64
	LatencySum              time.Duration
}

// Results lists all there are.
func Results() []Result {
	list := make([]Result, results)
	for i := range list {
		list[i] = Result(i)
	}
	return list
}

// Status tells of all plans, by name.
func (c *Client) Status() []Status {
	plans := *c.plans.Load()
	list := make([]Status, 0, len(plans))
	for _, p := range plans {
		list = append(list, p.status())
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.Plan, b.Plan) })
	return list
}

func (p *plan) status() Status {
	s := Status{
		Plan: p.name, Hits: p.hits.Load(), Misses: p.misses.Load(), Fallbacks: p.fallbacks.Load(),
		LatencySum: time.Duration(p.latency.nanos.Load()),
	}
	for i := range s.Results {
		s.Results[i] = p.results[i].Load()
	}
	for i := range s.Latency {
		s.Latency[i] = p.latency.counts[i].Load()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Server, s.Away, s.Pending, s.LastOK, s.LastBad = p.server, p.away, p.pending, p.lastOK, p.lastBad
	s.Breaker, _ = p.breaker.State()
	if p.bad > 0 {
		s.Since, s.Why = p.since, p.why
	}
	if s.Breaker == lcr.Open {
		s.Until = p.breaker.Until()
	}
	return s
}

// Cache tells of the answers that are kept.
func (c *Client) Cache() lcr.CacheStats { return c.cache.Stats() }

// Kept returns the answer that is kept for a query, when it was asked and until when
// it is good; nil for none. It counts nothing.
func (c *Client) Kept(q *Query) (set *trunkgroup.RouteSet, asked, until time.Time) {
	e, ok := c.cache.Look(q.key())
	if !ok || !time.Now().Before(e.Until) {
		return nil, time.Time{}, time.Time{}
	}
	return e.Set, e.Asked, e.Until
}

// Inquiry is what a server says to somebody who only wants to know.
type Inquiry struct {
	Result Result
	Why    string // of a failure
	Took   time.Duration
	Set    *trunkgroup.RouteSet // what a call would get, the fallback for one
	TTL    time.Duration        // how long it would be kept; 0: not
	Notes  []lcr.Note
}

// Inquire asks the server for an operator: whether it is left alone or not, and without
// a trace in what is kept or counted.
func (c *Client) Inquire(ctx context.Context, q *Query) Inquiry {
	s := q.Plan.Decision
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return Inquiry{Result: Unreachable, Why: errStopped.Error(), Set: &trunkgroup.RouteSet{Absent: true, Why: errStopped.Error()}}
	}
	c.wg.Add(1)
	c.mu.Unlock()
	defer c.wg.Done()
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	x := c.ask(ctx, s, q.request())
	out := Inquiry{Result: x.result, Why: x.why, Took: x.took}
	if x.result.failed() {
		out.Set = (&plan{}).without(s, x.why)
		return out
	}
	out.Set = &x.answer.Set
	out.Set.Source = trunkgroup.RoutesLive
	if len(x.names) > 0 {
		c.hosts.resolve(ctx, x.names)
		out.Set = lcr.Resolve(out.Set, c.hosts.addresses)
	}
	out.TTL, out.Notes = x.answer.Keep(s.CacheTTL), x.answer.Notes
	return out
}

// CacheEntry returns what is kept under a key, whether it is good or not.
func (c *Client) CacheEntry(k lcr.Key) (*lcr.Entry, bool) { return c.cache.Look(k) }
