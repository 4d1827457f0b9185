package sim

import (
	"bytes"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// inviteResponse takes a response to one of the call's INVITEs.
func (c *Caller) inviteResponse(k *call, t token, p *transport.Packet) {
	m := p.Message
	y := k.try(t.seq)
	if y == nil {
		c.reinviteResponse(k, t, p)
		return
	}
	code := m.Status()
	live := k.phase == phaseInvite && y == k.current()
	if code < 200 {
		c.provisional(k, y, m, live)
		return
	}
	repeated := y.final
	y.spoke, y.final = true, true
	if y.code == 0 {
		y.code = code
	}
	if code >= 300 {
		c.ackFailure(m)
		switch {
		case repeated:
		case live:
			c.failed(k, y, p)
		default:
			c.counts.Late++
			c.settleOverdue(k)
		}
		return
	}
	switch {
	case live:
		c.answer(k, y, p)
	case k.ack != nil && bytes.Equal(m.ToTag(), k.remoteTag):
		c.transmit(k.hop, k.ack, 0) // a repeated 2xx
	default:
		c.unwanted(k, y, p)
	}
}

// provisional notes a 1xx. One for an INVITE that was given up is answered by
// CANCEL: it may ring somewhere.
func (c *Caller) provisional(k *call, y *try, m *sip.Message, live bool) {
	if y.final {
		if live || k.phase != phaseOverdue {
			c.faults.add(c.now, FaultOrder, string(k.callID), startLine(m)+" after the final")
		}
		return
	}
	y.spoke = true
	if !live {
		if !y.cancel && !y.final {
			c.counts.Late++
			c.sendCancel(k, y)
		}
		return
	}
	k.invite.stop()
	if code := m.Status(); code > 100 {
		if len(m.ToTag()) == 0 {
			c.faults.add(c.now, FaultMissing, string(k.callID), startLine(m)+" without To tag")
		}
		c.rang(k)
		k.notify(Event{Code: code})
	}
	if k.gaveUp != "" && !y.cancel {
		c.sendCancel(k, y)
	}
}

// rang records the post-dial delay: start to the first 101-199 or 2xx.
func (c *Caller) rang(k *call) {
	if k.first.IsZero() {
		k.first = c.now
		c.pdd.Add(c.now.Sub(k.started))
	}
}

// failed takes a final failure of the current INVITE.
func (c *Caller) failed(k *call, y *try, p *transport.Packet) {
	m := p.Message
	code := m.Status()
	y.ended = c.now
	k.invite.stop()
	k.canceller.stop()
	if (code == 401 || code == 407) && k.gaveUp == "" && c.challenged(k, y, m) {
		return
	}
	if code == 503 && k.gaveUp == "" && !c.cfg.Stay {
		k.code, k.reason = code, string(m.Reason())
		c.advance(k, "503")
		return
	}
	k.code, k.reason = code, string(m.Reason())
	c.counts.Finals[code]++
	k.notify(Event{Code: code})
	switch {
	case k.gaveUp != "":
		c.finish(k, k.gaveUp, "")
	default:
		c.finish(k, Rejected, c.story(k))
	}
}

// challenged answers a 401 or 407 with credentials: the same call, the next CSeq
// number, a new branch. A second challenge in a row is answered only when it says
// that the nonce was stale (RFC 7616 3.3).
func (c *Caller) challenged(k *call, y *try, m *sip.Message) bool {
	cred := c.cfg.Credentials
	if cred == nil {
		return false
	}
	ch, err := cred.pick(m)
	if err != nil {
		c.faults.add(c.now, FaultParse, string(k.callID), err.Error())
		return false
	}
	if k.auth != nil && !ch.parsed.Stale || k.proofs >= 3 {
		return false
	}
	k.proofs++
	k.nonce = ch
	c.nodes[y.node].nonce = ch
	y.cause = "challenge"
	k.number++
	k.auth = nil
	c.sendInvite(k, y.node)
	return true
}

// answer takes the 2xx that sets up the dialog.
func (c *Caller) answer(k *call, y *try, p *transport.Packet) {
	m := p.Message
	n := c.nodes[y.node]
	k.invite.stop()
	k.canceller.stop()
	k.cancelAt, k.setupEnd, k.overdue = time.Time{}, time.Time{}, time.Time{}
	y.ended = c.now
	c.rang(k)
	k.answered, k.code, k.reason, k.phase = c.now, m.Status(), string(m.Reason()), phaseUp
	c.setup.Add(c.now.Sub(k.started))
	c.counts.Answered++
	c.counts.Up++
	c.counts.Finals[k.code]++
	k.member = c.memberOf(m)
	c.counts.Nodes[n.Name]++
	c.counts.Members[k.member]++
	k.remoteTag = m.ToTag()
	c.learnDialog(&k.dialog, k, n, p)
	if k.target == nil {
		c.faults.add(c.now, FaultMissing, string(k.callID), "Contact in the 2xx")
	}
	if len(m.Body()) == 0 {
		c.faults.add(c.now, FaultSession, string(k.callID), "2xx without SDP")
	}
	k.ack = c.sendAck(k, &k.dialog, n, k.NoOffer)
	k.notify(Event{Code: k.code})
	switch {
	case k.gaveUp != "":
		c.sendBye(k)
	case k.Hold == 0 && len(k.Then) == 0:
		c.sendBye(k)
	default:
		if k.Hold >= 0 {
			k.holdEnd = c.now.Add(k.Hold)
		}
		c.nextAction(k)
	}
}

// learnDialog fills a dialog from a 2xx.
func (c *Caller) learnDialog(d *dialog, k *call, n *node, p *transport.Packet) {
	m := p.Message
	d.callID = k.callID
	d.local = c.appendFrom(nil, k)
	d.remote = m.Header(sip.To)
	d.target = contactOf(m)
	d.cseq = m.CSeq()
	fallback := n.target
	fallback.Flow = p.Flow
	if d.target == nil {
		d.target = c.appendURI(nil, k, n)
	}
	d.learnRoutes(m, true, fallback)
}

// sendAck acknowledges a 2xx: a transaction of its own with the INVITE's CSeq
// number (RFC 3261 13.2.2.4).
func (c *Caller) sendAck(k *call, d *dialog, n *node, withSDP bool) []byte {
	k.seq++
	r := request{method: sip.ACK, branch: c.branch(k, k.seq), cseq: d.cseq, sentBy: n.sentBy, extra: k.auth}
	if withSDP {
		r.sdp = c.describe(k, n)
	}
	data := c.mem.done(d.appendRequest(c.mem.start(), &r))
	c.transmit(d.hop, data, 0)
	return data
}

// unwanted takes a 2xx that the caller no longer wants, or a second one: ACK,
// then BYE.
func (c *Caller) unwanted(k *call, y *try, p *transport.Packet) {
	m := p.Message
	for i := range k.strays {
		if bytes.Equal(k.strays[i].remote, m.Header(sip.To)) {
			c.sendAck(k, &k.strays[i].dialog, c.nodes[y.node], k.NoOffer)
			return
		}
	}
	if !k.answered.IsZero() {
		c.counts.Answers2++
		c.faults.add(c.now, FaultTwice, string(k.callID), "a second 2xx, from "+c.memberOf(m))
	} else {
		c.counts.Late++
	}
	n := c.nodes[y.node]
	s := stray{}
	c.learnDialog(&s.dialog, k, n, p)
	c.sendAck(k, &s.dialog, n, k.NoOffer)
	k.seq++
	s.seq = k.seq
	s.cseq++
	data := s.appendRequest(nil, &request{method: sip.BYE, branch: c.branch(k, s.seq), cseq: s.cseq, sentBy: n.sentBy})
	s.start(c.now, c.cfg.Timers, data, !s.hop.Transport.Reliable(), c.cfg.Timers.T2)
	k.strays = append(k.strays, s)
	c.transmit(s.hop, data, 0)
}

func (c *Caller) branch(k *call, seq uint8) []byte {
	return c.appendToken(append(make([]byte, 0, 40), magic...), token{k.slot, k.gen, seq})
}

// ackFailure acknowledges a final failure. All that the ACK needs is in the
// response, so that it works for calls long forgotten too (RFC 3261 17.1.1.3).
func (c *Caller) ackFailure(m *sip.Message) {
	t, _ := c.parseToken(m.Branch(), len(magic))
	at := 0
	to := m.Header(sip.To)
	if k := c.lookup(t); k != nil {
		if y := k.try(t.seq); y != nil {
			at = y.node
		}
	}
	n := c.nodes[at]
	uri := []byte("sip:" + n.host)
	if na, err := sip.ParseNameAddr(to); err == nil {
		uri = na.URI
	}
	d := dialog{callID: m.CallID(), local: m.Header(sip.From), remote: to, target: uri, hop: n.target}
	r := request{method: sip.ACK, branch: m.Branch(), cseq: m.CSeq(), sentBy: n.sentBy}
	c.transmit(n.target, c.mem.done(d.appendRequest(c.mem.start(), &r)), 0)
}

// cancelResponse takes the answer to a CANCEL. A 481 means that the INVITE never
// came or is over: its own final response, or the end of the wait, decides.
func (c *Caller) cancelResponse(k *call, _ token, m *sip.Message) {
	if m.Status() >= 200 {
		k.canceller.stop()
	}
}

// orphan takes a response for a call that is long over: a repeated final whose
// ACK was lost.
func (c *Caller) orphan(p *transport.Packet) {
	m := p.Message
	if m.CSeqMethod() == sip.INVITE && m.Status() >= 300 {
		c.ackFailure(m)
	}
}

// memberOf names who answered: the X-Sim-Member header where it comes through,
// else the origin of the session description.
func (c *Caller) memberOf(m *sip.Message) string {
	var name []byte
	m.EachNamed("X-Sim-Member", func(value []byte) bool {
		name = value
		return false
	})
	if name == nil {
		name = originOf(m.Body())
	}
	if s, ok := c.names[string(name)]; ok {
		return s
	}
	c.names[string(name)] = string(name)
	return string(name)
}

func (k *call) notify(e Event) {
	if k.Notify != nil {
		k.Notify(e)
	}
}

// code of a try in words.
func (y *try) words() string {
	switch {
	case y.code != 0 && y.cause != "challenge":
		return strconv.Itoa(y.code)
	case y.detail != "":
		return y.cause + " (" + y.detail + ")"
	case y.cause != "":
		return y.cause
	default:
		return "no final"
	}
}
