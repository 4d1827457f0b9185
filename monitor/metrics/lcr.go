package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Decisions are what this node knows of decision servers.
type Decisions struct {
	Plans         []DecisionPlan
	Kept, Octets  int    // answers that are kept, and their octets
	Evicted       uint64 // to make room
	Untold        uint64 // kept answers of which the other nodes do not know
	Useless       uint64 // answers of other nodes that are none
	LatencyBounds []float64
}

// DecisionPlan is the server of one route plan.
type DecisionPlan struct {
	Plan                    string
	Breaker                 string // closed, open, half_open
	Away                    bool
	Pending                 int
	Hits, Misses, Fallbacks uint64
	Results                 map[string]uint64
	Latency                 []uint64 // by bound, and beyond
	LatencySum              time.Duration
}

var (
	descLCRRequests  = desc("lcr_requests_total", "Questions to the decision server of a plan, by how they ended; busy and broken were not asked.", "plan", "result")
	descLCRTime      = desc("lcr_request_duration_seconds", "What questions to the decision server took.", "plan")
	descLCRHits      = desc("lcr_cache_hits_total", "Calls whose decision was kept from an earlier answer.", "plan")
	descLCRMisses    = desc("lcr_cache_misses_total", "Calls whose decision had to be asked for.", "plan")
	descLCRFallbacks = desc("lcr_fallbacks_total", "Calls that got the fallback group, since there was no decision.", "plan")
	descLCRBreaker   = desc("lcr_breaker_state", "1 for the state of the plan's breaker: open leaves the server alone.", "plan", "state")
	descLCRAway      = desc("lcr_server_away", "1 while the decision server brings no decisions.", "plan")
	descLCRPending   = desc("lcr_pending_requests", "Questions under way.", "plan")
	descLCRKept      = desc("lcr_cache_entries", "Decisions that are kept.")
	descLCRKeptBytes = desc("lcr_cache_bytes", "What they take, about.")
	descLCREvicted   = desc("lcr_cache_evicted_total", "Decisions that were let go early to make room.")
	descLCRUntold    = desc("lcr_cache_unshared_total", "Decisions that are kept here and that the other nodes could not be told.")
	descLCRUseless   = desc("lcr_cache_corrupt_total", "Decisions of other nodes that could not be read; whoever needs them asks.")
)

func (p page) decisions(d *Decisions) {
	for i := range d.Plans {
		x := &d.Plans[i]
		for result, n := range x.Results {
			p.counter(descLCRRequests, n, x.Plan, result)
		}
		p.counter(descLCRHits, x.Hits, x.Plan)
		p.counter(descLCRMisses, x.Misses, x.Plan)
		p.counter(descLCRFallbacks, x.Fallbacks, x.Plan)
		for _, state := range []string{"closed", "open", "half_open"} {
			p.flag(descLCRBreaker, x.Breaker == state, x.Plan, state)
		}
		p.flag(descLCRAway, x.Away, x.Plan)
		p.gauge(descLCRPending, float64(x.Pending), x.Plan)
		buckets, count := make(map[float64]uint64, len(d.LatencyBounds)), uint64(0)
		for j, n := range x.Latency {
			count += n
			if j < len(d.LatencyBounds) {
				buckets[d.LatencyBounds[j]] = count
			}
		}
		p.ch <- prometheus.MustNewConstHistogram(descLCRTime, count, x.LatencySum.Seconds(), buckets, x.Plan)
	}
	if len(d.Plans) == 0 {
		return
	}
	p.gauge(descLCRKept, float64(d.Kept))
	p.gauge(descLCRKeptBytes, float64(d.Octets))
	p.counter(descLCREvicted, d.Evicted)
	p.counter(descLCRUntold, d.Untold)
	p.counter(descLCRUseless, d.Useless)
}
