package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transaction"
)

// retryLater is what a request gets that must wait for another one.
const retryLater = "Retry-After: 1\r\n"

// relay passes a request inside the dialog to the other side.
func (c *Call) relay(l *leg, p *Packet, key uint64) {
	m, s := p.Message, c.s
	in := &incoming{key: key, msg: m, reply: replyTo(p), source: p.Source, began: s.now}
	if p.Relay != "" && p.Relay == l.base.ViaNode {
		in.reply.ViaSocket = sameSocket(l.base.ViaSocket, p)
	}
	switch {
	case c.phase == hunting:
		s.reject(p, key, 500, retryLater) // RFC 3311 5.2
		return
	case c.phase != answered && c.phase != up:
		s.reject(p, key, 481, "")
		return
	case m.Method() == sip.INVITE:
		c.relayInvite(l, p, in)
		return
	case c.phase == answered && !l.caller:
		// The caller may not even have the answer yet.
		s.reject(p, key, 500, retryLater)
		return
	}
	s.server[key] = in
	r := &relayed{call: c, from: l, in: in}
	c.relays = append(c.relays, r)
	o := c.crossing(l, m)
	r.out = s.send(&o, r)
}

// crossing is the outline of a request as it goes on to the other side.
func (c *Call) crossing(l *leg, m *sip.Message) outline {
	to := c.other(l)
	o := to.inside(c.s, m.Method())
	if n := m.MaxForwards(); n > 0 {
		o.maxForwards = n - 1
	}
	o.contact = m.Has(sip.Contact)
	o.lines = to.veil.appendVeiled(make([]byte, 0, crossingSize(m)), m)
	if m.Method() == sip.INVITE || m.Method() == sip.UPDATE {
		o.lines = append(o.lines, allowLine...)
	}
	o.contentType, o.body = m.Header(sip.ContentType), m.Body()
	return o
}

// answerInside sends the final or provisional response to a request inside a
// dialog, with what may cross of the far end's response.
func (c *Call) answerInside(l *leg, in *incoming, code int, from *sip.Message, extra string) []byte {
	s := c.s
	var lines []byte
	reason := ""
	var contentType, body []byte
	if from != nil {
		reason = string(from.Reason())
		if from.Has(sip.Contact) && code < 300 {
			lines = s.appendContact(lines, in.reply)
		}
		lines = l.veil.appendVeiled(lines, from)
		contentType, body = from.Header(sip.ContentType), from.Body()
	}
	lines = append(lines, extra...)
	b := sip.AppendResponse(nil, in.msg, code, reason, nil, in.source, lines, contentType, body)
	if code < 200 {
		in.last = b
	} else {
		delete(s.server, in.key)
		s.answerDone(in)
		invite := in.msg.Method() == sip.INVITE
		keep := b
		if invite && code < 300 {
			keep = nil
		}
		s.linger.AddFinal(in.key, keep, in.reply, invite, in.reply.Transport.Reliable(), &s.cfg.Timers, s.now)
	}
	s.env.Send(in.reply, b, 0)
	return b
}

// failInside passes a final response of any class on, but for what is between
// the far end and us alone (DEC-23).
func (c *Call) failInside(l *leg, in *incoming, code int, from *sip.Message) {
	out := hunt.CallerCode(code)
	if out != code {
		from = nil
	}
	c.answerInside(l, in, out, from, "")
}

// endsDialog tells whether a response to a request inside a dialog says that
// the far end has no such dialog any more (RFC 3261 12.2.1.2, RFC 5057).
func endsDialog(code int) bool { return code == 481 || code == 408 }

// relayed is an UPDATE, INFO or MESSAGE on its way through.
type relayed struct {
	call *Call
	from *leg
	in   *incoming
	out  *outgoing
}

func (r *relayed) replied(_ *outgoing, m *sip.Message, err error) {
	c := r.call
	code := 408
	if err == nil {
		code = m.Status()
	}
	if code < 200 {
		return
	}
	away := err != nil && r.out.to.Node != ""
	for i, x := range c.relays {
		if x == r {
			c.relays = append(c.relays[:i], c.relays[i+1:]...)
			break
		}
	}
	if away {
		c.answerInside(r.from, r.in, 500, nil, retryLater)
		return
	}
	update := r.in.msg.Method() == sip.UPDATE
	if code < 300 && update {
		c.refresh(r.from, r.in.msg, m)
	}
	c.failInside(r.from, r.in, code, m)
	if code == 481 || update && endsDialog(code) {
		c.end.cause = vendorCause(code)
		c.hangUpBoth("")
	}
	c.arm()
}

// abort answers the request of a call that has ended meanwhile.
func (r *relayed) abort() {
	r.out.taker = nil
	r.call.answerInside(r.from, r.in, 487, nil, "")
}

// refresh takes new remote targets after a target refresh (RFC 3261 12.2).
func (c *Call) refresh(from *leg, req, resp *sip.Message) {
	from.setTarget(c.s, req.Header(sip.Contact))
	if resp != nil {
		c.other(from).setTarget(c.s, resp.Header(sip.Contact))
	}
}

