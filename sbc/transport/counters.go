package transport

import (
	"sync/atomic"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Counters counts what the sockets of a Set did. All but Open only grow. Fields may be read at any time.
type Counters struct {
	Received [transports]atomic.Uint64 // messages, by transport; faulty ones too
	Sent     [transports]atomic.Uint64 // messages that left, by transport
	Failed   [transports]atomic.Uint64 // messages reported to Handler.Failed, by transport; ICMP not counted here
	ICMP     atomic.Uint64             // datagrams that came back as an ICMP error
	Dropped  atomic.Uint64             // datagrams that the full send buffer of a socket refused
	Pings    atomic.Uint64             // keep-alives received

	Panics atomic.Uint64 // panics caught while reading: a defect of ours that one message found

	FaultSilent  atomic.Uint64 // gate verdicts without an answer
	Fault400     atomic.Uint64 // gate verdicts by code
	Fault416     atomic.Uint64
	Fault501     atomic.Uint64
	Fault505     atomic.Uint64
	Fault513     atomic.Uint64
	FaultFraming atomic.Uint64 // verdicts that close a stream, counted beside their code

	Open         atomic.Int64             // stream connections now open, both directions
	OpenBy       [transports]atomic.Int64 // the same by transport
	Accepted     atomic.Uint64            // connections accepted
	Dialled      atomic.Uint64            // connections dialled with success
	DialFailed   atomic.Uint64            // dials refused, timed out or failed in the handshake
	Resent       atomic.Uint64            // requests sent again over a fresh connection
	Capped       atomic.Uint64            // connections refused, or not dialled, by MaxConns or MaxConnsPerSource
	Expired      atomic.Uint64            // connections closed by a deadline
	NotUpgraded  atomic.Uint64            // connections to a WS or WSS listener that did not become a WebSocket of SIP
	AcceptErrors atomic.Uint64            // failures of accept, such as no descriptors left
}

// transports is the size of a counter array indexed by transport.
const transports = int(trunkgroup.WSS) + 1

// opened counts connections that begin, or end with n = -1.
func (c *Counters) opened(t trunkgroup.Transport, n int64) {
	c.Open.Add(n)
	c.OpenBy[t].Add(n)
}

// fault counts a verdict.
func (c *Counters) fault(code int, closes bool) {
	switch code {
	case 0:
		c.FaultSilent.Add(1)
	case 416:
		c.Fault416.Add(1)
	case 501:
		c.Fault501.Add(1)
	case 505:
		c.Fault505.Add(1)
	case 513:
		c.Fault513.Add(1)
	default:
		c.Fault400.Add(1)
	}
	if closes {
		c.FaultFraming.Add(1)
	}
}

// Faults calls fn for every verdict code and its count; code 0 is silence.
func (c *Counters) Faults(fn func(code int, n uint64)) {
	fn(0, c.FaultSilent.Load())
	fn(400, c.Fault400.Load())
	fn(416, c.Fault416.Load())
	fn(501, c.Fault501.Load())
	fn(505, c.Fault505.Load())
	fn(513, c.Fault513.Load())
}
