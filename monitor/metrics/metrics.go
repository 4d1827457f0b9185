package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Info says what runs and where.
type Info struct {
	Version  string
	Revision string
	Go       string
	Cluster  string
	Site     string
	Node     string
	Role     string // "node" or "witness"
	// MaxMembers bounds the members that have series of their own; 0 = maxMembers.
	MaxMembers int
}

// Metrics holds all counters of a node. Its methods may be called from any goroutine.
type Metrics struct {
	registry  *prometheus.Registry
	calls     *calls
	rare      *rare
	failovers *failovers
	applies   prometheus.Histogram

	mu  sync.Mutex
	sip []*SIP
}

// New makes the metrics of a node. sources says where the state of others is read.
func New(info Info, sources Sources) *Metrics {
	if info.MaxMembers <= 0 {
		info.MaxMembers = maxMembers
	}
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.calls = newCalls(m.registry, info.MaxMembers)
	m.rare = newRare(m.registry)
	m.failovers = newFailovers(m.registry)
	m.applies = newApplies(m.registry)
	m.registry.MustRegister(
		constant("build_info", "What was built; always 1.", prometheus.Labels{"version": info.Version, "revision": info.Revision, "goversion": info.Go}),
		constant("node_info", "Who this node is; always 1.",
			prometheus.Labels{"cluster": info.Cluster, "site": info.Site, "node": info.Node, "role": info.Role}),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&sipCollector{m},
		&transactionCollector{m},
		&sourceCollector{sources, info.MaxMembers},
	)
	return m
}

// Handler serves the page.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Gatherer gives the metrics to tests and to other forms of export.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Gauge adds a gauge that is read when the page is asked for. name has no prefix. It panics when the name is taken: that is a fault of the
// program.
func (m *Metrics) Gauge(name, help string, labels map[string]string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: labels}, read))
}

const namespace = "tandem"

func constant(name, help string, labels prometheus.Labels) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: labels})
	g.Set(1)
	return g
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(namespace+"_"+name, help, labels, nil)
}
