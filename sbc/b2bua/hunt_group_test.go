package b2bua

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	customerAddr = "198.51.100.200:5060"
	vendorA1     = "192.0.2.31:5060"
	vendorA2     = "192.0.2.32:5060"
	vendorB1     = "192.0.2.41:5060"
)

// vendors is a document of one site in which a customer's calls go to two
// carriers, of which the first has two trunks.
func vendors(change func(a, b *trunkgroup.GroupSpec)) *trunkgroup.Document {
	d := &trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{
				Name: "acme-out", Role: trunkgroup.TerminationCustomer, RoutePlan: "all",
				Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.200"}},
			},
			{
				Name: "vendor-a", Role: trunkgroup.PSTNProvider, Distribution: trunkgroup.DistributionSpec{Method: trunkgroup.Failover},
				Members: []trunkgroup.MemberSpec{
					{ID: "a1", Site: "dallas", Address: vendorA1}, {ID: "a2", Site: "dallas", Address: vendorA2},
				},
			},
			{
				Name: "vendor-b", Role: trunkgroup.PSTNProvider,
				Members: []trunkgroup.MemberSpec{{ID: "b1", Site: "dallas", Address: vendorB1}},
			},
		},
		RoutePlans: []trunkgroup.RoutePlanSpec{{
			Name: "all", Routes: []trunkgroup.RouteSpec{{Prefix: "*", Providers: []string{"vendor-a", "vendor-b"}}},
		}},
	}
	change(&d.TrunkGroups[1], &d.TrunkGroups[2])
	return d
}

// refuse lets a far end refuse the INVITE that it has.
func (w *world) refuse(addr string, code int) {
	w.t.Helper()
	m := w.take(addr, "INVITE")
	w.from(addr, reply(m, code, "far", ""))
	w.take(addr, "ACK")
}

// attemptsOf writes a record's attempts as a line.
func attemptsOf(r *cdr.Record) string {
	var parts []string
	for _, a := range r.Attempts {
		word := a.Member + " " + strconv.Itoa(a.Code)
		if a.Cause != "" {
			word += " " + a.Cause
		}
		parts = append(parts, word)
	}
	return strings.Join(parts, ", ")
}

func vendorCall() string {
	return invite{called: "+13125550100", host: customerAddr, body: offer}.String()
}

// The kinds of hunting, by what a group says. P-38: the next carrier, never
// another trunk of the same one.
func TestP38_NextCarrierNeverAnotherTrunkOfTheSame(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", vendors(func(a, b *trunkgroup.GroupSpec) { a.MaxAttempts, b.MaxAttempts = 1, 1 }))
	w.from(customerAddr, vendorCall())
	w.refuse(vendorA1, 503)
	w.none(vendorA2, "INVITE")
	w.refuse(vendorB1, 500)
	w.take(customerAddr, "SIP/2.0 500")
	w.quiet()
	if got := attemptsOf(w.records[0]); got != "a1 503, b1 500" {
		t.Error(got)
	}
}

// P-38: some codes never lead to another carrier, whatever the document lists.
func TestP38_NeverAdvance(t *testing.T) {
	for _, code := range []int{404, 428, 436, 437, 438, 484, 486, 504} {
		w := newWorldOf(t, "dal-1", "dallas", vendors(func(a, _ *trunkgroup.GroupSpec) {
			a.AdvanceOn = []int{408, 480, 500, 503}
			a.NeverAdvance = []int{404, 428, 436, 437, 438, 484, 486, 504, 607, 608}
		}))
		w.from(customerAddr, vendorCall())
		w.refuse(vendorA1, code)
		w.none(vendorA2, "INVITE")
		w.none(vendorB1, "INVITE")
		w.take(customerAddr, "SIP/2.0 "+strconv.Itoa(code))
		w.quiet()
	}
}

// A setup time that passes leaves the turn to the next carrier.
func TestSetupTimeOfACarrier(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", vendors(func(a, _ *trunkgroup.GroupSpec) {
		a.Timers.Setup = trunkgroup.Duration(5 * time.Second)
	}))
	w.from(customerAddr, vendorCall())
	m := w.take(vendorA1, "INVITE")
	w.from(vendorA1, reply(m, 100, "", ""))
	w.advance(5 * time.Second)
	w.take(vendorA1, "CANCEL")
	w.none(vendorA2, "INVITE")
	b := w.take(vendorB1, "INVITE")
	w.from(vendorB1, reply(b, 486, "far", ""))
	w.take(customerAddr, "SIP/2.0 486")
	w.quiet()
	if got := attemptsOf(w.records[0]); got != "a1 408 SETUP_TIMEOUT, a2 503 setup_budget, b1 486" {
		t.Error(got)
	}
}

// pbxs is a document of one site in which calls go to three PBXs.
func pbxs(change func(g *trunkgroup.GroupSpec)) *trunkgroup.Document {
	d := document()
	d.Sites = []trunkgroup.SiteSpec{{Name: "dallas"}}
	g := &d.TrunkGroups[0]
	g.Distribution = trunkgroup.DistributionSpec{}
	g.Members = []trunkgroup.MemberSpec{
		{ID: "p1", Site: "dallas", Address: pbx1Addr},
		{ID: "p2", Site: "dallas", Address: pbx2Addr},
		{ID: "p3", Site: "dallas", Address: pbx3Addr},
	}
	d.TrunkGroups[2].Members = d.TrunkGroups[2].Members[:1]
	change(g)
	return d
}

const pbx3Addr = "198.51.100.12:5060"

