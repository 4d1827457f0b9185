package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Failover is one time that a call went on to somebody else because of what came before.
type Failover struct {
	Scope     string // member, group or site: how far it had to go
	Direction Direction
	From, To  string // trunk groups; empty for a next hop that is in no group
	// FromSite and ToSite differ for the scope site alone.
	FromSite, ToSite string
	Reason           string // one of a fixed set of words
}

const (
	// maxFailovers bounds the series of failovers; those beyond share "other" in the place of their groups.
	maxFailovers = 10_000
	// otherName stands for what has no series of its own.
	otherName = "other"
	// noGroup is the label of who is in no group.
	noGroup = "none"
)

// failovers counts them, and how long calls had taken until then.
type failovers struct {
	counts *cached[Failover]
	series atomic.Int64
	delay  *prometheus.HistogramVec
}

func newFailovers(r prometheus.Registerer) *failovers {
	f := &failovers{
		counts: newCached(r, "failovers_total", "Times that a call went on to somebody else because of what came before.", func(f Failover) []string {
			return []string{f.Scope, f.Direction.String(), f.From, f.To, f.FromSite, f.ToSite, f.Reason}
		}, "scope", "direction", "trunk_group", "to_trunk_group", "from_site", "to_site", "reason"),
		delay: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "failover_delay_seconds",
			Help:    "INVITE of the caller to the INVITE to whom the call then reached, of calls that rang or were answered after a failover.",
			Buckets: []float64{.005, .025, .05, .1, .25, .5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 60},
		}, []string{"scope", "to_site"}),
	}
	r.MustRegister(f.delay)
	return f
}

// Failover counts one.
func (m *Metrics) Failover(f Failover) {
	if f.From == "" {
		f.From = noGroup
	}
	if f.To == "" {
		f.To = noGroup
	}
	all := m.failovers
	if _, known := all.counts.children.Load(f); !known && all.series.Add(1) > maxFailovers {
		f.From, f.To = otherName, otherName
	}
	all.counts.add(f)
}

// FailoverDelay takes what a call lost until its INVITE left to whom it reached after a failover.
func (m *Metrics) FailoverDelay(scope, toSite string, d time.Duration) {
	m.failovers.delay.WithLabelValues(scope, toSite).Observe(d.Seconds())
}
