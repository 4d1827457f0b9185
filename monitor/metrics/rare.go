package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// cached keeps the children of a counter by their labels, so that counting one looks nothing up under a lock.
type cached[K comparable] struct {
	vec      *prometheus.CounterVec
	labels   func(K) []string
	children sync.Map // K -> prometheus.Counter
}

func newCached[K comparable](r prometheus.Registerer, name, help string, labels func(K) []string, names ...string) *cached[K] {
	c := &cached[K]{labels: labels, vec: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, names)}
	r.MustRegister(c.vec)
	return c
}

func (c *cached[K]) add(k K) {
	child, ok := c.children.Load(k)
	if !ok {
		child, _ = c.children.LoadOrStore(k, c.vec.WithLabelValues(c.labels(k)...))
	}
	child.(prometheus.Counter).Inc()
}

// Handoff names one hand-off that is over, as the origin site sees it, or the peer.
type Handoff struct {
	From, To  string // sites
	Direction Direction
	Reason    string // why it was given away, such as no_active_member, no_response
	Result    string // accepted, refused, no_node, cancelled
}

// emergencyKey names a counter of emergency calls.
type emergencyKey struct{ group, rate string }

// probeKey names a probe counter.
type probeKey struct{ group, result string }

// rare holds counters of things that happen less than once per call or message.
type rare struct {
	handoffs   *cached[Handoff]
	rejections *cached[string]
	probes     *cached[probeKey]
	auth       *cached[string]
	passed     *cached[string]
	emergency  *cached[emergencyKey]
	accounts   *cached[accountKey]
	registers  *cached[string]
	routes     *cached[string]
	probeTime  *prometheus.HistogramVec
	stripped   prometheus.Counter
	loops      prometheus.Counter
	refused    prometheus.Counter
}

func newRare(r prometheus.Registerer) *rare {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	one := func(s string) []string { return []string{s} }
	c := &rare{
		handoffs: newCached(r, "handoffs_total", "Calls given to the peer site, by what came of it.", func(h Handoff) []string {
			return []string{h.From, h.To, h.Direction.String(), h.Reason, h.Result}
		}, "from_site", "to_site", "direction", "reason", "result"),
		rejections: newCached(r, "call_rejections_total", "Calls that this node refused before any attempt, by reason.", one, "reason"),
		auth:       newCached(r, "auth_failures_total", "Digest answers that were refused, by reason.", one, "reason"),
		routes:     newCached(r, "route_faults_total", "What of decided routes was not carried out, by reason.", one, "reason"),
		registers:  newCached(r, "registers_total", "REGISTERs, by what became of them.", one, "result"),
		passed:     newCached(r, "passed_invites_total", "INVITEs that a draining node passed to a sibling, by the sibling.", one, "peer"),
		emergency: newCached(r, "emergency_calls_total", "Emergency calls of identified callers, which no limit applies to, by whether their trunk group was within its rate.",
			func(k emergencyKey) []string { return []string{k.group, k.rate} }, "trunk_group", "rate"),
		probes: newCached(r, "trunk_member_probes_total", "OPTIONS sent to members, by what came of them.",
			func(k probeKey) []string { return []string{k.group, k.result} }, "trunk_group", "result"),
		accounts: newCached(r, "account_events_total", "Challenges of carriers, and calls to our registrations there, by what became of them.",
			func(k accountKey) []string { return []string{k.group, k.result} }, "trunk_group", "result"),
		probeTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "trunk_member_probe_duration_seconds", Help: "OPTIONS to its final response.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5},
		}, []string{"trunk_group"}),
		stripped: counter("handoff_headers_stripped_total", "Messages from outside that carried a header of ours, which was taken off."),
		loops:    counter("loops_prevented_total", "Calls that came back to us and were refused, or would have been handed back."),
		refused:  counter("config_refused_total", "Tables that were refused: of another cluster, older than the one in force, or not valid."),
	}
	r.MustRegister(c.probeTime)
	return c
}

// Handoff counts one.
func (m *Metrics) Handoff(h Handoff) { m.rare.handoffs.add(h) }

// Reject counts a call that was refused before any attempt. reason is one of a fixed set of words, never text of the message.
func (m *Metrics) Reject(reason string) { m.rare.rejections.add(reason) }

// AuthFailure counts a refused digest answer by the reason that package auth gives.
func (m *Metrics) AuthFailure(reason string) { m.rare.auth.add(reason) }

// RouteFault counts what of a route that was decided was not done. reason is one of a fixed set of words.
func (m *Metrics) RouteFault(reason string) { m.rare.routes.add(reason) }

// Passed counts an INVITE that went to a sibling because this node drains (DEC-19).
func (m *Metrics) Passed(peer string) { m.rare.passed.add(peer) }

// Emergency counts an emergency call of a group, and whether it was above the rate of which somebody is told (DEC-17).
func (m *Metrics) Emergency(group string, above bool) {
	k := emergencyKey{group, "within"}
	if above {
		k.rate = "above"
	}
	m.rare.emergency.add(k)
}

// HandoffHeaderStripped counts a header of ours that came from outside (DEC-08).
func (m *Metrics) HandoffHeaderStripped() { m.rare.stripped.Inc() }

// LoopPrevented counts a call that came back (P-15).
func (m *Metrics) LoopPrevented() { m.rare.loops.Inc() }

// ConfigRefused counts a table that was not put in force (DEC-14).
func (m *Metrics) ConfigRefused() { m.rare.refused.Inc() }

// Probe counts a probe; it is what monitor.Config.OnProbe wants.
func (m *Metrics) Probe(u prober.Update) {
	g := u.Target.Member.Group
	result, _ := u.Health.LastProbe()
	label := "ok"
	switch {
	case result.Kind == trunkgroup.Timeout:
		label = "timeout"
	case result.Kind == trunkgroup.TransportError:
		label = "transport_error"
	case !g.Monitoring.GoodReply(result.Code):
		label = "bad_reply"
	}
	m.rare.probes.add(probeKey{g.Name, label})
	if result.Kind == trunkgroup.Reply {
		m.rare.probeTime.WithLabelValues(g.Name).Observe(result.RTT.Seconds())
	}
}
