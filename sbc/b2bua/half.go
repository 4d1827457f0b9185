package b2bua

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// A call that was handed over has two halves, on two nodes. This file is about
// the other half going away.

const (
	// halfGoneAfter is how long the other half's node must be away before the
	// call ends here: as long as a survivor waits before it closes a dead
	// node's calls (DEC-24).
	halfGoneAfter = time.Minute
	// halfCheckEvery is the pause between two looks.
	halfCheckEvery = 10 * time.Second
	// halfByeRetry is the pause between two tries of a BYE to the other half.
	halfByeRetry = 2 * time.Second
)

var errNodeLost = errors.New("the stream to the node has ended")

// half is the other half of a call: its node and the boot that has it.
type half struct {
	node string
	boot uint32
}

// otherHalf names the node at the other end of the call's interconnect leg.
func (c *Call) otherHalf() string {
	if c.peer != "" || c.b == nil {
		return c.peer
	}
	return c.b.hop.Node
}

// watchHalf begins to look after the other half.
func (c *Call) watchHalf() {
	node := c.otherHalf()
	if node == "" {
		return
	}
	c.half = half{node: node}
	if st, known := c.s.env.Peer(mint.NodeID(node)); known {
		c.half.boot = st.Boot
	}
	c.halfCheck = c.s.now.Add(halfCheckEvery)
}

// checkHalf ends the call once its other half cannot come back: its node has
// begun anew, or is away for too long. The leg to it is not hung up.
func (c *Call) checkHalf(now time.Time) {
	if c.halfCheck.IsZero() || now.Before(c.halfCheck) {
		return
	}
	c.halfCheck = now.Add(halfCheckEvery)
	st, known := c.s.env.Peer(mint.NodeID(c.half.node))
	if !known || st.Boot <= c.half.boot && (st.Up || st.Down < halfGoneAfter) {
		return
	}
	c.end.party, c.end.cause = partySystem, causePeerLost
	c.close()
	live := c.a
	if c.peer != "" {
		live = c.b
	}
	c.byeTo(live, "Reason: Q.850;cause=41;text=\"peer node lost\"\r\n")
	c.afterByes()
}

// loseHalves ends what was on its way to or from a node whose stream has ended:
// requests to it fail now, and calls that it gave us and that nobody has
// answered yet are given up, as it gives them up itself.
func (s *Shard) loseHalves(node string) {
	s.loseRoutes(node)
	for _, token := range s.clientsBy(func(t transport.Target) bool { return t.Node == node }) {
		if tx, ok := s.client[token]; ok {
			s.hot = tx
			tx.gone(errNodeLost)
		}
	}
	for _, h := range s.held {
		if h.p.Peer == node {
			h.release() // nobody waits for it any more
		}
	}
	for _, c := range s.callsOf(node) {
		if c.phase == hunting {
			s.hot = c
			c.callOff()
		}
	}
}

// clientsBy returns our open requests that went a certain way, in a fixed order.
func (s *Shard) clientsBy(way func(transport.Target) bool) (tokens []uint64) {
	for token, tx := range s.client {
		if way(tx.hop()) {
			tokens = append(tokens, token)
		}
	}
	slices.Sort(tokens)
	return tokens
}

// callsOf returns the calls that a node gave us, in a fixed order.
func (s *Shard) callsOf(node string) (list []*Call) {
	for c := range s.calls {
		if c.peer == node {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *Call) int { return strings.Compare(a.id, b.id) })
	return list
}

// halfBye is a BYE to the other half of a call: over a stream nothing is
// repeated, and a half that never hears of the end stays up.
type halfBye struct {
	place
	s     *Shard
	leg   *leg
	lines string
	taker taker // may be nil
	next  time.Time
	until time.Time
}

func (h *halfBye) replied(o *outgoing, m *sip.Message, err error) {
	s := h.s
	if err != nil && s.now.Before(h.until) {
		h.next = s.now.Add(halfByeRetry)
		s.alarms.set(h)
		return
	}
	if h.taker != nil {
		h.taker.replied(o, m, err)
	}
}

func (h *halfBye) deadline() time.Time { return h.next }

func (h *halfBye) expire(time.Time) {
	h.next = time.Time{}
	o := h.leg.inside(h.s, sip.BYE)
	o.lines = []byte(h.lines)
	h.s.send(&o, h)
}
