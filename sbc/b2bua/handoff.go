package b2bua

import (
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// firstWord is how long a peer node may be silent before it counts as not there
// (DEC-05).
const firstWord = 500 * time.Millisecond

// handoffAttempt stands for the hand-off leg among the early dialogs of a
// call; it is no attempt of its own (DEC-06).
const handoffAttempt = -1

// handedOver is the token of a call that a peer node handed to us.
type handedOver struct {
	geo.Token
	yes bool
}

// handing is a call's hand-off to the peer site, from the origin's side.
type handing struct {
	call    *Call
	site    string
	nodes   []geo.PeerNode
	machine *geo.Handoff
	tries   []*try
	winner  *try
	refusal *try
	reason  string
	begun   int // number of attempts before it
}

// handOff asks the peer site to take the call (DEC-04 to DEC-07).
func (c *Call) handOff(budget time.Duration) {
	s := c.s
	table, _ := s.env.Routing()
	sites := table.PeerSites(s.cfg.Site)
	h := &handing{call: c, nodes: geo.Nodes(s.env.Peers(), sites), reason: c.handoffReason(), begun: len(c.seq.Attempts())}
	if len(sites) > 0 {
		h.site = sites[0]
	}
	h.machine = geo.NewHandoff(h.nodes, budget, s.now)
	c.hand = h
	h.do(h.machine.Start(s.now))
}

// handoffReason says in one word why the call leaves this site.
func (c *Call) handoffReason() string {
	if c.peerFirst && len(c.tries) == 0 {
		return reasonAffinity
	}
	return c.leavingReason(c.seq.Attempts(), 0)
}

// do carries out the machine's actions.
func (h *handing) do(actions []geo.Action) {
	// The slice is the machine's; carrying an action out may step it again.
	for _, a := range append([]geo.Action(nil), actions...) {
		h.perform(a)
	}
}

func (h *handing) perform(a geo.Action) {
	c := h.call
	now := c.s.now
	switch a.Kind {
	case geo.Try:
		h.ask(a.Node)
	case geo.Cancel:
		if t := h.try(a.Node); t != nil {
			t.tx.cancel()
		}
	case geo.Release:
		// try.accepted hangs up whatever did not win.
	case geo.Accept:
		h.site = h.nodes[a.Node].Site
		c.do(c.seq.HandoffProvisional(now, 100))
	case geo.Relay:
		c.do(c.seq.HandoffProvisional(now, a.Code))
	case geo.Answer:
		h.winner = h.try(a.Node)
		h.count("answered")
		r := peerResult(c.event)
		r.Answered, r.Accepted, r.Code = true, true, a.Code
		c.do(c.seq.HandoffDone(now, r))
	case geo.Refused:
		h.refusal = h.try(a.Node)
		h.count("refused")
		r := peerResult(h.refusal.final)
		r.Accepted, r.Code = a.Accepted, a.Code
		c.do(c.fresh().HandoffDone(now, r))
	case geo.Exhausted:
		h.count("exhausted")
		c.do(c.fresh().HandoffDone(now, hunt.HandoffResult{Accepted: a.Accepted}))
	}
}

func (h *handing) count(result string) {
	c := h.call
	c.s.env.Count(Event{
		Kind: EventHandoff, Direction: c.dir.String(), From: c.s.cfg.Site, To: h.site,
		Reason: h.reason, Result: result, Group: c.customer,
	})
}

// try returns the latest request to a node: one may be asked again (DEC-07).
func (h *handing) try(node int) *try {
	for _, t := range slices.Backward(h.tries) {
		if t.node == node {
			return t
		}
	}
	return nil
}

// ask sends the caller's INVITE as it was received to a peer node, with the
// token that says what the node needs to go on (DEC-07).
func (h *handing) ask(node int) {
	c := h.call
	s := c.s
	peer := h.nodes[node]
	hop := transport.Target{Transport: trunkgroup.Interconnect, Node: peer.Name}
	t := &try{call: c, index: handoffAttempt, node: node}
	if len(h.tries) == 0 {
		c.failOverSite(h.reason, s.cfg.Site, peer.Site)
	}
	h.tries = append(h.tries, t)
	o := c.legOutline(hop, c.callerLines(hop))
	o.uri = string(c.msg.RequestURI())
	id := c.legIdentity(&o, c.handedCaller(hop), withoutTag(c.msg.Header(sip.To)))
	t.callID = id.callID
	table, _ := s.env.Routing()
	token := geo.Token{
		CallID: c.id, Origin: s.cfg.Node, Boot: uint64(s.cfg.Boot), Target: peer.Name, Hop: geo.MaxHop,
		Group: c.customer.Name, Version: table.Version(), Budget: h.budget(), Tried: c.tried(),
		Called: c.called, Direction: c.dir.String(), Keys: c.handedKeys(), Test: c.test,
	}
	c.handRoutes(&token)
	o.lines = append(o.lines, sip.Handoff.String()...)
	o.lines = append(o.lines, ": "...)
	o.lines = token.Append(o.lines, s.handoff[0], []byte(id.callID), []byte(id.localTag))
	o.lines = append(o.lines, "\r\n"...)
	t.tx = s.sendInvite(&o, id, t)
}

// budget is what the peer may take until its first 18x.
func (h *handing) budget() time.Duration {
	if d := h.call.seq.Deadline(); !d.IsZero() {
		return d.Sub(h.call.s.now)
	}
	return hunt.HandoffLimit
}

// tried lists the members that were dialled.
func (c *Call) tried() []string {
	var keys []string
	for _, a := range c.seq.Attempts() {
		if m := c.memberOf(&a); m != nil && m.Index >= 0 && a.Dialed {
			keys = append(keys, m.Key)
		}
	}
	return keys[max(0, len(keys)-maxTold):]
}

func (h *handing) progressed(t *try, m *sip.Message) {
	h.do(h.machine.Provisional(h.call.s.now, t.node, m.Status()))
}

func (h *handing) decided(t *try, m *sip.Message) {
	if h.settled(m) {
		return
	}
	h.do(h.machine.Final(h.call.s.now, t.node, m.Status(), m.Has(sip.Attempts)))
}

func (h *handing) lost(t *try) {
	if !h.settled(nil) {
		h.do(h.machine.Failed(h.call.s.now, t.node))
	}
}

// waiting tells whether a node that was asked has yet to give its final
// response. One that had its time for a first word and did not use it is not
// waited for.
func (h *handing) waiting() bool {
	for _, t := range h.tries {
		if t == h.winner || t.tx.owner == nil || !t.tx.live() || t.tx.finalSeen {
			continue
		}
		if t.tx.provisional || h.call.s.now.Sub(t.tx.started) < firstWord {
			return true
		}
	}
	return false
}

// settled takes a node's last word, or its loss, once the caller has the final
// response: what the peer tried belongs in the record (DEC-24).
func (h *handing) settled(m *sip.Message) bool {
	c := h.call
	if c.phase != settling {
		return false
	}
	if m != nil && m.Has(sip.Attempts) {
		c.seq.HandoffDone(c.s.now, peerResult(m))
	}
	if !h.waiting() {
		c.finish()
		c.remove()
	}
	return true
}

func (h *handing) expire(now time.Time) {
	if d := h.machine.Deadline(); !d.IsZero() && !now.Before(d) {
		h.do(h.machine.Expire(now))
		h.call.arm()
	}
}

// cancel gives the hand-off up: every node that has spoken gets a CANCEL, any
// other when it speaks (DEC-02).
func (h *handing) cancel() {
	h.count("cancelled")
	h.do(h.machine.Cancel(h.call.s.now))
}

// release lets go of every node but the winner. Their transactions clean up by
// themselves.
func (h *handing) release() {
	for _, t := range h.tries {
		if t != h.winner {
			t.tx.abandon()
		}
	}
}

// accept takes a hand-off's call id, once until its call has ended plus 64*T1
// (DEC-08).
func (s *Shard) accept(id string) bool {
	s.seen.Expire(s.now)
	return s.seen.Accept(id)
}

// takenElsewhere tells whether another node of this site has accepted the call
// already: a peer site accepts a call id once (DEC-07).
func (s *Shard) takenElsewhere(id string) bool {
	key := s.handoffKey(id)
	if _, ok := s.invites[key]; ok || s.over(key) {
		return true
	}
	e, ok := s.open[key]
	return ok && s.env.Up(e.node) && s.now.Sub(e.since) <= openTTL
}

// over tells whether another node had a hand-off that rang or was answered, and is
// done with it: a copy that comes now was late (DEC-07).
func (s *Shard) over(key uint64) bool {
	until, ok := s.done[key]
	return ok && s.now.Before(until)
}

func (s *Shard) handoffKey(id string) uint64 { return hash2(s.seed, []byte("hand-off"), []byte(id)) }

// siteOf is the site of a peer node.
func (c *Call) siteOf(node string) string {
	for _, p := range c.s.env.Peers() {
		if p.Name == node {
			return p.Site
		}
	}
	return "unknown"
}
