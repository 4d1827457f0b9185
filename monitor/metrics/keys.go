package metrics

import "time"

// Keys is the state of this node's keys and certificates.
type Keys struct {
	// Ends is when each certificate that this node shows ends, by its use.
	Ends map[string]time.Time
	// Held is how many cluster keys the node holds; more than one means that a rotation is under way.
	Held int
	// TLS and Plain count the peers that are up by whether the stream to them is inside TLS.
	TLS, Plain int
	// Refused counts streams of others that were not taken, by reason.
	Refused map[string]uint64
}

var (
	descCertExpiry = desc("certificate_expiry_timestamp_seconds", "When a certificate that the node shows ends, as Unix time.", "use")
	descKeysHeld   = desc("cluster_keys_held", "Cluster keys that the node accepts; more than one while they are changed.")
	descStreams    = desc("interconnect_streams", "Streams of this node to peers that are up.", "security")
	descRefused    = desc("interconnect_refused_total", "Streams of other nodes, or of strangers, that were not taken.", "reason")
)

func (p page) keys(k Keys) {
	for use, end := range k.Ends {
		p.gauge(descCertExpiry, float64(end.Unix()), use)
	}
	p.gauge(descKeysHeld, float64(k.Held))
	p.gauge(descStreams, float64(k.TLS), "tls")
	p.gauge(descStreams, float64(k.Plain), "plain")
	for reason, n := range k.Refused {
		p.counter(descRefused, n, reason)
	}
}
