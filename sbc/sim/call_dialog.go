package sim

import (
	"bytes"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// nextAction arms the next request of the placement.
func (c *Caller) nextAction(k *call) {
	k.thenAt = time.Time{}
	switch {
	case k.phase != phaseUp:
	case k.then < len(k.Then):
		k.thenAt = c.now.Add(k.Then[k.then].After)
	case k.Hold == 0:
		c.sendBye(k)
	}
}

// act sends the request that is due.
func (c *Caller) act(k *call) {
	method := k.Then[k.then].Method
	k.then++
	k.thenAt = time.Time{}
	switch method {
	case sip.BYE:
		c.sendBye(k)
	case sip.INVITE, sip.UPDATE:
		k.version++
		c.inDialog(k, method, c.describe(k, c.nodes[k.current().node]), nil)
	default:
		c.inDialog(k, method, nil, nil)
	}
}

// sendBye ends an answered call; a request that is still out is given up.
func (c *Caller) sendBye(k *call) {
	k.phase = phaseBye
	k.holdEnd, k.thenAt = time.Time{}, time.Time{}
	c.inDialog(k, sip.BYE, nil, nil)
}

// inDialog sends one request of ours in the dialog.
func (c *Caller) inDialog(k *call, method string, sdp, auth []byte) {
	k.cseq++
	k.seq++
	k.outName, k.outSeq, k.outAuth, k.outAt = method, k.seq, auth != nil, c.now
	n := c.nodes[k.current().node]
	if k.contact == "" {
		k.contact = "sip:" + k.From + "@" + n.contact
	}
	r := request{
		method: method, branch: c.branch(k, k.seq), cseq: k.cseq, sentBy: n.sentBy,
		contact: method == sip.INVITE || method == sip.UPDATE, extra: auth, sdp: sdp,
	}
	data := c.mem.done(k.appendRequest(c.mem.start(), &r))
	limit := c.cfg.Timers.T2
	if method == sip.INVITE {
		limit = 0
	}
	k.out.start(c.now, c.cfg.Timers, data, !k.hop.Transport.Reliable(), limit)
	c.transmit(k.hop, data, token{k.slot, k.gen, k.seq}.ref())
}

// dialogResponse takes a response to a request of ours in a dialog, or to the BYE
// of an unwanted answer.
func (c *Caller) dialogResponse(k *call, t token, p *transport.Packet) {
	m := p.Message
	if t.seq != k.outSeq {
		c.strayResponse(k, t, m)
		return
	}
	code := m.Status()
	if code < 200 {
		k.out.quiet()
		return
	}
	if !k.out.running() {
		return
	}
	k.out.stop()
	if (code == 401 || code == 407) && !k.outAuth && c.proveInDialog(k, m) {
		return
	}
	c.acted(k, code, string(m.Reason()))
}

// proveInDialog answers a challenge to a request in the dialog.
func (c *Caller) proveInDialog(k *call, m *sip.Message) bool {
	if c.cfg.Credentials == nil {
		return false
	}
	ch, err := c.cfg.Credentials.pick(m)
	if err != nil {
		return false
	}
	line, err := c.cfg.Credentials.answer(ch, k.outName, string(k.target), c.cnonce())
	if err != nil {
		return false
	}
	var sdp []byte
	if k.outName == sip.UPDATE {
		sdp = c.describe(k, c.nodes[k.current().node])
	}
	c.inDialog(k, k.outName, sdp, line)
	return true
}

// acted books the final response to a request of ours.
func (c *Caller) acted(k *call, code int, reason string) {
	what := k.outName + ": " + strconv.Itoa(code) + " " + reason
	switch {
	case k.phase == phaseBye && (code < 300 || k.crossed):
		c.bye.Add(c.now.Sub(k.outAt))
		c.finish(k, c.ended(k), "")
	case k.phase == phaseBye:
		c.finish(k, Broken, what)
	case code < 300 || code == 491:
		c.nextAction(k)
	case code == 481 || code == 408:
		c.finish(k, Broken, what)
	default:
		c.faults.add(c.now, FaultRefused, string(k.callID), what)
		c.nextAction(k)
	}
}

// ended is the result of an answered call that our BYE ended.
func (c *Caller) ended(k *call) Result {
	switch k.gaveUp {
	case Cancelled:
		return Raced
	case NoFinal:
		return NoFinal
	}
	return Completed
}

// reinviteResponse takes a response to our re-INVITE, which needs an ACK.
func (c *Caller) reinviteResponse(k *call, t token, p *transport.Packet) {
	m := p.Message
	if m.Status() >= 200 {
		n := c.nodes[k.current().node]
		r := request{method: sip.ACK, branch: m.Branch(), cseq: m.CSeq(), sentBy: n.sentBy}
		if m.Status() < 300 {
			k.seq++
			r.branch = c.branch(k, k.seq)
			if uri := contactOf(m); uri != nil && k.out.running() {
				k.target = uri
				k.setHop(k.hop)
			}
		}
		c.transmit(k.hop, c.mem.done(k.appendRequest(c.mem.start(), &r)), 0)
	}
	c.dialogResponse(k, t, p)
}

// strayResponse takes the answer to the BYE of an unwanted dialog.
func (c *Caller) strayResponse(k *call, t token, m *sip.Message) {
	for i := range k.strays {
		if s := &k.strays[i]; s.seq == t.seq && m.Status() >= 200 {
			s.stop()
			c.settleOverdue(k)
			return
		}
	}
}

// request takes a request of the other side.
func (c *Caller) request(p *transport.Packet) {
	m := p.Message
	k := c.find(m)
	if k == nil {
		c.outside(p)
		return
	}
	switch m.Method() {
	case sip.BYE:
		c.hungUp(k, p)
	case sip.ACK:
		if m.CSeq() == k.changeNo {
			k.change.stop()
		}
	case sip.INVITE, sip.UPDATE:
		c.peerChange(k, p)
	case sip.INFO, sip.OPTIONS, sip.NOTIFY:
		c.reply(p, 200, nil, nil)
	default:
		c.reply(p, 501, nil, nil)
	}
	c.schedule(k)
}

// outside takes a request that belongs to no call.
func (c *Caller) outside(p *transport.Packet) {
	m := p.Message
	switch {
	case m.Method() == sip.OPTIONS && len(m.ToTag()) == 0:
		c.reply(p, 200, []byte("Allow: "+allow+"\r\n"), nil)
	case m.Method() == sip.ACK:
	case m.Method() == sip.BYE && bytes.HasPrefix(m.CallID(), []byte(c.run)):
		c.reply(p, 200, nil, nil) // a BYE of a call that is over: our answer was lost
	case m.Method() == sip.INVITE && len(m.ToTag()) == 0:
		c.reply(p, 480, nil, nil)
	default:
		c.faults.add(c.now, FaultStray, string(m.CallID()), m.Method())
		c.reply(p, 481, nil, nil)
	}
}

// hungUp takes the other side's BYE.
func (c *Caller) hungUp(k *call, p *transport.Packet) {
	m := p.Message
	c.reply(p, 200, nil, nil)
	if v := m.Header(sip.Reason); v != nil {
		k.byReason = string(v)
	}
	switch k.phase {
	case phaseUp:
		c.checkNumber(k, m)
		if !bytes.Equal(m.FromTag(), k.remoteTag) {
			c.faults.add(c.now, FaultTag, string(k.callID), "BYE with From tag "+string(m.FromTag()))
		}
		c.finish(k, HungUp, "")
	case phaseBye:
		k.crossed = true // our BYE may now get 481
	case phaseInvite:
		c.faults.add(c.now, FaultOrder, string(k.callID), "BYE before the answer")
	}
}

// peerChange answers a re-INVITE or UPDATE of the other side.
func (c *Caller) peerChange(k *call, p *transport.Packet) {
	m := p.Message
	if m.Method() == sip.INVITE && bytes.Equal(k.changing, m.Branch()) {
		if k.change.running() {
			c.transmit(k.reply, k.change.data, 0)
		}
		return
	}
	switch {
	case k.phase == phaseInvite && m.Method() == sip.UPDATE: // an early dialog may change too
	case k.phase != phaseUp:
		c.reply(p, 481, nil, nil)
		return
	case k.out.running() && (k.outName == sip.INVITE || k.outName == sip.UPDATE):
		c.reply(p, 491, nil, nil)
		return
	}
	c.checkNumber(k, m)
	if uri := contactOf(m); uri != nil && k.phase == phaseUp {
		k.target = uri
		k.setHop(replyTarget(p))
	}
	n := c.nodes[k.current().node]
	var sdp []byte
	if len(m.Body()) > 0 || m.Method() == sip.INVITE {
		k.version++
		sdp = c.describe(k, n)
	}
	extra := []byte("Contact: <sip:" + k.From + "@" + n.contact + ">\r\nAllow: " + allow + "\r\n")
	data := c.reply(p, 200, extra, sdp)
	if m.Method() == sip.INVITE {
		k.changing, k.changeNo, k.reply = m.Branch(), m.CSeq(), replyTarget(p)
		k.change.start(c.now, c.cfg.Timers, data, true, c.cfg.Timers.T2)
	}
}

func (c *Caller) checkNumber(k *call, m *sip.Message) {
	if m.CSeq() <= k.heard {
		c.faults.add(c.now, FaultCSeq, string(k.callID), m.Method()+" "+strconv.Itoa(int(m.CSeq()))+" after "+strconv.Itoa(int(k.heard)))
		return
	}
	k.heard = m.CSeq()
}

// reply answers a request and returns the bytes.
func (c *Caller) reply(p *transport.Packet, code int, extra, sdp []byte) []byte {
	var contentType []byte
	if len(sdp) > 0 {
		contentType = []byte(typeSDP)
	}
	var tag []byte
	if len(p.Message.ToTag()) == 0 && code > 100 {
		tag = []byte(c.cnonce())
	}
	b := sip.AppendResponse(c.mem.start(), p.Message, code, "", tag, p.Source, extra, contentType, sdp)
	b = c.mem.done(b)
	c.transmit(replyTarget(p), b, 0)
	return b
}
