package b2bua

import (
	"slices"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/transport"
)

// This file is about the node by which a passed INVITE came: the caller's
// responses leave by its sockets until it goes.

// part tells the siblings that we end: they answer the callers themselves.
func (s *Shard) part() {
	for _, e := range s.passed {
		if !e.closed {
			s.env.ShareWith(e.node, Open{
				Key: e.open, CallHash: CallHash(s.seed, e.p.Message.CallID()), Branch: e.branch, State: OpenParted,
			})
		}
	}
}

// parted takes the news that the node by which an INVITE came ends.
func (s *Shard) parted(node string, key uint64) {
	if c, ok := s.invites[key]; ok && c.in != nil && c.in.reply.ViaNode == node {
		c.in.reply = s.direct(c.in.reply)
	}
}

// direct is a caller's address as this node reaches it by itself.
func (s *Shard) direct(t transport.Target) transport.Target {
	t.Listener = s.ownListener(t)
	t.ViaNode, t.ViaSocket, t.Flow = "", nil, 0
	return t
}

// ownListener is the listener of ours that stands for the one of another node by
// which a message came: nodes may list theirs in another order. -1 is none.
func (s *Shard) ownListener(t transport.Target) int {
	ip := t.Addr.Addr()
	if i := t.Listener; i >= 0 && i < len(s.cfg.Listeners) {
		if l := s.cfg.Listeners[i]; l.Transport == t.Transport && l.IPv6 == (ip.Is6() && !ip.Is4In6()) {
			return i
		}
	}
	if i, ok := s.listener(t.Transport, ip); ok {
		return i
	}
	return -1
}

// loseRelay takes the loss of a node by which INVITEs came. It may live, and takes
// up itself what nobody has answered: that is given up here, for two nodes must
// not ring for one caller. An answer finds its own way.
func (s *Shard) loseRelay(node string) {
	var lost []*Call
	for c := range s.calls {
		switch {
		case c.phase == hunting && c.in != nil && c.in.reply.ViaNode == node:
			lost = append(lost, c)
		case c.answerTo.ViaNode == node:
			c.answerTo = s.direct(c.answerTo)
		}
	}
	slices.SortFunc(lost, func(a, b *Call) int { return strings.Compare(a.id, b.id) })
	for _, c := range lost {
		s.hot = c
		c.giveUp(causePeerLost)
	}
	s.hot = nil
	// The relay, if it lives, has begun the call anew: our last word about it must
	// not reach the caller behind its own.
	s.linger.Silence(func(t transport.Target) bool { return t.ViaNode == node })
}
