package b2bua

import (
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// youngInvite is the age below which an INVITE with another branch is a fork
// and not a caller's failover (DEC-03).
const youngInvite = time.Second

// openTTL drops what another node has told and never taken back.
const openTTL = 3 * time.Minute

// openEntry is another node's open INVITE.
type openEntry struct {
	node     string
	branch   uint64
	since    time.Time // by our own clock
	progress bool
}

// openKeys are the keys under which a call is known to other nodes.
type openKeys struct {
	key, callHash, branch uint64
	shared                bool
}

// known settles an INVITE that this cluster has open already, row by row of
// DEC-03. It reports true when the packet needs nothing more.
func (s *Shard) known(p *Packet, key uint64) bool {
	m := p.Message
	open := s.openKey(m)
	if c, ok := s.invites[open]; ok && c.in != nil {
		// Another branch at the owner itself: a fork that joined again
		// (RFC 3261 8.2.2.2).
		s.reject(p, key, 482, "")
		return true
	}
	e, ok := s.open[open]
	if !ok {
		return false
	}
	if !s.env.Up(e.node) || s.now.Sub(e.since) > openTTL {
		delete(s.open, open)
		return false
	}
	if e.branch == s.branchHash(m) {
		if p.Relay != "" {
			// Whoever passes it on knows that the other node is lost.
			delete(s.open, open)
			return false
		}
		// A retransmission: the owner answers it, we say nothing.
		s.env.Forward(e.node, p)
		return true
	}
	if e.progress || s.now.Sub(e.since) < youngInvite {
		s.holdInvite(p, key, open)
		return true
	}
	// The caller has given up on that node and comes to us.
	s.env.ShareWith(e.node, Open{Key: open, CallHash: CallHash(s.seed, m.CallID()), State: OpenGiveUp})
	delete(s.open, open)
	return false
}

func (s *Shard) branchHash(m *sip.Message) uint64 { return hash2(s.seed, m.Branch(), nil) }

// share tells the other nodes that this INVITE is open here.
func (c *Call) share(nonce auth.Use) {
	s, m := c.s, c.msg
	c.openAt = openKeys{key: s.openKey(m), callHash: CallHash(s.seed, m.CallID()), branch: s.branchHash(m), shared: true}
	if c.token.yes {
		// Known by the call id, in every shard: another node may be asked
		// under another SIP dialog.
		c.openAt.key, c.openAt.callHash = s.handoffKey(c.id), 0
	}
	s.invites[c.openAt.key] = c
	s.env.Share(Open{Key: c.openAt.key, CallHash: c.openAt.callHash, Branch: c.openAt.branch, State: OpenBegun, Nonce: nonce})
}

func (c *Call) shareState(state OpenState) {
	if !c.openAt.shared {
		return
	}
	c.s.env.Share(Open{Key: c.openAt.key, CallHash: c.openAt.callHash, Branch: c.openAt.branch, State: state})
	if state == OpenClosed {
		c.openAt.shared = false
		if c.s.invites[c.openAt.key] == c {
			delete(c.s.invites, c.openAt.key)
		}
	}
}

// Shared takes what another node tells of an open INVITE.
func (s *Shard) Shared(now time.Time, node string, o Open) {
	s.now, s.hot = now, nil
	if s.cfg.Verifier != nil {
		s.cfg.Verifier.Observe(now, o.Nonce)
	}
	s.passedNews(node, o)
	switch o.State {
	case OpenBegun:
		s.sweepOpen()
		if len(s.open) < s.cfg.MaxOpen {
			s.open[o.Key] = openEntry{node: node, branch: o.Branch, since: now}
		}
	case OpenProgress:
		if e, ok := s.open[o.Key]; ok && e.node == node {
			e.progress = true
			s.open[o.Key] = e
		}
	case OpenClosed:
		if e, ok := s.open[o.Key]; ok && e.node == node {
			delete(s.open, o.Key)
			if o.CallHash == 0 && e.progress && len(s.done) < s.cfg.MaxOpen {
				s.done[o.Key] = now.Add(s.cfg.Timers.Life())
			}
			s.releaseInvites(o.Key)
		}
	case OpenParted:
		s.parted(node, o.Key)
	case OpenGiveUp:
		if c, ok := s.invites[o.Key]; ok && c.phase == hunting {
			c.cancel()
		}
	}
}

// NodeLost takes the news that the stream to a node has ended. Its open INVITEs
// are forgotten: the same INVITE is then an ordinary new call. What was on its
// way to the node or from there will not arrive.
func (s *Shard) NodeLost(now time.Time, node string) {
	s.now, s.hot = now, nil
	s.loseHalves(node)
	for _, key := range s.forgetOpen(node) {
		s.releaseInvites(key)
	}
	s.loseRelay(node)
	s.losePassed(node)
}

// forgetOpen drops the open INVITEs of a node and returns those that another one
// waits for here, in a fixed order.
func (s *Shard) forgetOpen(node string) (waited []uint64) {
	for key, e := range s.open {
		if e.node != node {
			continue
		}
		delete(s.open, key)
		if s.held[key] != nil {
			waited = append(waited, key)
		}
	}
	slices.Sort(waited)
	return waited
}

// sweepOpen drops, now and then, the entries that nobody closed in time.
func (s *Shard) sweepOpen() {
	if s.now.Before(s.swept.Add(openTTL / 4)) {
		return
	}
	s.swept = s.now
	for key, e := range s.open {
		if s.now.Sub(e.since) > openTTL {
			delete(s.open, key)
		}
	}
	for key, until := range s.done {
		if !s.now.Before(until) {
			delete(s.done, key)
		}
	}
}