// reinvite is an INVITE inside the dialog on its way through: at most one per
// direction.
type reinvite struct {
	call       *Call
	from       *leg
	in         *incoming
	tx         *inviteTx
	open       bool // no final response to the sender yet
	authorized bool // a carrier's challenge was answered
	lateOffer  bool
	until      time.Time // timer C; zero once it has fired
	answer     transaction.Answer
	answerOut  []byte
}

// timerC bounds the wait for the final response to a re-INVITE that the other
// side has taken (RFC 3261 16.6 step 11, for want of a timer of its own).
const timerC = 3 * time.Minute

// deadline is when expire is due.
func (r *reinvite) deadline() time.Time {
	if r.open {
		return r.until
	}
	return r.answer.Deadline()
}

func (c *Call) relayInvite(l *leg, p *Packet, in *incoming) {
	s := c.s
	if c.reinvite[l.side()] != nil {
		// RFC 3261 14.2: one INVITE at a time from one side.
		s.reject(p, in.key, 500, retryLater)
		return
	}
	if c.reinvite[1-l.side()] != nil || c.phase == answered {
		s.reject(p, in.key, 491, "")
		return
	}
	r := &reinvite{
		call: c, from: l, in: in, open: true, lateOffer: len(in.msg.Body()) == 0, until: s.now.Add(timerC),
	}
	c.reinvite[l.side()] = r
	in.call = c
	s.server[in.key] = in
	b := sip.AppendResponse(nil, in.msg, 100, "", nil, in.source, nil, nil, nil)
	in.last = b
	s.env.Send(in.reply, b, 0)
	o := c.crossing(l, in.msg)
	o.contact = true
	to := c.other(l)
	r.tx = s.sendInvite(&o, identity{
		uri: o.uri, routes: o.routes, callID: to.callID, localTag: to.localTag,
		local: to.local, remote: to.remote, seq: o.seq, hop: o.hop, leg: to,
	}, r)
}

func (r *reinvite) progressed(_ *inviteTx, m *sip.Message) {
	if r.open && m.Status() > 100 {
		r.call.answerInside(r.from, r.in, m.Status(), m, "")
	}
}

func (r *reinvite) refused(_ *inviteTx, m *sip.Message) { r.fail(m.Status(), m) }

func (r *reinvite) lost(tx *inviteTx, _ error) {
	if tx.id.hop.Node == "" || !r.open {
		r.fail(408, nil)
		return
	}
	// The other half of the call is away, perhaps for a moment (DEC-09).
	c := r.call
	r.open = false
	c.reinvite[r.from.side()] = nil
	c.answerInside(r.from, r.in, 500, nil, retryLater)
	c.arm()
}

func (r *reinvite) fail(code int, m *sip.Message) {
	c := r.call
	if !r.open {
		return
	}
	r.open = false
	c.reinvite[r.from.side()] = nil
	c.failInside(r.from, r.in, code, m)
	if endsDialog(code) {
		c.end.cause = vendorCause(code)
		c.hangUpBoth("")
	}
	c.arm()
}

func (r *reinvite) accepted(_ *inviteTx, m *sip.Message) {
	c := r.call
	c.refresh(r.from, r.in.msg, m)
	if !r.lateOffer {
		r.tx.ackSuccess(r.tx.id.leg, nil, nil)
	}
	r.open = false
	r.answerOut = c.answerInside(r.from, r.in, m.Status(), m, allowLine)
	r.answer.Start(c.s.now, &c.s.cfg.Timers)
	c.arm()
}

func (r *reinvite) acked(m *sip.Message) {
	if r.open {
		return
	}
	r.answer.Ack()
	if r.lateOffer {
		r.tx.ackSuccess(r.tx.id.leg, m.Header(sip.ContentType), m.Body())
	}
	r.call.reinvite[r.from.side()] = nil
}

// expire repeats the 2xx until its ACK; without one in 64*T1 the call ends
// (RFC 3261 14.2).
func (r *reinvite) expire(now time.Time) {
	d := r.deadline()
	if d.IsZero() || now.Before(d) {
		return
	}
	if r.open {
		r.until = time.Time{}
		r.tx.cancel()
		return
	}
	do := r.answer.Expire(now)
	if do&transaction.Send != 0 {
		r.call.s.env.Send(r.in.reply, r.answerOut, 0)
	}
	if do&transaction.Timeout != 0 {
		r.call.end.cause = causeNoAck
		r.call.hangUpBoth("")
	}
}

// abort ends a re-INVITE whose call is over (RFC 3261 15.1.2).
func (r *reinvite) abort() {
	if r.open {
		r.open = false
		r.call.answerInside(r.from, r.in, 487, nil, "")
		r.tx.abandon()
		return
	}
	if r.lateOffer && r.answer.Waiting() {
		// The ACK that is owed goes before the BYE (RFC 3261 15).
		r.tx.ackSuccess(r.tx.id.leg, nil, nil)
	}
	r.answer.Ack()
}
