package b2bua

import "github.com/tandem-sbc/tandem/sbc/sip"

// byeOrder is a BYE to the caller that waits for the caller's ACK.
type byeOrder struct{ lines string }

// hungUp takes a BYE: its sender gets 200, the other side a BYE, and the call
// is over. BYEs that cross are both answered.
func (c *Call) hungUp(l *leg, p *Packet, key uint64) {
	s := c.s
	s.reject(p, key, 200, "")
	switch c.phase {
	case hunting:
		// A BYE on an early dialog gives up the call (RFC 3261 15).
		if l.caller {
			c.cancel()
		}
		return
	case ending, settling, over:
		return
	}
	c.end.party = partyCallee
	if l.caller {
		// A caller that hung up before our 2xx arrived still has to get it
		// (RFC 3261 13.3.1.4): it is repeated until its ACK.
		c.end.party = partyCaller
	}
	c.confirmCallee()
	c.end.cause = causeNormal
	c.close()
	lines := string(appendCrossing(nil, p.Message))
	c.byeTo(c.other(l), lines)
	c.afterByes()
}

// hangUpBoth ends the call on our own account.
func (c *Call) hangUpBoth(lines string) {
	c.end.party = partySystem
	c.confirmCallee()
	c.close()
	c.byeTo(c.a, lines)
	c.byeTo(c.b, lines)
	c.afterByes()
}

// confirmCallee sends the ACK that the callee of a late offer is still owed.
func (c *Call) confirmCallee() {
	if c.lateOffer {
		c.lateOffer = false
		c.winner.tx.ackSuccess(c.b, nil, nil)
	}
}

// close ends what is open inside the call and writes its record.
func (c *Call) close() {
	for i, r := range c.reinvite {
		if r != nil {
			r.abort()
			c.reinvite[i] = nil
		}
	}
	for _, r := range c.relays {
		r.abort()
	}
	c.relays = nil
	c.end.code, c.end.reason = 200, sip.ReasonPhrase(200)
	c.finish()
	c.setPhase(ending)
}

// byeTo hangs up on a leg; on a caller who has not confirmed the answer, later.
func (c *Call) byeTo(l *leg, lines string) {
	if l.caller && c.answer.Waiting() {
		c.byeLater = &byeOrder{lines: lines}
		return
	}
	c.byes++
	l.bye(c.s, lines, c)
}

func (c *Call) sendLateBye() {
	if o := c.byeLater; o != nil {
		c.byeLater = nil
		c.byes++
		c.a.bye(c.s, o.lines, c)
	}
	c.afterByes()
}

// replied takes the answer to one of our BYEs, or its absence: either way that
// leg is down.
func (c *Call) replied(_ *outgoing, m *sip.Message, err error) {
	if m != nil && m.Status() < 200 && err == nil {
		return
	}
	c.byes--
	c.afterByes()
}

// afterByes takes the call out once both legs are down.
func (c *Call) afterByes() {
	if c.byes <= 0 && !c.answer.Waiting() && c.byeLater == nil {
		c.remove()
		return
	}
	c.arm()
}
