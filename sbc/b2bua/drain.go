package b2bua

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DrainOrder says what a shard does while its node drains (DEC-19). The zero
// value serves as ever. Phase 3 is Shutdown.
type DrainOrder struct {
	// Announce, phase 1 and 2: an OPTIONS is answered 503.
	Announce bool
	// Pass, phase 2: new INVITEs go to one of Siblings.
	Pass bool
	// Refuse, at the end of phase 2: of the new INVITEs those over TCP and TLS get
	// 503 instead, since their answers would need this process.
	Refuse bool
	// Siblings are the nodes of this site that are up, take calls, do not
	// drain, and know what a passed INVITE is. None: calls are taken here.
	Siblings []string
}

// Drain takes the order in force from now on. It comes again whenever the
// siblings change.
func (s *Shard) Drain(now time.Time, o DrainOrder) {
	s.now, s.hot = now, nil
	s.drain = o
}

// LastInvite returns when a caller began the last call here; zero for never.
// Hand-offs and what siblings pass on do not count: nodes know of the drain.
func (s *Shard) LastInvite() time.Time { return s.lastInvite }

// noteInvite remembers when callers began calls.
func (s *Shard) noteInvite(p *Packet) {
	if p.Peer == "" && p.Relay == "" {
		s.lastInvite = s.now
	}
}

// pass gives a new INVITE to a sibling, with where it came from: the sibling's
// own checks and its own Contact hold, the call is not ours for a moment. It uses
// no hop of a hand-off. Its repetitions follow it, whatever the node does by then.
// It reports false when the call is to be taken here.
func (s *Shard) pass(p *Packet, key uint64) bool {
	if p.Peer != "" || p.Relay != "" || len(s.passed) == 0 && !s.drain.Pass {
		return false
	}
	open := s.openKey(p.Message)
	if e := s.passed[open]; e != nil && (!e.closed || e.branch == s.branchHash(p.Message)) {
		if !s.env.Forward(e.node, p) && !e.closed {
			e.lose()
		}
		return true
	}
	if !s.drain.Pass || len(s.passed) >= s.cfg.MaxOpen || !callsBack(p) {
		return false
	}
	if s.drain.Refuse && p.Transport != trunkgroup.UDP {
		s.reject(p, key, 503, "")
		return true
	}
	if old := s.passed[open]; old != nil {
		old.drop()
	}
	e := &passedInvite{s: s, p: *p, key: key, open: open, branch: s.branchHash(p.Message)}
	return e.next()
}

// callsBack tells whether another node can reach the caller: always over UDP;
// over TCP and TLS, whose connection stays with this node, when the caller says
// where it listens and no NAT is in between.
func callsBack(p *Packet) bool {
	if p.Transport == trunkgroup.UDP {
		return true
	}
	target, ok := targetOf(p.Message.Header(sip.Contact))
	if route := p.Message.Header(sip.RecordRoute); ok && len(route) > 0 {
		target = uriOf(string(route))
	}
	u, err := sip.ParseURI([]byte(target))
	if !ok || err != nil {
		return false
	}
	ip, err := netip.ParseAddr(string(bytes.Trim(u.Host, "[]")))
	return err == nil && ip.Unmap() == p.Source.Addr().Unmap()
}

// sibling chooses by rendezvous, so that what belongs to one call goes to one
// node also before that node's news are here.
func (s *Shard) sibling(callID []byte, not []string) string {
	call, best, node := CallHash(s.seed, callID), uint64(0), ""
	for _, n := range s.drain.Siblings {
		if slices.Contains(not, n) {
			continue
		}
		var d xxhash.Digest
		d.ResetWithSeed(call)
		_, _ = d.WriteString(n)
		if h := d.Sum64(); node == "" || h > best {
			best, node = h, n
		}
	}
	return node
}

// followPassed sends an ACK or a CANCEL after the INVITE that was passed.
func (s *Shard) followPassed(p *Packet) bool {
	if len(s.passed) == 0 || p.Relay != "" || p.Peer != "" {
		return false
	}
	e := s.passed[s.openKey(p.Message)]
	return e != nil && s.env.Forward(e.node, p)
}

// returned gives an INVITE that a sibling passed to us back: we stop as well, have
// no table yet, or no listener like the one by which it came, whose address our
// Contact would name.
func (s *Shard) returned(p *Packet) bool {
	m := p.Message
	if m.Method() != sip.INVITE || p.Relay == "" {
		return false
	}
	if table, _ := s.env.Routing(); table != nil && !s.closing && s.ownListener(replyTo(p)) >= 0 {
		return false
	}
	s.env.ShareWith(p.Relay, Open{
		Key: s.openKey(m), CallHash: CallHash(s.seed, m.CallID()), Branch: s.branchHash(m), State: OpenReturned,
	})
	return true
}
