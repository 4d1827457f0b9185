package sim

import (
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Place starts a call and returns its reference for Cancel and HangUp.
func (c *Caller) Place(now time.Time, p Placement) (ref uint64) {
	c.now = now
	k := c.take()
	k.phase, k.Placement, k.started = phaseInvite, p, now
	k.tries = k.tryRoom[:0]
	k.number, k.version = 1, 1
	k.setupEnd = now.Add(c.cfg.SetupTimeout)
	if k.From == "" {
		k.From = "anonymous"
	}
	if p.Cancel > 0 {
		k.cancelAt = now.Add(p.Cancel)
	}
	c.counts.Started++
	c.counts.Active++
	c.counts.MaxActive = max(c.counts.MaxActive, c.counts.Active)
	k.n = uint64(c.counts.Started)
	id := token{slot: k.slot, gen: k.gen}
	k.callID = append(c.appendToken(make([]byte, 0, 32), id), "@sim"...)
	k.localTag = k.callID[:len(k.callID)-len("@sim")]
	first := p.Node
	if !p.NodeSet {
		first = c.firstNode()
	}
	c.sendInvite(k, c.nextNode(k, first))
	c.schedule(k)
	return id.ref()
}

// firstNode is where a call begins.
func (c *Caller) firstNode() int {
	if !c.cfg.Spread {
		return 0
	}
	c.turn++
	return (c.turn - 1) % len(c.nodes)
}

// nextNode chooses the first node from index first on that this call has not
// tried; those to be avoided come last. -1 when all were tried.
func (c *Caller) nextNode(k *call, first int) int {
	if c.cfg.SRV && !k.NodeSet {
		return c.nextByRecord(k)
	}
	last := -1
	for i := range c.nodes {
		at := (first + i) % len(c.nodes)
		if k.tried&(1<<at) != 0 {
			continue
		}
		if c.nodes[at].avoid.After(c.now) {
			if last < 0 {
				last = at
			}
			continue
		}
		return at
	}
	return last
}

// sendInvite puts an INVITE to a node on the wire, under a new branch.
//
// A further node gets the request under the same Call-ID, From tag and CSeq but a
// new branch (RFC 3263 4.3).
func (c *Caller) sendInvite(k *call, at int) {
	n := c.nodes[at]
	k.tried |= 1 << at
	k.seq++
	k.tries = append(k.tries, try{seq: k.seq, node: at, number: k.number, at: c.now})
	if k.auth == nil {
		c.authorize(k, n)
	}
	data := c.mem.done(c.appendInvite(c.mem.start(), k, n))
	k.invite.start(c.now, c.cfg.Timers, data, n.Transport == trunkgroup.UDP, 0)
	k.invite.giveUp = c.now.Add(c.cfg.NodeTimeout)
	c.transmit(n.target, data, token{k.slot, k.gen, k.seq}.ref())
}

func (c *Caller) appendInvite(dst []byte, k *call, n *node) []byte {
	dst = append(dst, "INVITE "...)
	dst = c.appendURI(dst, k, n)
	dst = append(dst, " SIP/2.0\r\n"...)
	dst = c.appendCommon(dst, k, n, k.current().seq, k.number, sip.INVITE)
	dst = append(dst, "Contact: <sip:"...)
	dst = append(dst, k.From...)
	dst = append(dst, '@')
	dst = append(dst, n.contact...)
	dst = append(dst, ">\r\nAllow: "+allow+"\r\nUser-Agent: "...)
	dst = append(dst, c.cfg.Name...)
	dst = append(dst, "\r\n"...)
	dst = append(dst, k.auth...)
	for _, h := range k.Headers {
		dst = append(append(dst, h...), "\r\n"...)
	}
	if k.NoOffer {
		return appendBody(dst, nil)
	}
	return appendBody(dst, c.describe(k, n))
}

func (c *Caller) describe(k *call, n *node) []byte {
	return description(c.cfg.Name, c.session+k.n, k.version, n.local.Addr(), 16002)
}

// appendURI writes the Request-URI of a call outside its dialog.
func (c *Caller) appendURI(dst []byte, k *call, n *node) []byte {
	dst = append(dst, "sip:"...)
	dst = append(dst, k.To...)
	dst = append(dst, '@')
	return append(dst, n.host...)
}

// appendCommon writes the header lines that INVITE, CANCEL and the ACK to a
// failure share.
func (c *Caller) appendCommon(dst []byte, k *call, n *node, seq uint8, number uint32, method string) []byte {
	dst = append(dst, n.via...)
	dst = append(dst, magic...)
	dst = c.appendToken(dst, token{k.slot, k.gen, seq})
	dst = append(dst, "\r\nMax-Forwards: 70\r\nFrom: "...)
	dst = c.appendFrom(dst, k)
	dst = append(dst, "\r\nTo: <"...)
	dst = c.appendURI(dst, k, c.nodes[k.tries[0].node])
	dst = append(dst, ">\r\nCall-ID: "...)
	dst = append(dst, k.callID...)
	dst = append(dst, "\r\nCSeq: "...)
	dst = strconv.AppendUint(dst, uint64(number), 10)
	dst = append(dst, ' ')
	dst = append(dst, method...)
	return append(dst, "\r\n"...)
}

// appendFrom writes the From value; it stays the same for all nodes of a call.
func (c *Caller) appendFrom(dst []byte, k *call) []byte {
	dst = append(dst, "<sip:"...)
	dst = append(dst, k.From...)
	dst = append(dst, '@')
	dst = append(dst, c.nodes[k.tries[0].node].sentBy...)
	dst = append(dst, ">;tag="...)
	return append(dst, k.localTag...)
}

// authorize adds credentials for a nonce that the node gave before.
func (c *Caller) authorize(k *call, n *node) {
	cred := c.cfg.Credentials
	if cred == nil {
		return
	}
	if k.nonce == nil && cred.Reuse {
		k.nonce = n.nonce
	}
	if k.nonce == nil {
		return
	}
	c.answerChallenge(k, n)
}

// answerChallenge computes the credentials of the next INVITE; a challenge that
// cannot be answered leaves none.
func (c *Caller) answerChallenge(k *call, n *node) {
	uri := string(c.appendURI(nil, k, n))
	line, err := c.cfg.Credentials.answer(k.nonce, sip.INVITE, uri, c.cnonce())
	if err != nil {
		c.faults.add(c.now, FaultParse, string(k.callID), err.Error())
	}
	k.auth = line
}

func (c *Caller) cnonce() string { return strconv.FormatUint(c.rng.Uint64(), 16) }

// giveUp ends a call that has no final response: by CANCEL now, or as soon as a
// provisional response allows it (RFC 3261 9.1).
func (c *Caller) giveUp(k *call, result Result) {
	k.cancelAt, k.setupEnd = time.Time{}, time.Time{}
	if k.phase != phaseInvite || k.gaveUp != "" {
		return
	}
	k.gaveUp = result
	if t := k.current(); t.spoke {
		c.sendCancel(k, t)
	}
}

// sendCancel cancels one INVITE of the call.
func (c *Caller) sendCancel(k *call, t *try) {
	t.cancel = true
	n := c.nodes[t.node]
	b := append(c.mem.start(), "CANCEL "...)
	b = c.appendURI(b, k, n)
	b = append(b, " SIP/2.0\r\n"...)
	b = c.appendCommon(b, k, n, t.seq, t.number, sip.CANCEL)
	b = c.mem.done(appendBody(b, nil))
	k.canceller.start(c.now, c.cfg.Timers, b, n.Transport == trunkgroup.UDP, c.cfg.Timers.T2)
	if t == k.current() && k.phase == phaseInvite {
		k.cancelled = true
		k.overdue = c.now.Add(c.cfg.Timers.lifetime())
		c.counts.Cancels++
	}
	k.cancelTo = n.target
	c.transmit(n.target, b, token{k.slot, k.gen, t.seq}.ref())
}

// advance gives up the current node and asks the next one, or ends the call.
func (c *Caller) advance(k *call, cause string) {
	t := k.current()
	t.cause, t.ended = cause, c.now
	k.invite.stop()
	if c.cfg.Avoid > 0 {
		c.nodes[t.node].avoid = c.now.Add(c.cfg.Avoid)
	}
	if k.gaveUp != "" {
		c.finish(k, k.gaveUp, "given up before any answer")
		return
	}
	if next := c.nextNode(k, (t.node+1)%len(c.nodes)); next >= 0 {
		c.counts.Failovers++
		k.auth = nil
		c.sendInvite(k, next)
		return
	}
	switch {
	case t.code != 0:
		c.finish(k, Rejected, c.story(k))
	case t.cause == "timeout":
		c.finish(k, TimedOut, c.story(k))
	default:
		c.finish(k, Refused, c.story(k))
	}
}
