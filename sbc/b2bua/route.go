package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// route finds out whose call it is and where it goes, by the document, and takes it on
// to the stages that may have to wait for others.
func (c *Call) route(who caller) {
	table, _ := c.s.env.Routing()
	if table == nil {
		c.fail(503, causeNoConfig)
		return
	}
	uri, err := sip.ParseURI(c.msg.RequestURI())
	if err != nil {
		c.fail(416, trunkgroup.CauseBadNumber)
		return
	}
	if who.provider != nil || c.token.yes {
		uri.User = c.dialled(table, uri.User)
	}
	c.calledRaw = string(uri.User)
	c.callerRaw = callerNumber(c.msg)
	c.ani = who.ani
	if !c.decide(table, who, uri) {
		return
	}
	if c.test && c.emergency() { // nobody tries out whether help comes
		c.fail(403, causeTest)
		return
	}
	if !c.screened(&who) || !c.admitted(who) {
		return
	}
	c.secure = uri.Scheme == "sips"
	c.s.env.Count(Event{Kind: EventCallStarted, Group: c.customer, Direction: c.dir.String()})
	c.seqBegun = true
	c.proceed()
}

// hunt tries what the call was routed to, one after the other, by the table and the
// view of now.
func (c *Call) hunt() {
	table, view := c.s.env.Routing()
	course := c.course(table, view)
	if c.routes != nil {
		c.begin(table, view)
	}
	c.plan(&course)
	c.seq = hunt.New(c.huntConfig(&course), c.times.start)
	c.do(c.seq.Start(c.s.now))
}

// huntConfig says how the sequence engine goes through the try-order.
func (c *Call) huntConfig(course *trunkgroup.Course) hunt.Config {
	d := trunkgroup.Decision{Direction: c.dir.String(), Ingress: c.ingress, Customer: c.customer, Plan: c.asks}
	rules := rulesFor(&d, course, c.cands)
	if c.lc != nil {
		c.lc.rules = rules
	}
	cfg := huntConfig(&d, course, &rules, c.peerFirst)
	if c.token.yes {
		cfg.MaxPDD, cfg.Exhausted, cfg.Handoff, cfg.PeerFirst = c.token.Budget, 0, false, false
	}
	return cfg
}

// HuntConfig says how the sequence engine goes through the try-order of a call.
// Calls and explain both ask it.
func HuntConfig(d *trunkgroup.Decision, course *trunkgroup.Course, order []trunkgroup.Candidate, peerFirst bool) hunt.Config {
	rules := rulesFor(d, course, order)
	return huntConfig(d, course, &rules, peerFirst)
}

// rulesFor are the targets of a try-order and what they follow.
func rulesFor(d *trunkgroup.Decision, course *trunkgroup.Course, order []trunkgroup.Candidate) huntRules {
	if course.Routes == nil {
		return rulesOf(order, course.Groups)
	}
	var r huntRules
	r.routeRules(order, 0, course.Table, d.Plan)
	return r
}

func huntConfig(d *trunkgroup.Decision, course *trunkgroup.Course, rules *huntRules, peerFirst bool) hunt.Config {
	cfg := hunt.Config{
		Targets: rules.targets, Groups: rules.rules,
		Ring: d.Customer.Timers.Ring, MaxPDD: d.Customer.Timers.MaxPDD, HandoffOn: d.Customer.HandoffOn,
	}
	if course.Routes != nil && d.Plan != nil {
		cfg.Ring = d.Plan.Ring // S-062: of the sequence, whoever's call it is
	}
	if d.Direction == trunkgroup.Inbound && d.Ingress != nil {
		cfg.Exhausted = d.Ingress.ExhaustedCode
	}
	if course.HandsOff() {
		cfg.Handoff, cfg.PeerFirst = true, peerFirst
		cfg.HandoffReserve = d.Customer.Timers.HandoffReserve
	}
	return cfg
}

// decide says where the call goes by the document, or whom to ask. It gives the call its
// final response, and reports false, when there is neither.
func (c *Call) decide(table *trunkgroup.Table, who caller, uri sip.URI) bool {
	var d trunkgroup.Decision
	if c.token.yes {
		d = table.RouteHandedOver(c.token.Group, c.token.Direction, c.token.Called, uri.User, number.Policy())
	} else {
		match := trunkgroup.SourceMatch{Provider: who.provider, Customer: who.customer, Prefix: who.prefix}
		d = table.Route(match, uri.User, uri.Host, number.Policy())
	}
	c.dir, c.ingress, c.customer, c.called, c.rn = directionOf(d.Direction), d.Ingress, d.Customer, d.Called, d.RN
	if c.token.yes {
		c.s.env.Count(Event{
			Kind: EventHandoff, Direction: d.Direction, From: c.siteOf(c.peer), To: c.s.cfg.Site, Group: table.Group(c.token.Group),
			Reason: "peer", Result: "received",
		})
	}
	c.groups, c.asks = d.Groups, d.Plan
	if c.token.yes && (d.Plan != nil || len(c.token.Decision) > 0) && d.Customer != nil {
		return c.takeHanded()
	}
	if d.Groups == nil && d.Plan == nil {
		c.fail(d.Code, d.Cause)
		return false
	}
	return true
}

// callerNumber is the number in the caller's From, for the record.
func callerNumber(m *sip.Message) string {
	from := addressOf(m.Header(sip.From))
	return string(from.Number())
}

// The causes that this package gives; the sequence engine has its own.
const (
	causeNoConfig  = "NO_CONFIGURATION"
	causeTest      = "TEST_REFUSED"
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
