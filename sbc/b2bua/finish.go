package b2bua

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// callID makes Tandem's own id of a call, one over both sites and all records.
func callID(now time.Time, high, low uint64) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(now)) // fails after the year 10889 only
	var entropy [10]byte
	for i := range entropy {
		if i < 8 {
			entropy[i] = byte(high >> (8 * i))
		} else {
			entropy[i] = byte(low >> (8 * (i - 8)))
		}
	}
	_ = id.SetEntropy(entropy[:]) // fails on a wrong length only
	return id.String()
}

// setPhase moves the call on. Every change of phase is here.
func (c *Call) setPhase(p phase) { c.phase = p }

// settleAttempts keeps the list of attempts for the record and lets go of what
// only the hunt needed: a call that is up holds no message and no sequence.
func (c *Call) settleAttempts() {
	c.rec = c.record()
	c.addFields(c.rec)
	c.settleRoutes()
	c.msg, c.seq, c.cands, c.tries, c.forks, c.event, c.todo = nil, nil, nil, nil, nil, nil, nil
	if c.hand != nil {
		c.hand.release()
		c.hand = nil
	}
}

// record writes down all that is known of the call while it hunts.
func (c *Call) record() *cdr.Record {
	r := &cdr.Record{
		CallID: c.id, Kind: cdr.KindCall, Version: 1, Final: true,
		Node: c.s.cfg.Node, Site: c.s.cfg.Site, EgressSite: c.s.cfg.Site,
		Direction: cdr.Direction(c.dir.String()),
		Test:      c.test,
		Caller:    c.shownCaller(), CallerRaw: c.callerRaw, Called: c.called, CalledRaw: c.calledRaw, RN: c.rn,
		SIPCallID: c.a.callID, Start: c.times.start, Source: c.source, Local: c.local, Transport: c.proto.String(),
		AuthUser: c.user,
	}
	if c.token.yes {
		r.Kind = cdr.KindHandoff
	}
	if c.ingress != nil {
		r.IngressGroup = c.ingress.Name
	}
	if c.customer != nil {
		r.Customer = c.customer.Name
	}
	if c.msg != nil {
		r.To = string(addressOf(c.msg.Header(sip.To)).User)
		r.UserAgent = string(c.msg.Header(sip.UserAgent))
	}
	c.recordAttempts(r)
	return r
}

func (c *Call) recordAttempts(r *cdr.Record) {
	if c.seq == nil {
		return
	}
	answered := false
	for i, a := range c.seq.Attempts() {
		out := cdr.Attempt{
			N: i + 1, Dialed: a.Dialed, Progress: a.Progress, Code: a.Code, Cause: a.Cause, Elapsed: a.Elapsed,
			Group: a.Group, Member: a.Member, Site: a.Site,
		}
		route := c.routeOf(&a)
		if route != nil {
			out.CarrierID = route.CarrierID
		}
		if m := c.memberOf(&a); m != nil {
			out.Group, out.Member, out.Site = c.groupOf(&a, m), m.ID, c.s.cfg.Site
			c.countAttempt(&a, m, route)
		}
		if t := c.try(i); t != nil && a.Site == "" {
			out.EgressCallID = t.callID
			if t.cand.Binding != nil {
				out.Address = t.cand.Addr.String()
			}
		}
		r.Attempts = append(r.Attempts, out)
		if !answered { // of a fork the one that answered, which may not be the last
			r.EgressGroup, r.EgressMember, r.EgressSite = out.Group, out.Member, out.Site
			c.recordRoute(r, route, a.Code/100 == 2)
		}
		answered = answered || a.Code/100 == 2
	}
	r.HandedOff = c.hand != nil
	if c.winner != nil {
		r.EgressCallID = c.winner.callID
		if n := len(r.Attempts); n > 0 && r.EgressCallID == "" {
			r.EgressCallID = r.Attempts[n-1].EgressCallID
		}
	}
}

// countAttempt counts an attempt here, when its call is recorded. A test call says nothing of
// who is called, nor has the next hop of a route a name that is counted under.
func (c *Call) countAttempt(a *hunt.Attempt, m *trunkgroup.Member, route *trunkgroup.CarrierRoute) {
	if c.test {
		return
	}
	e := Event{Kind: EventAttempt, Member: m, Code: a.Code, Reason: a.Cause, Dialed: a.Dialed, Final: a.Final}
	if m.Index < 0 {
		e.Member = nil
	}
	c.byRoute(&e, route)
	e.Rang, e.Wait = a.Progress || a.Code/100 == 2, a.First
	c.s.env.Count(e)
}

// byRoute says in an event by which route of which plan the call went.
func (c *Call) byRoute(e *Event, route *trunkgroup.CarrierRoute) {
	e.Called = c.called
	if route != nil {
		e.Carrier = route.CarrierID
	}
	if c.asks != nil {
		e.Plan = c.asks.Name
	}
}

