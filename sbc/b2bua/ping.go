package b2bua

import (
	"errors"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// PingOrder asks for one OPTIONS to a member at one of its addresses.
type PingOrder struct {
	// Token comes back with the result.
	Token uint64
	// Candidate is the member and its address.
	Candidate trunkgroup.Candidate
	// Until is the end of the prober's patience; zero means timer F.
	Until time.Time
}

// ping is an OPTIONS on its way.
type ping struct {
	s     *Shard
	token uint64
	sent  time.Time
}

// Ping sends an OPTIONS as a new transaction (RFC 3261 11). The result comes
// to Env.Pinged; the prober has its own, shorter patience.
func (s *Shard) Ping(now time.Time, order PingOrder) {
	s.now, s.hot = now, nil
	m := order.Candidate.Member
	addr := order.Candidate.Addr
	listener, ok := s.listener(m.Transport, addr.Addr())
	if !ok {
		s.env.Pinged(order.Token, PingResult{Err: transport.ErrNoListener})
		return
	}
	hop := transport.Target{Transport: m.Transport, Addr: addr, Listener: listener, ServerName: m.ServerName}
	host := memberHost(order.Candidate)
	o := outline{
		method: sip.OPTIONS, uri: "sip:" + host + m.Transport.URIParam(), seq: 1, token: s.newBranch(),
		from:   "<sip:ping@" + s.sentBy(hop) + ">;tag=" + strconv.FormatUint(s.env.Random(), 36),
		to:     "<sip:" + host + ">",
		callID: "ping-" + strconv.FormatUint(s.env.Random(), 36) + "-" + strconv.FormatUint(order.Token, 36),
		hop:    hop, contact: true, maxForwards: 70, lines: []byte(allowLine + acceptLine),
	}
	tx := s.send(&o, &ping{s: s, token: order.Token, sent: now})
	tx.until = order.Until
	s.settle(tx.token, tx)
}

func (p *ping) replied(_ *outgoing, m *sip.Message, err error) {
	r := PingResult{RTT: p.s.now.Sub(p.sent)}
	switch {
	case errors.Is(err, errTimeout):
	case m == nil:
		r.Err = err
	case m.Status() < 200:
		return
	default:
		r.Code = m.Status()
		r.RetryAfter = retryAfter(m)
	}
	p.s.env.Pinged(p.token, r)
}

// retryAfter reads Retry-After in seconds; comment and parameters do not
// matter (RFC 3261 20.33).
func retryAfter(m *sip.Message) time.Duration {
	v := m.Header(sip.RetryAfter)
	n := 0
	for n < len(v) && v[n] >= '0' && v[n] <= '9' {
		n++
	}
	seconds, err := strconv.ParseUint(string(v[:n]), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
