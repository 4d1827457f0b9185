package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// try is one attempt: an INVITE to one member (or to a peer node, for a
// hand-off) and what came back.
type try struct {
	call   *Call
	index  int // the sequence engine's number
	cand   trunkgroup.Candidate
	node   int // index in the hand-off's nodes; -1 for a member
	tx     *inviteTx
	heard  bool         // any response came
	final  *sip.Message // its final failure
	callID string
	uses   []limit.Use // until the INVITE has them
	seat   Seat        // the same
	wait   *wait
	// sent is the INVITE of a carrier that may challenge it, authorized that it did.
	sent       *outline
	authorized bool
}

// dial begins an attempt.
func (c *Call) dial(attempt, target int) {
	t := &try{call: c, index: attempt, cand: c.cands[target], node: -1}
	c.tries = append(c.tries, t)
	c.failOver(attempt, &t.cand)
	if attempt > 0 && c.lc != nil {
		c.s.env.Count(Event{Kind: EventRouteAdvance, Call: c.id, Carrier: t.cand.Route.CarrierID})
	}
	c.admitAttempt(t)
}

// send puts the INVITE of an attempt on the wire that has what it uses. Each
// attempt is a new dialog shaped from the caller's own request, never from an
// earlier attempt (S-003, S-082).
func (c *Call) send(t *try) {
	if t.cand.Binding != nil {
		c.sendToBinding(t)
		return
	}
	s := c.s
	m := t.cand.Member
	listener, ok := s.listener(m.Transport, t.cand.Addr.Addr())
	if !ok {
		c.do(c.fresh().Undialable(s.now, t.index, "no_listener"))
		return
	}
	hop := transport.Target{
		Transport: m.Transport, Addr: t.cand.Addr, Listener: listener, ServerName: m.ServerName,
	}
	sh := c.shape(t, hop)
	o := c.legOutline(hop, sh.lines)
	o.uri = sh.uri
	id := c.legIdentity(&o, sh.from, sh.to)
	t.callID = id.callID
	t.keep(&o)
	id.veil = sh.veil
	t.tx = s.sendInvite(&o, id, t)
}

// legOutline is what all INVITEs of a call share. Lines are complete header lines that
// cross from the caller, shaped for who is called.
func (c *Call) legOutline(hop transport.Target, lines []byte) outline {
	s := c.s
	forwards := 70
	if n := c.msg.MaxForwards(); n >= 0 {
		forwards = n - 1
	}
	return outline{
		method: sip.INVITE, seq: 1, token: s.newBranch(), maxForwards: forwards, hop: hop, contact: true,
		lines:       lines,
		contentType: c.msg.Header(sip.ContentType), body: c.msg.Body(),
	}
}

// legIdentity completes the outline with a new dialog's identifiers.
func (c *Call) legIdentity(o *outline, local, remote string) identity {
	id := identity{
		uri: o.uri, callID: c.s.mint(), localTag: c.s.mint(), local: local, remote: remote,
		seq: o.seq, hop: o.hop,
	}
	o.callID, o.from, o.to = id.callID, local+";tag="+id.localTag, remote
	o.sizeEstimate = 768 + len(o.lines) + len(o.body)
	return id
}

// progressed takes a provisional response of the attempt.
func (t *try) progressed(_ *inviteTx, m *sip.Message) {
	t.hear()
	c := t.call
	c.event = m
	if t.node >= 0 {
		c.hand.progressed(t, m)
	} else {
		c.do(c.seq.Provisional(c.s.now, t.index, m.Status()))
	}
	c.event = nil
}

// refused takes the attempt's final failure.
func (t *try) refused(_ *inviteTx, m *sip.Message) {
	t.hear()
	t.judge(m)
	t.final = m
	t.decided(m)
}

// accepted takes the attempt's 2xx.
func (t *try) accepted(_ *inviteTx, m *sip.Message) {
	t.hear()
	t.decided(m)
	if t.call.winner != t {
		// The sequence did not want it: hang the dialog up.
		t.tx.owner = nil
		t.tx.hangUp(m)
	}
}

// decided tells the hunt, or the hand-off, of the attempt's final response.
func (t *try) decided(m *sip.Message) {
	c := t.call
	c.event = m
	if t.node >= 0 {
		c.hand.decided(t, m)
	} else {
		c.do(c.fresh().Final(c.s.now, t.index, m.Status()))
	}
	c.event = nil
}

// lost takes the news that the attempt will have no final response.
func (t *try) lost(_ *inviteTx, err error) {
	c := t.call
	if t.node >= 0 {
		c.hand.lost(t)
		return
	}
	cause := failureCause(err)
	if b := t.cand.Binding; b != nil {
		cause = lostCause(b, err)
	}
	t.evidence(false, cause)
	if NeverSent(err) {
		c.do(c.fresh().Undialable(c.s.now, t.index, cause))
		return
	}
	c.do(c.fresh().TransportError(c.s.now, t.index, cause))
}

// judge takes what a final failure says about the member itself: nothing,
// unless its group lists the code, or a 503 asks for a pause (DEC-11).
func (t *try) judge(m *sip.Message) {
	member := t.cand.Member
	if t.node >= 0 || t.cand.Binding != nil || member.Index < 0 {
		return
	}
	if member.Group.PassiveCodes.Has(m.Status()) {
		t.call.s.env.Evidence(member, t.cand.Addr, false, vendorCause(m.Status()))
	}
	if m.Status() == 503 {
		if d := retryAfter(m); d > 0 {
			t.call.s.env.Paused(member, t.cand.Addr, d)
		}
	}
}

// hear notes the first sign of life: it resets the evidence against the member
// (DEC-11).
func (t *try) hear() {
	if !t.heard {
		if t.node < 0 {
			t.evidence(true, "")
		}
		t.heard = true
	}
}

// fairWait is the time after which silence says something about a member: it has
// been sent two copies of the INVITE by then.
const fairWait = time.Second

// saidNothing tells whether an attempt that is given up for a cause is evidence
// against its member if it was silent until then (DEC-11): not when it was the
// caller or a node who went, or another far end of a fork that was faster, nor
// when a bound of the whole hunt had left it hardly any time.
func (t *try) saidNothing(cause string) bool {
	switch cause {
	case hunt.CauseNoResponse:
		return true
	case hunt.CauseSetup, hunt.CauseReserve, hunt.CausePDD:
		return t.call.s.now.Sub(t.tx.started) >= fairWait
	}
	return false
}

// evidence reports the first sign of life of a member, or that there was none. A
// far end that registers is not probed: its binding is all that is known of it; nor is the
// next hop of a route, which no document has.
func (t *try) evidence(ok bool, cause string) {
	if !t.heard && t.cand.Binding == nil && t.cand.Member.Index >= 0 {
		t.call.s.env.Evidence(t.cand.Member, t.cand.Addr, ok, cause)
	}
}
