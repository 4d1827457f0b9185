package b2bua

import (
	"bytes"
	"time"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// route decides where the call goes and begins the hunt: the group, then the
// whole try-order over this site's members, the peer site last.
func (c *Call) route(who caller) {
	table, view := c.s.env.Routing()
	if table == nil {
		c.fail(503, causeNoConfig)
		return
	}
	uri, err := sip.ParseURI(c.msg.RequestURI())
	if err != nil {
		c.fail(416, causeBadNumber)
		return
	}
	if who.provider != nil || c.token.yes {
		uri.User = c.dialled(table, uri.User)
	}
	c.calledRaw = string(uri.User)
	c.callerRaw = callerNumber(c.msg)
	c.ani = who.ani
	var groups []*trunkgroup.Group
	if c.token.yes {
		groups = c.routeHandedOver(table)
	} else {
		groups = c.routeNew(table, who, uri)
	}
	if c.phase != hunting || groups == nil {
		return
	}
	if !c.screened(&who) || !c.admitted(who) {
		return
	}
	c.plan(table, groups, view)
	c.keepSecure()
	c.s.env.Count(Event{Kind: EventCallStarted, Group: c.customer, Direction: c.dir.String()})
	c.seqBegun = true
	c.seq = hunt.New(c.huntConfig(table, groups), c.times.start)
	c.do(c.seq.Start(c.s.now))
}

// routeNew matches a caller's call: a carrier's by the called number, a
// customer's by the route plan. A source that is both is inbound when the
// number belongs to a customer here (DEC-18).
func (c *Call) routeNew(table *trunkgroup.Table, who caller, uri sip.URI) []*trunkgroup.Group {
	user := uri.User
	if rest, ok := bytes.CutPrefix(user, []byte(who.prefix)); ok && len(rest) > 0 {
		user = rest // the source's tech prefix (P-28)
	}
	if who.provider != nil {
		if e164, err := number.Normalise(who.provider.Numbering, user); err == nil {
			if g := table.MatchNumber(e164); g != nil {
				c.dir, c.ingress, c.customer, c.called = inbound, who.provider, g, string(e164)
				return []*trunkgroup.Group{g}
			}
		}
		if who.customer == nil {
			c.dir, c.ingress = inbound, who.provider
			c.fail(404, causeNoRoute)
			return nil
		}
	}
	return c.routeCustomer(table, who.customer, uri, user)
}

// routeOutbound finds the carriers of a customer's call, by the dialled number
// or, once that was looked up for porting, by its routing number (NUM-01).
func (c *Call) routeOutbound(table *trunkgroup.Table, customer *trunkgroup.Group, user []byte) []*trunkgroup.Group {
	c.dir, c.ingress, c.customer = outbound, customer, customer
	e164, err := number.Normalise(customer.Numbering, user)
	if err != nil {
		c.fail(number.Code(err), causeBadNumber)
		return nil
	}
	c.called = string(e164)
	by := e164
	if rn, looked := number.Portability(user); looked && len(rn) > 0 {
		if e164, err := number.Normalise(customer.Numbering, rn); err == nil {
			by, c.rn = e164, string(e164)
		}
	}
	groups := table.Providers(customer, by)
	if len(groups) == 0 {
		c.fail(404, causeNoRoute)
		return nil
	}
	return groups
}

// huntConfig says how the sequence engine goes through the try-order.
func (c *Call) huntConfig(table *trunkgroup.Table, groups []*trunkgroup.Group) hunt.Config {
	cfg := hunt.Config{
		Targets:   make([]hunt.Target, len(c.cands)),
		Ring:      c.customer.Timers.Ring,
		MaxPDD:    c.customer.Timers.MaxPDD,
		HandoffOn: c.customer.HandoffOn,
	}
	for i := range c.cands {
		cand := &c.cands[i]
		t := &cand.Member.Group.Timers
		cfg.Targets[i] = hunt.Target{
			Dialable: cand.Dialable, Cause: cand.Cause,
			BTimer: t.BTimer, Progress: t.Progress, AdvanceOn: cand.Member.Group.AdvanceOn,
		}
	}
	for _, g := range groups {
		cfg.MaxAttempts = max(cfg.MaxAttempts, g.MaxAttempts)
	}
	if c.dir == inbound && c.ingress != nil {
		cfg.Exhausted = c.ingress.ExhaustedCode
	}
	if c.token.yes {
		cfg.MaxPDD = c.token.Budget
		cfg.Exhausted = 0
		return cfg
	}
	if c.peerCouldTake(table, groups) {
		cfg.Handoff, cfg.PeerFirst = true, c.peerFirst
		cfg.HandoffReserve = c.customer.Timers.HandoffReserve
	}
	return cfg
}

// peerCouldTake tells whether a peer site has members for this call. Only
// configuration may say no: what gossip knows is no judge (DEC-04).
func (c *Call) peerCouldTake(table *trunkgroup.Table, groups []*trunkgroup.Group) bool {
	for _, site := range table.PeerSites(c.s.cfg.Site) {
		for _, g := range groups {
			if len(g.At(site)) > 0 {
				return true
			}
		}
	}
	return false
}

// callerNumber is the number in the caller's From, for the record.
func callerNumber(m *sip.Message) string {
	from := addressOf(m.Header(sip.From))
	return string(from.Number())
}

// The causes that this package gives; the sequence engine has its own.
const (
	causeNoRoute   = "NO_ROUTE"
	causeBadNumber = "INVALID_NUMBER"
	causeNoConfig  = "NO_CONFIGURATION"
	causeNoAck     = "NO_ACK"
	causeMaxTime   = "MAX_DURATION"
	causePeerLost  = "PEER_LOST"
	causeNormal    = "NORMAL_CLEARING"
	causeCancelled = "ORIGINATOR_CANCEL"
)

// maxDuration bounds the answered time of a call; 0 means no bound (P-35).
func (c *Call) maxDuration() time.Duration {
	if c.customer == nil {
		return 0
	}
	return c.customer.Limits.MaxDuration
}
