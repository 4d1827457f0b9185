package sim

import (
	"bytes"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// invite takes an INVITE outside of any dialog.
func (c *Callee) invite(now time.Time, p *transport.Packet) {
	m := p.Message
	if old := c.legs[string(m.CallID())]; old != nil && !c.replaces(now, p, old) {
		return
	}
	key := c.key(m.CallID())
	if g, ok := c.ghosts[key]; ok && g.invite == c.key(m.Branch()) {
		c.account.Repeats++
		return
	}
	c.account.Invites++
	if _, known := c.seen[key]; !known {
		c.seen[key] = struct{}{}
		c.account.CallIDs++
	}
	if m.HasOption(sip.Require, "100rel") {
		c.faults.add(now, FaultExtension, string(m.CallID()), "Require: 100rel")
	}
	if contactOf(m) == nil {
		c.faults.add(now, FaultMissing, string(m.CallID()), "Contact in INVITE")
		c.reply(p, 400, c.tag(), nil, nil)
		return
	}
	if m.MaxForwards() < 0 {
		c.faults.add(now, FaultMissing, string(m.CallID()), "Max-Forwards in INVITE")
	}
	l := c.newLeg(now, p)
	if len(l.script.Steps) > 0 {
		l.stepAt = now.Add(l.script.Steps[0].After)
		if !l.stepAt.After(now) {
			c.play(now, l)
		}
	} else {
		l.final.giveUp = now.Add(c.cfg.Timers.lifetime()) // the leg of a silent far end is forgotten then
		l.state = 0
	}
	if l.state != LegEnded {
		c.schedule(l)
	}
}

// replaces tells whether an INVITE with the Call-ID of a leg that we know begins
// a new leg; otherwise it has been dealt with.
func (c *Callee) replaces(now time.Time, p *transport.Packet, old *leg) bool {
	m := p.Message
	if bytes.Equal(m.Branch(), old.branch) {
		c.account.Repeats++
		if old.last != nil && old.script.Ack != AckOnce {
			c.transmit(old.reply, old.last)
		}
		return false
	}
	switch {
	case old.state == LegRefused && m.CSeq() > old.number:
		c.end(now, old, "refused")
		return true
	case old.state == 0 && len(old.script.Steps) == 0:
		c.end(now, old, "timeout")
		return true
	}
	kind, code := FaultOrder, 500
	if m.CSeq() == old.number {
		kind, code = FaultMerged, 482
	}
	c.faults.add(now, kind, string(m.CallID()), "INVITE while the leg is "+old.state.String())
	c.reply(p, code, c.tag(), nil, nil)
	return false
}

// play sends the responses of the script that are due now.
func (c *Callee) play(now time.Time, l *leg) {
	for reached(l.stepAt, now) && l.code == 0 {
		s := &l.script.Steps[l.step]
		l.step++
		l.stepAt = time.Time{}
		c.sendStep(now, l, s)
		if l.code == 0 && l.step < len(l.script.Steps) {
			l.stepAt = now.Add(l.script.Steps[l.step].After)
		}
	}
}

// sendStep sends one response to the INVITE; a final one is repeated until its
// ACK.
func (c *Callee) sendStep(now time.Time, l *leg, s *Step) {
	for len(l.tags) <= s.Fork {
		l.tags = append(l.tags, c.tag())
	}
	tag := l.tags[s.Fork]
	var extra, sdp []byte
	if s.Code > 100 {
		extra = c.dialogHeaders(l)
	} else {
		tag = nil
	}
	for _, h := range s.Headers {
		extra = append(append(extra, h...), "\r\n"...)
	}
	if s.SDP {
		sdp = c.describe(l)
	}
	l.last = c.respond(l.invite, s.Code, s.Reason, tag, extra, sdp)
	c.transmit(l.reply, l.last)
	if s.Code < 200 {
		if s.Code > 100 || l.state == 0 {
			l.state = LegRinging
		}
		return
	}
	c.settle(now, l, s.Code, tag)
}

// settle books the final response to the INVITE and starts its repetition.
func (c *Callee) settle(now time.Time, l *leg, code int, tag []byte) {
	l.code, l.stepAt = code, time.Time{}
	l.local = append(append(append([]byte(nil), withoutTag(l.invite.Message.Header(sip.To))...), ";tag="...), tag...)
	c.account.Finals[code]++
	// A 2xx is repeated on every transport (RFC 3261 13.3.1.4), a failure only on UDP (17.2.1).
	repeated := l.script.Ack != AckOnce && (code < 300 || l.invite.Transport == trunkgroup.UDP)
	l.final.start(now, c.cfg.Timers, l.last, repeated, c.cfg.Timers.T2)
	if code < 300 {
		c.account.Answered++
		l.state, l.rec.Answered = LegAnswered, now
		return
	}
	c.account.Rejected++
	l.state = LegRefused
}

// dialogHeaders are the headers of a response that sets up a dialog: our Contact
// and the Record-Route of the request, unchanged (RFC 3261 12.1.1).
func (c *Callee) dialogHeaders(l *leg) []byte {
	extra := make([]byte, 0, 256)
	for _, r := range l.script.Routes {
		extra = append(append(append(extra, "Record-Route: "...), r...), "\r\n"...)
	}
	for _, r := range l.routes {
		extra = appendLine(extra, "Record-Route", r)
	}
	extra = append(append(append(extra, "Contact: <"...), l.contact...), ">\r\n"...)
	extra = append(append(append(extra, memberLine...), c.cfg.Name...), "\r\n"...)
	return append(extra, "Allow: "+allow+"\r\n"...)
}

func (c *Callee) describe(l *leg) []byte {
	return description(c.cfg.Name, l.session, l.version, l.invite.Local.Addr(), 16000)
}

// ack takes the ACK to one of our finals.
func (c *Callee) ack(now time.Time, p *transport.Packet) {
	m := p.Message
	l := c.legs[string(m.CallID())]
	if l == nil {
		if _, ok := c.ghosts[c.key(m.CallID())]; !ok {
			c.faults.add(now, FaultStray, string(m.CallID()), "ACK")
		}
		return
	}
	if l.change.running() && m.CSeq() == l.changeNo {
		l.change.stop()
		c.schedule(l)
		return
	}
	switch {
	case l.code == 0:
		c.faults.add(now, FaultOrder, l.rec.CallID, "ACK before any final")
	case !l.final.running() || l.script.Ack == AckDeaf:
	case m.CSeq() != l.number:
		c.faults.add(now, FaultCSeq, l.rec.CallID, "ACK "+strconv.Itoa(int(m.CSeq()))+" for INVITE "+strconv.Itoa(int(l.number)))
	case l.code >= 300:
		c.ackRefusal(now, l, m)
	default:
		c.ackAnswer(now, l, p)
	}
}

// ackRefusal: the ACK to a failure belongs to the INVITE's transaction and has its
// branch (RFC 3261 17.1.1.3).
func (c *Callee) ackRefusal(now time.Time, l *leg, m *sip.Message) {
	if !bytes.Equal(m.Branch(), l.branch) {
		c.faults.add(now, FaultOrder, l.rec.CallID, "ACK to "+strconv.Itoa(l.code)+" under another branch")
	}
	l.final.stop()
	by := "refused"
	if l.code == 487 {
		by = "cancel"
	}
	c.end(now, l, by)
}

func (c *Callee) ackAnswer(now time.Time, l *leg, p *transport.Packet) {
	m := p.Message
	c.checkDialog(now, l, m)
	if hasSDP := len(m.Body()) > 0; hasSDP == l.offered {
		c.faults.add(now, FaultSession, l.rec.CallID, "ACK with SDP "+strconv.FormatBool(hasSDP)+", INVITE with SDP "+strconv.FormatBool(l.offered))
	}
	l.final.stop()
	c.account.Acked++
	l.rec.Acked = now
	if l.state == LegAnswered {
		l.state = LegUp
		c.nextAction(now, l)
	}
	c.schedule(l)
}
