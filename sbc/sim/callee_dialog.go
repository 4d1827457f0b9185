package sim

import (
	"bytes"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// cancel takes a CANCEL: it is matched by the branch of the INVITE (RFC 3261 9.2).
func (c *Callee) cancel(now time.Time, p *transport.Packet) {
	m := p.Message
	l := c.legs[string(m.CallID())]
	if l == nil || !bytes.Equal(l.branch, m.Branch()) {
		if g, ok := c.ghosts[c.key(m.CallID())]; ok && g.invite == c.key(m.Branch()) {
			c.account.CancelsLate++
			c.reply(p, 200, c.tag(), nil, nil)
			return
		}
		c.faults.add(now, FaultStray, string(m.CallID()), "CANCEL")
		c.reply(p, 481, c.tag(), nil, nil)
		return
	}
	if m.CSeq() != l.number {
		c.faults.add(now, FaultCSeq, l.rec.CallID, "CANCEL "+strconv.Itoa(int(m.CSeq()))+" for INVITE "+strconv.Itoa(int(l.number)))
	}
	if l.code != 0 {
		c.account.CancelsLate++
		c.reply(p, 200, l.tags[0], nil, nil)
		return
	}
	if l.state == 0 {
		// "If no provisional response has been received, the CANCEL request MUST NOT be sent" (RFC 3261 9.1).
		c.faults.add(now, FaultOrder, l.rec.CallID, "CANCEL before any provisional")
	}
	c.account.Cancels++
	switch l.script.Cancel {
	case CancelIgnore:
		return
	case CancelUnknown:
		c.reply(p, 481, l.tags[0], nil, nil)
		return
	}
	c.reply(p, 200, l.tags[0], nil, nil)
	switch l.script.Cancel {
	case CancelObey:
		c.sendStep(now, l, &Step{Code: 487})
	case CancelAnswer:
		c.sendStep(now, l, &Step{Code: 200, SDP: true})
	case CancelHalf:
		l.stepAt = time.Time{}
		l.final.giveUp = now.Add(c.cfg.Timers.lifetime())
	}
	c.schedule(l)
}

// bye takes the end of a call by the other side. A BYE on an early dialog ends
// the INVITE with 487 (RFC 3261 15.1.2).
func (c *Callee) bye(now time.Time, p *transport.Packet) {
	m := p.Message
	l := c.legs[string(m.CallID())]
	code := c.script.Bye
	if code == 0 {
		code = 200
	}
	if l == nil {
		if _, ok := c.ghosts[c.key(m.CallID())]; ok {
			c.account.Repeats++
		} else {
			c.faults.add(now, FaultStray, string(m.CallID()), "BYE")
			if code != Silent {
				code = 481
			}
		}
		if code != Silent {
			c.reply(p, code, nil, nil, nil)
		}
		return
	}
	c.checkDialog(now, l, m)
	c.checkNumber(now, l, m)
	if code != Silent {
		c.reply(p, code, nil, nil, nil)
	}
	switch l.state {
	case LegRinging:
		c.account.Byes++
		c.sendStep(now, l, &Step{Code: 487})
		c.schedule(l)
	case LegAnswered:
		// The BYE tells that our 2xx arrived; without an ACK before it that is a fault unless it is only late.
		c.account.Byes++
		c.end(now, l, "caller")
	case LegUp:
		c.account.Byes++
		c.end(now, l, "caller")
	case LegEnding:
		c.end(now, l, "callee")
	default:
		c.faults.add(now, FaultOrder, l.rec.CallID, "BYE while the leg is "+l.state.String())
	}
}

// change takes a re-INVITE, UPDATE or INFO of the other side.
func (c *Callee) change(now time.Time, p *transport.Packet) {
	m := p.Message
	l := c.legs[string(m.CallID())]
	if l == nil {
		if _, ok := c.ghosts[c.key(m.CallID())]; !ok {
			c.faults.add(now, FaultStray, string(m.CallID()), m.Method())
		}
		c.reply(p, 481, nil, nil, nil)
		return
	}
	if m.Method() == sip.INVITE && bytes.Equal(l.changing, m.Branch()) {
		c.account.Repeats++
		if l.change.running() {
			c.transmit(l.reply, l.change.data)
		}
		return
	}
	c.checkDialog(now, l, m)
	c.checkNumber(now, l, m)
	code := l.script.Change
	switch {
	case code == Silent:
		return
	case m.Method() == sip.INFO:
		c.account.Infos++
		c.reply(p, 200, nil, nil, nil)
		return
	case l.out.running() && (l.outName == sip.INVITE || l.outName == sip.UPDATE):
		code = 491 // two offers that cross (RFC 3261 14.2)
	case code == 0:
		code = 200
	}
	if m.Method() == sip.UPDATE {
		c.account.Updates++
	} else {
		c.account.Reinvites++
	}
	c.answerChange(now, l, p, code)
}

func (c *Callee) answerChange(now time.Time, l *leg, p *transport.Packet, code int) {
	m := p.Message
	extra := append(append([]byte("Contact: <"), l.contact...), ">\r\nAllow: "+allow+"\r\n"...)
	if uri := contactOf(m); uri != nil {
		l.target = uri // both methods refresh the remote target (RFC 3261 12.2, 3311 5.2)
		l.setHop(replyTarget(p))
	}
	if code >= 300 {
		c.reply(p, code, nil, nil, nil)
		return
	}
	var sdp []byte
	if len(m.Body()) > 0 || m.Method() == sip.INVITE {
		l.version++
		sdp = description(c.cfg.Name, l.session, l.version, p.Local.Addr(), 16000)
	}
	b := c.respond(p, code, "", nil, extra, sdp)
	c.transmit(replyTarget(p), b)
	if m.Method() == sip.INVITE {
		l.changing, l.changeNo = m.Branch(), m.CSeq()
		l.change.start(now, c.cfg.Timers, b, true, c.cfg.Timers.T2)
		c.schedule(l)
	}
}

// checkDialog compares a request with the dialog: both tags and the target.
func (c *Callee) checkDialog(now time.Time, l *leg, m *sip.Message) {
	if len(m.ToTag()) > 0 || l.state != LegRinging {
		known := false
		for _, t := range l.tags {
			known = known || bytes.Equal(t, m.ToTag())
		}
		if !known {
			c.faults.add(now, FaultTag, l.rec.CallID, m.Method()+" with To tag "+string(m.ToTag()))
		}
	}
	if l.invite != nil && !bytes.Equal(m.FromTag(), l.invite.Message.FromTag()) {
		c.faults.add(now, FaultTag, l.rec.CallID, m.Method()+" with From tag "+string(m.FromTag()))
	}
	if string(m.RequestURI()) != l.contact {
		c.faults.add(now, FaultTarget, l.rec.CallID, m.Method()+" to "+string(m.RequestURI())+", Contact was "+l.contact)
	}
}

// checkNumber: "the CSeq sequence number must be higher" than the last (RFC 3261
// 12.2.2).
func (c *Callee) checkNumber(now time.Time, l *leg, m *sip.Message) {
	if m.CSeq() <= l.heard {
		c.faults.add(now, FaultCSeq, l.rec.CallID, m.Method()+" "+strconv.Itoa(int(m.CSeq()))+" after "+strconv.Itoa(int(l.heard)))
		return
	}
	l.heard = m.CSeq()
}
