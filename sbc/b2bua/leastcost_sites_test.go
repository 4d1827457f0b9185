package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// twoDecided is a node of each site; the one in Dallas gets these routes, the other one
// must not ask.
func twoDecided(t *testing.T, doc func() *trunkgroup.Document, routes ...trunkgroup.CarrierRoute) *twoSites {
	p := &twoSites{dal: decided(t, doc(), routes...), ash: newWorldOf(t, "ash-1", "ashburn", doc())}
	p.dal.peers = []geo.PeerNode{{Name: "ash-1", Site: "ashburn", Fresh: true, RTT: 30 * time.Millisecond}}
	p.ash.peers = []geo.PeerNode{{Name: "dal-1", Site: "dallas", Fresh: true, RTT: 30 * time.Millisecond}}
	p.ash.random = 99
	p.ash.routes = func(*RouteQuery) *trunkgroup.RouteSet {
		t.Error("DEC-07: the peer has asked")
		return &trunkgroup.RouteSet{Absent: true}
	}
	return p
}

func inBothSites() *trunkgroup.Document { return carriers(bothSites) }

// DEC-07: the hand-off carries the remaining decision; the peer dials its own gateways of the carriers,
// by the timers and causes of the routes, and the origin's record names who answered, with his price.
func TestDEC07_HandedOverWithItsRoutes(t *testing.T) {
	first, second := routeTo(a), causes(b, 404, 503)
	second.Rate, second.Rated, second.CDRFields = 0.02, true, []trunkgroup.NameValue{{Name: "deck", Value: "9"}}
	p := twoDecided(t, inBothSites, hopTo("wholesale", ""), first, second)
	p.dal.from(customerAddr, vendorCall())
	p.dal.takes(nextHop, 503)
	p.dal.takes(gatewayA, 503)
	p.dal.takes(gatewayB, 503)
	p.exchange()
	p.ash.none(nextHop, "INVITE") // it was dialled from here
	m := p.ash.takes(gatewayAAsh, 100)
	_ = m
	p.ash.advance(6 * time.Second)
	p.exchange()
	p.ash.cancelled(gatewayAAsh)
	m = p.ash.takes(gatewayBAsh, 180)
	p.exchange()
	p.dal.take(customerAddr, "SIP/2.0 180")
	p.ash.from(gatewayBAsh, reply(m, 200, "far", answerSDP, "Contact: <sip:gw@"+gatewayBAsh+">\r\n"))
	p.exchange()
	ok := p.dal.take(customerAddr, "SIP/2.0 200")
	p.dal.from(customerAddr, ackFor(ok, "z9hG4bKack", ""))
	p.exchange()
	p.dal.from(customerAddr, inside(ok, "BYE", 2, "", ""))
	p.exchange()
	p.ash.from(gatewayBAsh, reply(p.ash.take(gatewayBAsh, "BYE"), 200, "far", ""))
	p.exchange()
	p.dal.quiet()
	p.ash.quiet()
	r := p.dal.records[0]
	if got := failedOf(r); got != "wholesale 503, a 503, b 503, a 408" {
		t.Errorf("attempts %s", got)
	}
	if got := p.dal.failures(); got != failedOf(r) {
		t.Errorf("S-046: told of %s", got)
	}
	if r.CarrierID != b || r.Rate != 0.02 || r.RouteSource != "lcr" || r.EgressSite != "ashburn" || len(r.Fields) != 1 || r.Attempts[4].CarrierID != b {
		t.Errorf("origin: %+v", r)
	}
	if peer := p.ash.records[0]; peer.Kind != "handoff" || peer.RouteSource != "peer" || peer.CarrierID != b || peer.CallID != r.CallID {
		t.Errorf("peer: %+v", peer)
	}
}

