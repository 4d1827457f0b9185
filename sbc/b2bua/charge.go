package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Charger has calls charged by others. What becomes of a call's credit it tells with
// Shard.Credit(ref).
type Charger interface {
	// Charge begins to charge a call.
	Charge(ref uint64, rules *trunkgroup.Charging, call charging.Call) ChargeTicket
	// ChargeAnswered tells that it was answered, and by whom.
	ChargeAnswered(key uint64, call charging.Call)
	// ChargeEnded tells that it is over. Nothing is told of its credit afterwards.
	ChargeEnded(key uint64, call charging.Call)
}

// ChargeTicket is what a call knows of its charging.
type ChargeTicket struct {
	Key             uint64
	Online, Offline string // Session-Ids; empty where there is none
	// Wait is how long the call may have to wait for credit; 0: it need not. Credit says
	// how that ended, exactly once and not later.
	Wait time.Duration
}

// Credit is what became of a call's credit.
type Credit struct {
	Kind   charging.ActionKind // Grant, Refuse or Teardown
	Why    charging.Why
	Result uint32 // the server's last word, a Diameter result code; 0 = none
}

// charged is the charging of one call.
type charged struct {
	ref    uint64
	rules  *trunkgroup.Charging
	ticket ChargeTicket
	call   charging.Call
	result uint32
}

// Causes of calls that charging ends.
const (
	causeCredit     = "CREDIT_LIMIT"         // the server grants none, or no more
	causeNoCharging = "CHARGING_UNAVAILABLE" // no server could be asked

	reasonCredit   = "Reason: SIP;cause=402;text=\"credit limit reached\"\r\n"
	reasonCharging = "Reason: SIP;cause=503;text=\"charging unavailable\"\r\n"
)

// reserve asks for credit before anything is dialled (S-102). It reports false while the
// call waits. Emergency calls are never charged (DEC-17), nor test calls; what was handed
// over is charged where it came in.
func (c *Call) reserve() bool {
	if c.customer == nil || c.charge != nil || c.token.yes || c.test || c.emergency() {
		return true
	}
	rules := c.customer.Charging
	if rules == nil || rules.Free(c.called) {
		return true
	}
	s := c.s
	x := &charged{ref: s.newBranch(), rules: rules}
	x.call = charging.Call{
		ID: c.id, SIPCallID: c.a.callID, Caller: string(c.appendCallerE164(nil)), Called: c.called, Group: c.customer.Name,
		Customer: c.customer.Customer, User: c.user, Outbound: c.dir == outbound, Begin: c.times.start,
	}
	if c.ani != "" {
		x.call.Caller = c.ani
	}
	x.call.Ingress = c.customer.Name
	if c.ingress != nil {
		x.call.Ingress = c.ingress.Name
	}
	c.charge = x
	s.charges[x.ref] = c
	x.ticket = s.env.Charge(x.ref, rules, x.call)
	if x.ticket.Wait == 0 {
		return true
	}
	c.wait = &wait{call: c, kind: waitCredit, ref: x.ref, until: s.now.Add(x.ticket.Wait + decisionGrace)}
	s.waits[x.ref] = c.wait
	c.arm()
	return false
}

// Credit tells what became of the credit of a call.
func (s *Shard) Credit(now time.Time, ref uint64, credit Credit) {
	s.now, s.hot = now, nil
	c := s.charges[ref]
	if c == nil {
		return
	}
	s.hot = c
	if credit.Result != 0 {
		c.charge.result = credit.Result
	}
	waits := s.waits[ref]
	delete(s.waits, ref)
	switch {
	case credit.Kind == charging.Teardown:
		c.creditEnded(credit.Why)
	case waits == nil || c.wait != waits || c.phase != hunting:
	case credit.Kind == charging.Grant:
		c.wait = nil
		c.resume()
	case credit.Kind == charging.Refuse:
		c.wait = nil
		c.creditRefused(credit.Why)
	}
	c.arm()
}

// creditRefused refuses a call before anything was dialled.
func (c *Call) creditRefused(why charging.Why) {
	c.end.party = partySystem
	if why == charging.WhyCredit {
		c.fail(c.charge.rules.DeniedCode, causeCredit)
		return
	}
	c.fail(503, causeNoCharging)
}

// creditLate ends a wait that nobody ended: it is as if no server had answered.
func (c *Call) creditLate() {
	if c.charge.rules.OnFailure == trunkgroup.ChargingContinue {
		c.resume()
		return
	}
	c.creditRefused(charging.WhyFailure)
}

// creditEnded ends a call whose credit is over (S-102): both legs of one that was answered,
// the hunt of one that was not.
func (c *Call) creditEnded(why charging.Why) {
	cause, lines := causeCredit, reasonCredit
	if why != charging.WhyCredit {
		cause, lines = causeNoCharging, reasonCharging
	}
	switch c.phase {
	case hunting:
		if c.seq != nil {
			c.do(c.seq.Stop(c.s.now, cause))
		}
		c.unwait()
		c.creditRefused(why)
	case answered, up:
		c.end.cause = cause
		c.hangUpBoth(lines)
	case ending, settling, over:
	}
}

// chargeAnswered begins what is charged: it says who answered (S-101).
func (c *Call) chargeAnswered() {
	x := c.charge
	if x == nil {
		return
	}
	x.call.Answered, x.call.Code = c.times.answer, 200
	x.call.Egress, x.call.Carrier = c.rec.EgressGroup, c.rec.CarrierID
	c.chargeRecord(c.rec)
	c.s.env.ChargeAnswered(x.ticket.Key, x.call)
}

// chargeEnded ends it, with the record of the call: both have the same two instants, so
// that they agree to the second.
func (c *Call) chargeEnded(r *cdr.Record) {
	x := c.charge
	if x == nil {
		return
	}
	delete(c.s.charges, x.ref)
	x.call.Answered, x.call.Ended, x.call.Code = r.Answer, r.End, r.SIPCode
	x.call.Egress, x.call.Carrier = r.EgressGroup, r.CarrierID
	switch c.end.cause {
	case causeCredit:
		x.call.Why = charging.NoCredit
	case causeShutdown, causeFault, causePeerLost, causeNoAck, causeNoCharging:
		x.call.Why = charging.Fault
	}
	c.chargeRecord(r)
	c.s.env.ChargeEnded(x.ticket.Key, x.call)
}

// chargeRecord says in a record how the call is charged.
func (c *Call) chargeRecord(r *cdr.Record) {
	x := c.charge
	r.RoSession, r.RfSession, r.RoResult = x.ticket.Online, x.ticket.Offline, x.result
}
