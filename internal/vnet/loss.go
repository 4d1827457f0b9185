package vnet

import "time"

// How a stream behaves on a lossy link (RFC 6298 with the least timeout of
// common kernels, RFC 9293 section 3.8.3 for a connect).
const (
	packetOctets   = 1448
	leastRTO       = 200 * time.Millisecond
	greatestRTO    = 120 * time.Second
	firstConnect   = time.Second
	mostRetries    = 15
	connectRetries = 6
)

// lateBy draws by how much a write of that many octets comes late: the worst of
// its packets, each of which is sent again after one timeout, then twice that,
// until it gets through. The caller holds mu.
func (n *Network) lateBy(h *half, octets int) time.Duration {
	there, back := h.link(), n.links[[2]string{h.to.zone, h.from.zone}]
	if there.loss == 0 {
		return 0
	}
	var worst time.Duration
	for left := max(octets, 1); left > 0; left -= packetOctets {
		worst = max(worst, n.lostFor(there.loss, there.delay+back.delay+leastRTO, mostRetries))
	}
	return worst
}

// connectLateBy draws by how much a connect comes late whose first packet and
// its answer may be lost. The caller holds mu.
func (n *Network) connectLateBy(there, back link) time.Duration {
	share := 1 - (1-there.loss)*(1-back.loss)
	return n.lostFor(share, firstConnect, connectRetries)
}

// lostFor is how long a packet is sent in vain.
func (n *Network) lostFor(share float64, timeout time.Duration, retries int) (late time.Duration) {
	if share == 0 {
		return 0
	}
	for range retries {
		if n.random.Float64() >= share {
			break
		}
		late += timeout
		timeout = min(2*timeout, greatestRTO)
	}
	return late
}