// invited returns the PBX that has an INVITE, "" for none.
func (w *world) invited() string {
	for _, x := range w.sent {
		if x.m.Method() == "INVITE" {
			return x.dest()
		}
	}
	return ""
}

// refusedBy lets each PBX that is called refuse, and returns them in order.
func (w *world) refusedBy(code int) (order []string) {
	for at := w.invited(); at != ""; at = w.invited() {
		order = append(order, at)
		w.refuse(at, code)
	}
	return order
}

// P-30: load balance, weighted by relative weight, and failover by priority, the
// lower first.
func TestP30_HuntingMethods(t *testing.T) {
	first := map[trunkgroup.Method]map[string]int{}
	for _, method := range []trunkgroup.Method{trunkgroup.LoadBalance, trunkgroup.Weighted, trunkgroup.Failover} {
		w := newWorldOf(t, "dal-1", "dallas", pbxs(func(g *trunkgroup.GroupSpec) {
			g.Distribution.Method = method
			switch method {
			case trunkgroup.Weighted:
				g.Members[0].Weight = 8
			case trunkgroup.Failover:
				g.Members[0].Priority, g.Members[1].Priority, g.Members[2].Priority = 3, 2, 1
			}
		}))
		first[method] = map[string]int{}
		for n := range 300 {
			w.from(carrierAddr, invite{callID: "c" + strconv.Itoa(100+n), branch: "z9hG4bK" + strconv.Itoa(100+n), body: offer}.String())
			order := w.refusedBy(503)
			if len(order) != 3 {
				t.Fatalf("%s: %v", method, order)
			}
			first[method][order[0]]++
			w.sent = nil
		}
		w.quiet()
	}
	for _, addr := range []string{pbx1Addr, pbx2Addr, pbx3Addr} {
		if n := first[trunkgroup.LoadBalance][addr]; n != 100 {
			t.Errorf("load balance: %s was first in %d of 300 calls", addr, n)
		}
	}
	if n := first[trunkgroup.Weighted][pbx1Addr]; n < 210 || n > 270 { // 240, 3 sigma are 21
		t.Errorf("weighted 8/1/1: the first was first in %d of 300 calls", n)
	}
	if n := first[trunkgroup.Failover][pbx3Addr]; n != 300 {
		t.Errorf("failover: the lowest priority was first in %d of 300 calls", n)
	}
}

// P-31: weighted tries all active members before the call fails; one that is
// down is not among them.
func TestP31_WeightedTriesAllActiveMembers(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", pbxs(func(g *trunkgroup.GroupSpec) {
		g.Distribution.Method, g.Monitoring.Profile = trunkgroup.Weighted, "peeredge"
	}))
	v := *w.view
	v.States = append([]trunkgroup.State(nil), v.States...)
	v.States[w.table.Group("acme-in").Members[1].Index] = trunkgroup.Down
	w.view = &v
	w.from(carrierAddr, invite{body: offer}.String())
	order := w.refusedBy(503)
	if len(order) != 2 || order[0] == pbx2Addr || order[1] == pbx2Addr {
		t.Errorf("called %v", order)
	}
	w.take(carrierAddr, "SIP/2.0 500") // of a far end's 503 (RFC 3261 16.7)
	w.quiet()
}

// P-32: load balance that ends after the first member's refusal.
func TestP32_LoadBalanceEndsAfterTheFirstRefusal(t *testing.T) {
	for code, heard := range map[int]string{500: "SIP/2.0 500", 503: "SIP/2.0 500", 504: "SIP/2.0 504", 603: "SIP/2.0 603"} {
		w := newWorldOf(t, "dal-1", "dallas", pbxs(func(g *trunkgroup.GroupSpec) { g.MaxAttempts = 1 }))
		w.from(carrierAddr, invite{body: offer}.String())
		if order := w.refusedBy(code); len(order) != 1 {
			t.Errorf("%d: called %v", code, order)
		}
		w.take(carrierAddr, heard)
		w.quiet()
	}
}

// max_attempts counts in each site by itself (P-04 goes before P-32), unless the group
// hands nothing over for what its members say.
func TestP32_MaxAttemptsInTwoSites(t *testing.T) {
	for name, handoffOn := range map[string][]int{"by default": nil, "this site alone": {599}} {
		t.Run(name, func(t *testing.T) {
			p := newTwoSites(t)
			d := document()
			d.TrunkGroups[0].MaxAttempts, d.TrunkGroups[0].HandoffOn = 1, handoffOn
			p.dal, p.ash = p.dal.again(d), p.ash.again(d)
			p.dal.from(carrierAddr, invite{body: offer}.String())
			p.dal.refuse(p.dal.invited(), 503)
			p.dal.none(pbx1Addr, "INVITE")
			p.dal.none(pbx2Addr, "INVITE")
			if handoffOn == nil {
				p.exchange()
				p.ash.refuse(p.ash.invited(), 503)
				if at := p.ash.invited(); at != "" {
					t.Errorf("the peer site called %s too", at)
				}
				p.exchange()
			}
			if handoffOn == nil {
				p.dal.take(carrierAddr, "SIP/2.0 503") // exhausted_code
			} else {
				p.dal.take(carrierAddr, "SIP/2.0 500")
			}
		})
	}
}

// again is a world of the same node with another document.
func (w *world) again(d *trunkgroup.Document) *world {
	x := newWorldOf(w.t, w.s.cfg.Node, w.s.cfg.Site, d)
	x.peers, x.random = w.peers, w.random
	return x
}