// recordRoute writes down the route that won, or the last one that was tried (S-100); what it
// says of the record holds when it won (S-050).
func (c *Call) recordRoute(r *cdr.Record, route *trunkgroup.CarrierRoute, won bool) {
	if route == nil {
		return
	}
	r.CarrierID, r.RouteSource = route.CarrierID, c.routes.Source
	r.Rate, r.Rated, r.Currency = route.Rate, route.Rated, route.Currency
	r.BillingIncrement, r.MinDuration = route.BillingIncrement, route.MinDuration
	r.Fields = nil
	if won {
		for _, f := range route.CDRFields {
			r.Fields = append(r.Fields, cdr.Field{Name: f.Name, Value: f.Value})
		}
	}
}

// finish writes the call's one record and releases what it counted. It runs
// once, whatever ended the call.
func (c *Call) finish() {
	if c.finished {
		return
	}
	c.finished = true
	r := c.rec
	if r == nil {
		r = c.record()
	}
	if c.times.end.IsZero() {
		c.times.end = c.s.now
	}
	c.fraud.Ended(c.times.end)
	r.Progress, r.Answer, r.End = c.times.progress, c.times.answer, c.times.end
	if first := firstOf(c.times.progress, c.times.answer); !first.IsZero() {
		r.PDD = first.Sub(c.times.start)
	}
	r.SIPCode, r.SIPReason = c.end.code, c.end.reason
	cause := cdr.CauseOf(c.end.code)
	r.HangupCause, r.HangupQ850 = cause.Name, cause.Q850
	if c.end.cause != "" {
		r.HangupCause = c.end.cause
	}
	r.HangupParty = cdr.Party(c.end.party)
	if r.HangupParty == "" {
		r.HangupParty = cdr.System
		if strings.HasPrefix(c.end.cause, vendorPrefix) {
			r.HangupParty = cdr.Callee
		}
	}
	if !c.times.answer.IsZero() {
		r.Version = cdr.OwnerVersion(0)
		defer c.s.env.CallDown(c.id)
	}
	c.chargeEnded(r)
	c.s.env.Finished(r)
	if !c.seqBegun {
		c.s.env.Count(Event{Kind: EventReject, Reason: c.end.cause})
	} else {
		answeredFor := 0.0
		if !c.times.answer.IsZero() {
			answeredFor = c.times.end.Sub(c.times.answer).Seconds()
		}
		e := Event{
			Kind: EventCallEnded, Group: c.customer, Member: c.egress(), Direction: c.dir.String(),
			Answered: !r.Answer.IsZero(), Code: r.SIPCode, Value: answeredFor,
		}
		if e.Member != nil || c.winner != nil && c.winner.node < 0 && !c.test { // else who answered is the peer site's
			c.byRoute(&e, c.activeRoute())
		}
		c.s.env.Count(e)
	}
}

// remove takes the call out of the shard.
func (c *Call) remove() {
	s := c.s
	if c.phase == over {
		return
	}
	c.setPhase(over)
	if c.token.yes {
		s.seen.End(c.id, s.now, 64*s.cfg.Timers.T1)
	}
	s.alarms.drop(c)
	delete(s.calls, c)
	for _, l := range [...]*leg{c.a, c.b} {
		if l != nil {
			s.leave(l)
		}
	}
	if c.in != nil {
		delete(s.server, c.in.key)
	}
	if c.hand != nil {
		c.hand.release()
	}
	c.releaseUses()
	c.shareState(OpenClosed)
}

func (c *Call) countPDD() {
	e := Event{
		Kind: EventPDD, Group: c.customer, Direction: c.dir.String(),
		Value: c.s.now.Sub(c.times.start).Seconds(),
	}
	if c.failover.scope != "" {
		e.Result, e.To, e.Wait = c.failover.scope, c.failover.to, c.failover.after
	}
	c.s.env.Count(e)
}

func firstOf(a, b time.Time) time.Time {
	if a.IsZero() {
		return b
	}
	return a
}

// addressOf returns the URI of a From or To value, empty when it cannot be read.
func addressOf(v []byte) sip.URI {
	a, err := sip.ParseNameAddr(v)
	if err != nil {
		return sip.URI{}
	}
	u, err := sip.ParseURI(a.URI)
	if err != nil {
		return sip.URI{}
	}
	return u
}

// vendorCause names what the far end said.
func vendorCause(code int) string { return vendorPrefix + strconv.Itoa(code) }

const vendorPrefix = "VENDOR_"

// failureCause is the attempt's cause for a transport's error.
func failureCause(err error) string {
	var icmp *transport.ICMPError
	switch {
	case errors.Is(err, errTimeout):
		return hunt.CauseNoResponse
	case errors.As(err, &icmp):
		return "icmp"
	default:
		return hunt.CauseTransport
	}
}

// NeverSent tells whether an error means that no byte of the INVITE left: then
// nobody rang, and the member is not to blame for more than being away.
func NeverSent(err error) bool {
	return errors.Is(err, transport.ErrNotSent) || errors.Is(err, transport.ErrNoListener) || errors.Is(err, transport.ErrNoTLS) ||
		errors.Is(err, transport.ErrQueueFull) || errors.Is(err, transport.ErrClosed) ||
		errors.Is(err, transport.ErrFlowGone) || errors.Is(err, ErrNodeDown)
}
