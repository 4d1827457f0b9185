package sim

import (
	"bytes"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// nextAction arms the next request of the script.
func (c *Callee) nextAction(now time.Time, l *leg) {
	l.thenAt = time.Time{}
	if l.state == LegUp && l.then < len(l.script.Then) {
		l.thenAt = now.Add(l.script.Then[l.then].After)
	}
}

// act sends the request that is due.
func (c *Callee) act(now time.Time, l *leg) {
	method := l.script.Then[l.then].Method
	l.then++
	l.thenAt = time.Time{}
	switch method {
	case sip.BYE:
		c.sendBye(now, l)
	case sip.INVITE, sip.UPDATE:
		l.version++
		c.request(now, l, method, c.describe(l))
	default:
		c.request(now, l, method, nil)
	}
}

func (c *Callee) sendBye(now time.Time, l *leg) {
	l.state, l.thenAt = LegEnding, time.Time{}
	c.account.ByesSent++
	c.request(now, l, sip.BYE, nil)
}

// request sends a request of ours in the dialog.
func (c *Callee) request(now time.Time, l *leg, method string, sdp []byte) {
	l.cseq++
	l.outName, l.outID = method, c.branch()
	r := request{
		method: method, branch: l.outID, cseq: l.cseq, sentBy: l.sentBy,
		contact: method == sip.INVITE || method == sip.UPDATE, sdp: sdp,
	}
	b := c.mem.done(l.appendRequest(c.mem.start(), &r))
	limit := c.cfg.Timers.T2
	if method == sip.INVITE {
		limit = 0
	}
	l.out.start(now, c.cfg.Timers, b, l.hop.Transport == trunkgroup.UDP, limit)
	c.transmit(l.hop, b)
}

func (c *Callee) branch() []byte {
	return strconv.AppendUint([]byte(magic+"f"), c.rng.Uint64(), 16)
}

// response takes the answer to a request of ours.
func (c *Callee) response(now time.Time, p *transport.Packet) {
	m := p.Message
	l := c.legs[string(m.CallID())]
	if l == nil || !bytes.Equal(l.outID, m.Branch()) {
		if _, ok := c.ghosts[c.key(m.CallID())]; !ok && l == nil {
			c.faults.add(now, FaultStray, string(m.CallID()), startLine(m))
		}
		return
	}
	code := m.Status()
	if code < 200 {
		l.out.quiet()
		c.schedule(l)
		return
	}
	if l.outName == sip.INVITE {
		c.ackChange(l, m, code)
	}
	if !l.out.running() {
		return // a repeated final
	}
	l.out.stop()
	c.acted(now, l, code)
	if l.state != LegEnded {
		c.schedule(l)
	}
}

// acted books the final response to a request of ours.
func (c *Callee) acted(now time.Time, l *leg, code int) {
	if l.state == LegEnding {
		if code >= 300 {
			c.faults.add(now, FaultRefused, l.rec.CallID, "BYE: "+strconv.Itoa(code))
		}
		c.end(now, l, "callee")
		return
	}
	switch {
	case code == 481 || code == 408:
		// "If the response for a request within a dialog is a 481 or a 408, the UAC SHOULD terminate the dialog"
		// (RFC 3261 12.2.1.2).
		c.faults.add(now, FaultRefused, l.rec.CallID, l.outName+": "+strconv.Itoa(code))
		c.end(now, l, "callee")
		return
	case code >= 300 && code != 491:
		c.faults.add(now, FaultRefused, l.rec.CallID, l.outName+": "+strconv.Itoa(code))
	}
	c.nextAction(now, l)
}

// ackChange acknowledges the final response to our re-INVITE: under its own
// branch when it is a failure, under a new one when it is a 2xx.
func (c *Callee) ackChange(l *leg, m *sip.Message, code int) {
	r := request{method: sip.ACK, branch: l.outID, cseq: m.CSeq(), sentBy: l.sentBy}
	if code < 300 {
		r.branch = c.branch()
		if uri := contactOf(m); uri != nil && l.out.running() {
			l.target = uri
			l.setHop(l.hop)
		}
	}
	c.transmit(l.hop, c.mem.done(l.appendRequest(c.mem.start(), &r)))
}
