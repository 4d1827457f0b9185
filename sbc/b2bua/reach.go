package b2bua

import (
	"errors"
	"net/netip"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// This file is about far ends that one node alone can reach: what they say comes
// in there and belongs elsewhere, and their node or their connection may go.

// ErrNodeDown is what Shard.Failed gets for a request that another node should
// have sent and that did not get there.
var ErrNodeDown = errors.New("the node that reaches the far end is away")

// causeUnregistered ends a call that nobody registered could take.
const causeUnregistered = "UNREGISTERED"

// passResponse gives a response that no transaction here waits for to the node
// that made the From tag: it sent its request through us (DEC-15).
func (s *Shard) passResponse(p *Packet) {
	if p.Relay != "" || p.Peer != "" {
		return
	}
	id, ok := s.owner(p.Message.FromTag())
	if !ok || s.cfg.Minter.Here(id) {
		return
	}
	if st, known := s.env.Peer(id.Node); known && st.Up && st.Boot == id.Boot {
		s.env.Forward(st.Name, p)
	}
}

// loseRoutes takes the loss of a node through which requests of ours went. What
// is inside a dialog may find another way; an attempt is over, and should its far
// end ring all the same, what it says later is cleaned up (DEC-02).
func (s *Shard) loseRoutes(node string) {
	for _, token := range s.clientsBy(func(t transport.Target) bool { return t.ViaNode == node }) {
		switch tx := s.client[token].(type) {
		case nil:
		case *inviteTx:
			s.hot = tx
			if tx.id.leg == nil || tx.provisional || tx.moved {
				tx.gone(errNodeLost)
			} else {
				tx.failed(ErrNodeDown)
			}
		default:
			s.hot = tx
			tx.failed(ErrNodeDown)
		}
	}
}

// lostCause is the cause of an attempt to a binding that its transport failed.
func lostCause(b *trunkgroup.Binding, err error) string {
	switch {
	case errors.Is(err, ErrNodeDown), errors.Is(err, errNodeLost):
		return trunkgroup.CauseNodeDown
	case b.Reach == trunkgroup.ReachFlow && !errors.Is(err, errTimeout):
		return trunkgroup.CauseFlowGone
	}
	return failureCause(err)
}

// unregistered tells whether the hunt, in both sites, met nobody but far ends
// that are not registered or cannot be reached: then the caller hears that the
// subscriber is away and not that we failed (DEC-15).
func unregistered(attempts []hunt.Attempt) bool {
	for i := range attempts {
		switch attempts[i].Cause {
		case trunkgroup.CauseUnregistered, trunkgroup.CauseNodeDown, trunkgroup.CauseFlowGone, trunkgroup.CauseUserGone:
		default:
			return false
		}
		if attempts[i].Final {
			return false
		}
	}
	return len(attempts) > 0
}

// failHunt gives the caller our final response to a hunt that found nobody.
func (c *Call) failHunt(code int, cause string) {
	c.fail(failureOf(c.seq.Attempts(), code, cause))
}

// failureOf is our final response to a hunt that found nobody, in the words of the
// sequence engine, as the caller gets it.
func failureOf(attempts []hunt.Attempt, code int, cause string) (callerCode int, callerCause string) {
	if (cause == hunt.CauseUnreachable || cause == hunt.CauseExhausted || code == 503) && unregistered(attempts) {
		return 480, causeUnregistered
	}
	return code, cause
}

// legReach says how the far end of a caller's dialog is reached: one that came
// over a WebSocket, or from behind a NAT, only where it came from (RFC 7118 5,
// RFC 3581). Whether a trunk is behind a NAT is a matter of configuration.
func legReach(p *Packet, digest bool) trunkgroup.Reach {
	switch {
	case p.Peer != "":
		return 0
	case p.Flow != 0 && (!p.Transport.Dialled() || digest && natted(p)):
		return trunkgroup.ReachFlow
	case p.Flow == 0 && digest && natted(p):
		return trunkgroup.ReachSocket
	}
	return 0
}

// natted tells whether a request came from somewhere else than its sender
// believes, in its Via and in its Contact, with no proxy to answer for it.
func natted(p *Packet) bool {
	m := p.Message
	a, err := sip.ParseNameAddr(m.Header(sip.Contact))
	if err != nil || m.Has(sip.RecordRoute) {
		return false
	}
	u, err := sip.ParseURI(a.URI)
	if err != nil {
		return false
	}
	return elsewhere(u.Host, p) && elsewhere(m.TopVia().Host, p)
}

func elsewhere(host []byte, p *Packet) bool {
	ip, err := netip.ParseAddr(trimBrackets(string(host)))
	return err == nil && ip.Unmap() != p.Source.Addr().Unmap()
}

// relayBase is where requests towards the far end of a dialog go that is reached
// through the node that passed a packet of it on.
func relayBase(p *Packet, was transport.Target) transport.Target {
	t := transport.Target{Transport: p.Transport, Addr: p.Source, Listener: p.Listener, Flow: p.Flow, ViaNode: p.Relay}
	if was.ViaNode == p.Relay {
		t.ViaSocket = sameSocket(was.ViaSocket, p)
	}
	return t
}

// sameSocket is the socket of another node if a packet came in there.
func sameSocket(v *transport.ViaSocket, p *Packet) *transport.ViaSocket {
	if v != nil && BoundAt(v.Local, p.Local) {
		return v
	}
	return nil
}

// rebase takes the place that a request of the far end came from as the one
// where it is: behind a NAT its port may change, and a connection that ended may
// have been made anew to any node.
func (l *leg) rebase(s *Shard, p *Packet) {
	switch {
	case p.Peer != "" || p.Transport != l.base.Transport:
		return
	case p.Relay == l.base.ViaNode && p.Flow == l.base.Flow && p.Source == l.base.Addr:
		return
	case l.reach == trunkgroup.ReachFlow && p.Flow == 0:
		return
	}
	l.base = s.requestBase(p, l.base, l.reach)
	l.setTarget(s, nil)
}
