package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transaction"
)

// bridge answers the caller with the winner's 2xx. An attempt that had our
// offer is ACKed at once; with a late offer its ACK waits for the caller's,
// which carries the answer (DEC-23).
func (c *Call) bridge(t *try, m *sip.Message) {
	if t == nil || c.in == nil {
		return
	}
	s := c.s
	c.winner = t
	c.b = t.tx.dialog(m)
	c.b.call = c
	c.uses, t.tx.uses = append(c.uses, t.tx.uses...), nil
	c.seat, t.tx.seat = t.tx.seat, nil
	c.settleAffinity(t)
	s.enter(c.b, c.b.localTag)
	c.lateOffer = len(c.msg.Body()) == 0
	if !c.lateOffer {
		t.tx.ackSuccess(c.b, nil, nil)
	}
	tag := c.answerTag(early{t.index, string(m.ToTag())}, len(m.Body()) > 0)
	var extra []byte
	if c.token.yes {
		extra = c.appendAttempts(nil, false)
	}
	b := c.response(200, string(m.Reason()), tag, m, extra)
	c.answerOut, c.answerTo = b, c.in.reply
	s.env.Send(c.answerTo, b, 0)
	c.answer.Start(s.now, &s.cfg.Timers)
	c.closeInvite(b, false)
	c.times.answer = s.now
	c.fraud.Answered(s.now)
	if c.times.progress.IsZero() {
		c.countPDD()
	}
	if d := c.maxDuration(); d > 0 {
		c.maxEnd = s.now.Add(d)
	}
	c.watchHalf()
	c.setPhase(answered)
	c.tellAnswer()
	c.settleAttempts()
	c.chargeAnswered()
	c.announce()
	c.watchInterim()
	c.arm()
}

// acked takes an ACK inside a dialog: of the first 2xx, or of a re-INVITE's.
func (c *Call) acked(l *leg, m *sip.Message) {
	if l.caller && m.CSeq() == c.inviteSeq && c.answer.Waiting() {
		c.firstAck(m)
		c.arm()
		return
	}
	if r := c.reinvite[l.side()]; r != nil && r.in != nil && r.in.msg.CSeq() == m.CSeq() {
		r.acked(m)
		c.arm()
	}
}

func (c *Call) firstAck(m *sip.Message) {
	c.answer.Ack()
	c.answerOut = nil
	if c.lateOffer {
		c.lateOffer = false
		c.winner.tx.ackSuccess(c.b, m.Header(sip.ContentType), m.Body())
	}
	if c.phase == answered {
		c.setPhase(up)
		return
	}
	// If the callee hung up before this ACK, only now may we hang up on the
	// caller (RFC 3261 15).
	c.sendLateBye()
}

// side indexes what a call has per direction: 0 from the caller, 1 from the
// callee.
func (l *leg) side() int {
	if l.caller {
		return 0
	}
	return 1
}

func (c *Call) other(l *leg) *leg {
	if l.caller {
		return c.b
	}
	return c.a
}

// request takes a request inside one of the call's dialogs.
func (c *Call) request(l *leg, p *Packet, key uint64) {
	m := p.Message
	s := c.s
	if l.numbered && m.CSeq() <= l.remoteSeq {
		// RFC 3261 12.2.2: an older request is out of order.
		s.reject(p, key, 500, "")
		return
	}
	l.remoteSeq, l.numbered = m.CSeq(), true
	l.follow(s, p)
	if options := required(m); options != "" && m.Method() != sip.BYE {
		s.reject(p, key, 420, "Unsupported: "+options+"\r\n")
		return
	}
	switch m.Method() {
	case sip.BYE:
		c.hungUp(l, p, key)
	case sip.OPTIONS:
		s.reject(p, key, 200, allowLine+acceptLine+supportedLine)
	case sip.INVITE, sip.UPDATE, sip.INFO, sip.MESSAGE:
		c.relay(l, p, key)
	case sip.PRACK, sip.NOTIFY:
		s.reject(p, key, 481, "")
	case sip.REFER, sip.SUBSCRIBE, sip.REGISTER, sip.PUBLISH:
		s.reject(p, key, 405, allowLine)
	default:
		s.reject(p, key, 501, allowLine)
	}
	c.arm()
}

// expireAnswered does what is due once there is an answer.
func (c *Call) expireAnswered(now time.Time) {
	if !c.maxEnd.IsZero() && !now.Before(c.maxEnd) && c.phase != ending {
		c.end.cause = causeMaxTime
		c.hangUpBoth("Reason: Q.850;cause=31;text=\"maximum duration\"\r\n")
		return
	}
	c.writeInterim(now)
	if d := c.answer.Deadline(); !d.IsZero() && !now.Before(d) {
		do := c.answer.Expire(now)
		if do&transaction.Send != 0 && c.answerOut != nil {
			c.s.env.Send(c.answerTo, c.answerOut, 0)
		}
		if do&transaction.Timeout != 0 {
			c.noAck()
			return
		}
	}
	for _, r := range c.reinvite {
		if r != nil {
			r.expire(now)
		}
	}
	if c.phase == up {
		c.checkHalf(now)
	}
}

// noAck ends a call whose caller never confirmed the answer in 64*T1 (RFC 3261
// 13.3.1.4).
func (c *Call) noAck() {
	c.answer.Ack()
	if c.phase == ending {
		c.sendLateBye()
		return
	}
	c.end.cause = causeNoAck
	c.hangUpBoth("Reason: SIP;cause=408;text=\"no ACK\"\r\n")
}
