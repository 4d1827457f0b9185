package metrics

// Connections is what a node has of stream connections for SIP, both directions.
type Connections struct {
	Open   map[string]int64  // by transport
	Failed map[string]uint64 // by reason
}

var (
	descConnections      = desc("sip_connections", "Stream connections for SIP that are open, both directions.", "transport")
	descConnectionsEnded = desc("sip_connection_failures_total", "Stream connections for SIP that came to nothing or were cut off, by reason.", "reason")
)

func (p page) connections(c Connections) {
	for transport, n := range c.Open {
		p.gauge(descConnections, float64(n), transport)
	}
	for reason, n := range c.Failed {
		p.counter(descConnectionsEnded, n, reason)
	}
}
