package metrics

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Group counts the calls of one trunk group.
type Group struct {
	name   string
	active [directions]atomic.Int64
	calls  [directions][results]atomic.Uint64
	pdd    [directions]prometheus.Observer
	setup  [directions]prometheus.Observer
	talk   [directions]prometheus.Observer

	answers answers
	places  *finalPlaces
}

// Started counts a call that begins.
func (g *Group) Started(d Direction) { g.active[d].Add(1) }

// Ended counts a call that ends. talk is the answered time, zero when it was not answered.
func (g *Group) Ended(d Direction, r Result, talk time.Duration) {
	g.active[d].Add(-1)
	g.calls[d][r].Add(1)
	if r == Answered {
		g.talk[d].Observe(talk.Seconds())
	}
}

// PDD takes a post-dial delay: INVITE to the first 18x or 2xx (RFC 6076 section 4.3, session request delay).
func (g *Group) PDD(d Direction, v time.Duration) { g.pdd[d].Observe(v.Seconds()) }

// Setup takes the time from INVITE to 2xx.
func (g *Group) Setup(d Direction, v time.Duration) { g.setup[d].Observe(v.Seconds()) }

// Active is the number of calls up.
func (g *Group) Active(d Direction) int64 { return g.active[d].Load() }

// Member counts the attempts to one member.
type Member struct {
	labels   [3]string // group, member, site
	attempts [classes]atomic.Uint64
	faults   [faults]atomic.Uint64
	calls    atomic.Int64
}

// Enter counts a call that goes to the member, until Leave.
func (m *Member) Enter() { m.calls.Add(1) }

// Leave takes a call of Enter back.
func (m *Member) Leave() { m.calls.Add(-1) }

// Calls is how many calls are with it by Enter.
func (m *Member) Calls() int64 { return m.calls.Load() }

// Attempt counts one attempt that is over.
func (m *Member) Attempt(c Class) { m.attempts[c].Add(1) }

// Fault counts whose doing its end was.
func (m *Member) Fault(f Fault) { m.faults[f].Add(1) }

// Handles are the counters of all groups and members of one table, by their index.
type Handles struct {
	calls   *calls
	table   *trunkgroup.Table
	groups  []*Group
	members []*Member
}

// Group returns the counters of a group; those of "unknown" for nil, and the right ones by name for a group of another table.
func (h *Handles) Group(g *trunkgroup.Group) *Group {
	switch {
	case g == nil:
		return h.calls.unknown
	case g.Index < len(h.groups) && h.groups[g.Index].name == g.Name:
		return h.groups[g.Index]
	}
	return h.calls.group(g.Name)
}

// Member returns the counters of a member, also of one of another table.
func (h *Handles) Member(m *trunkgroup.Member) *Member {
	if list := h.table.Members(); m.Index < len(list) && (list[m.Index] == m || list[m.Index].Key == m.Key && list[m.Index].Site == m.Site) {
		return h.members[m.Index]
	}
	return h.calls.member(m)
}

// ForTable makes the handles of a table. Counters of groups and members that were there before go on.
func (m *Metrics) ForTable(t *trunkgroup.Table) *Handles {
	h := &Handles{calls: m.calls, table: t}
	for _, g := range t.Groups() {
		h.groups = append(h.groups, m.calls.group(g.Name))
	}
	for _, member := range t.Members() {
		h.members = append(h.members, m.calls.member(member))
	}
	return h
}

// maxMembers bounds the member series where nobody has said how many; further members share the label "other" in their group and site.
const maxMembers = 10_000

// maxHistograms bounds the groups with histograms of their own, ninety series each; further groups share those of the label "other".
const maxHistograms = 1000

// calls keeps the counters by name and shows them.
type calls struct {
	pdd, setup, talk *prometheus.HistogramVec
	unknown          *Group
	places           *finalPlaces
	max              int // members with series of their own

	mu      sync.Mutex
	groups  map[string]*Group
	members map[[3]string]*Member
}

var (
	descActive   = desc("calls_active", "Calls up, also those that still ring.", "direction", "trunk_group")
	descCalls    = desc("calls_total", "Calls that ended, by how.", "direction", "trunk_group", "result")
	descAttempts = desc("route_attempts_total", "B-leg attempts that ended, by what came of them; not_dialed ones put no INVITE on the wire.",
		"trunk_group", "member", "site", "class")
)

func newCalls(r prometheus.Registerer, maxMembers int) *calls {
	histogram := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets},
			[]string{"direction", "trunk_group"})
		r.MustRegister(v)
		return v
	}
	c := &calls{
		pdd: histogram("call_post_dial_delay_seconds", "INVITE to the first 18x or 2xx that the caller got.",
			.05, .1, .25, .5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30),
		setup: histogram("call_setup_seconds", "INVITE to the 2xx that the caller got.", .1, .25, .5, 1, 2, 5, 10, 15, 20, 30, 45, 60, 120),
		talk: histogram("call_duration_seconds", "2xx to the end of answered calls.",
			1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400),
		places:  newFinalPlaces(),
		max:     maxMembers,
		groups:  make(map[string]*Group),
		members: make(map[[3]string]*Member),
	}
	c.unknown = c.group("unknown")
	r.MustRegister(c)
	return c
}

func (c *calls) group(name string) *Group {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.groups[name]
	if g == nil {
		g = &Group{name: name, places: c.places}
		label := name
		if len(c.groups) >= maxHistograms {
			label = "other"
		}
		for d := range directions {
			g.pdd[d] = c.pdd.WithLabelValues(d.String(), label)
			g.setup[d] = c.setup.WithLabelValues(d.String(), label)
			g.talk[d] = c.talk.WithLabelValues(d.String(), label)
		}
		c.groups[name] = g
	}
	return g
}

func (c *calls) member(m *trunkgroup.Member) *Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [3]string{m.Group.Name, m.ID, m.Site}
	if c.members[key] == nil && len(c.members) >= c.max {
		key[1] = "other"
	}
	counters := c.members[key]
	if counters == nil {
		counters = &Member{labels: key}
		c.members[key] = counters
	}
	return counters
}

// Describe implements prometheus.Collector.
func (c *calls) Describe(ch chan<- *prometheus.Desc) {
	ch <- descActive
	ch <- descCalls
	ch <- descAttempts
	ch <- descFaults
	ch <- descAnswers
}

// Collect implements prometheus.Collector. Attempts show the classes that happened only: most members never see most of them.
func (c *calls) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, g := range c.groups {
		g.collectAnswers(ch)
		for d := range directions {
			ch <- prometheus.MustNewConstMetric(descActive, prometheus.GaugeValue, float64(g.active[d].Load()), d.String(), name)
			for r := range results {
				ch <- prometheus.MustNewConstMetric(descCalls, prometheus.CounterValue, float64(g.calls[d][r].Load()), d.String(), name, r.String())
			}
		}
	}
	for _, m := range c.members {
		for class := range classes {
			if n := m.attempts[class].Load(); n > 0 {
				ch <- prometheus.MustNewConstMetric(descAttempts, prometheus.CounterValue, float64(n), m.labels[0], m.labels[1], m.labels[2], class.String())
			}
		}
		for fault := range faults {
			if n := m.faults[fault].Load(); n > 0 {
				ch <- prometheus.MustNewConstMetric(descFaults, prometheus.CounterValue, float64(n), m.labels[0], m.labels[1], m.labels[2], fault.String())
			}
		}
	}
}