// V21: "every member of both sites down: 503 own; one hand-off accepted; all dialed=false, from both sites".
func TestV21_RoutesOfBothSitesDown(t *testing.T) {
	p := twoDecided(t, inBothSites, routeTo(a), routeTo(b))
	setDown(p.dal, "carrier-a/a", "carrier-b/b")
	setDown(p.ash, "carrier-a/a-ash", "carrier-b/b-ash")
	p.dal.from(customerAddr, vendorCall())
	p.exchange()
	p.dal.take(customerAddr, "SIP/2.0 503")
	if got := failedOf(p.dal.records[0]); got != "a 503f, b 503f, a 503f, b 503f" {
		t.Errorf("attempts %s", got)
	}
	if n := p.invitesCrossed(); n != 1 {
		t.Errorf("%d INVITEs crossed", n)
	}
}

// What a plan says of its routes holds at the peer too: ring bound, causes, members.
func TestDEC07_PlanCrosses(t *testing.T) {
	p := twoDecided(t, func() *trunkgroup.Document {
		return carriers(bothSites, func(d *trunkgroup.Document) {
			d.RoutePlans[0].Ring = trunkgroup.Duration(40 * time.Second)
			d.RoutePlans[0].RerouteCauses = []int{404, 503}
		})
	}, routeTo(a), routeTo(b))
	setDown(p.dal, "carrier-a/a", "carrier-b/b")
	p.dal.from(customerAddr, vendorCall())
	p.exchange()
	p.ash.takes(gatewayAAsh, 404)
	p.ash.takes(gatewayBAsh, 180)
	p.exchange()
	p.advance(40*time.Second - 20*time.Millisecond)
	p.ash.none(gatewayBAsh, "CANCEL")
	p.advance(40 * time.Millisecond)
	p.ash.cancelled(gatewayBAsh)
	p.exchange()
	p.dal.take(customerAddr, "SIP/2.0 408")
	if got := failedOf(p.dal.records[0]); got != "a 503f, b 503f, a 404, b 408" {
		t.Errorf("attempts %s", got)
	}
}

// A decision that does not fit is cut at its end; the rest crosses.
func TestDEC07_LargeDecision(t *testing.T) {
	var routes []trunkgroup.CarrierRoute
	for range 60 {
		r := routeTo(a)
		r.CDRFields = []trunkgroup.NameValue{{Name: "note", Value: strings.Repeat("x", 100)}}
		routes = append(routes, r)
	}
	p := twoDecided(t, inBothSites, routes...)
	setDown(p.dal, "carrier-a/a")
	p.dal.from(customerAddr, vendorCall())
	p.exchange()
	p.ash.takes(gatewayAAsh, 486)
	p.exchange()
	p.dal.take(customerAddr, "SIP/2.0 486")
	if r := p.dal.records[0]; r.CarrierID != a || r.Attempts[len(r.Attempts)-1].CarrierID != a {
		t.Errorf("%+v", r)
	}
}

// A call that a peer hands over is asked about by nobody, also when its token brings no routes that can
// be read.
func TestDEC07_NothingIsAskedTwice(t *testing.T) {
	p := twoDecided(t, inBothSites, routeTo(a))
	p.dal.table = nil // no hand-off of its own
	for _, decision := range [][]byte{nil, {7}} {
		c := &Call{s: p.ash.s, customer: p.ash.table.Group("acme-out")}
		c.token.Decision = decision
		if c.takeHanded() || c.end.cause != causeNoDecision {
			t.Errorf("%v: %s", decision, c.end.cause)
		}
	}
}

// A carrier that stands in one site alone gives the other one nothing to hand over.
func TestDEC04_NoCarrierThere(t *testing.T) {
	p := twoDecided(t, func() *trunkgroup.Document { return carriers() }, routeTo(a), hopTo("wholesale", ""))
	p.dal.from(customerAddr, vendorCall())
	p.dal.takes(gatewayA, 503)
	p.dal.takes(nextHop, 503)
	p.exchange()
	p.dal.take(customerAddr, "SIP/2.0 500")
	if n := p.invitesCrossed(); n != 0 {
		t.Errorf("%d INVITEs crossed", n)
	}
}
