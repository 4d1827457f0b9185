package b2bua

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	gatewayA    = "192.0.2.51:5060"
	gatewayB    = "192.0.2.52:5060"
	gatewayC    = "192.0.2.53:5060"
	gatewayA2   = "192.0.2.61:5060"
	gatewayAAsh = "192.0.2.151:5060"
	gatewayBAsh = "192.0.2.152:5060"
)

// carriers is a document of two sites in which others decide to which of three carriers
// the calls of a customer go.
func carriers(change ...func(d *trunkgroup.Document)) *trunkgroup.Document {
	carrier := func(name string, members ...trunkgroup.MemberSpec) trunkgroup.GroupSpec {
		return trunkgroup.GroupSpec{
			Name: name, Role: trunkgroup.PSTNProvider, Distribution: trunkgroup.DistributionSpec{Method: trunkgroup.Failover}, Members: members,
		}
	}
	d := &trunkgroup.Document{
		Cluster: "test",
		Sites:   []trunkgroup.SiteSpec{{Name: "dallas", Peers: []string{"ashburn"}}, {Name: "ashburn", Peers: []string{"dallas"}}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{Name: "acme-out", Role: trunkgroup.TerminationCustomer, RoutePlan: "lcr", Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.200"}}},
			carrier("carrier-a", trunkgroup.MemberSpec{ID: "a", Site: "dallas", Address: gatewayA}),
			carrier("carrier-b", trunkgroup.MemberSpec{ID: "b", Site: "dallas", Address: gatewayB}),
			carrier("carrier-c", trunkgroup.MemberSpec{ID: "c", Site: "dallas", Address: gatewayC}),
		},
		RoutePlans: []trunkgroup.RoutePlanSpec{{Name: "lcr", Decision: &trunkgroup.DecisionSpec{URL: "http://127.0.0.1:8080/route"}}},
	}
	for _, f := range change {
		f(d)
	}
	return d
}

// bothSites gives carriers a and b a gateway in the other site too.
func bothSites(d *trunkgroup.Document) {
	d.TrunkGroups[1].Members = append(d.TrunkGroups[1].Members, trunkgroup.MemberSpec{ID: "a-ash", Site: "ashburn", Address: gatewayAAsh})
	d.TrunkGroups[2].Members = append(d.TrunkGroups[2].Members, trunkgroup.MemberSpec{ID: "b-ash", Site: "ashburn", Address: gatewayBAsh})
}

func routeTo(carrier string) trunkgroup.CarrierRoute {
	return trunkgroup.CarrierRoute{CarrierID: carrier, GatewayGroup: carrier, Timeout: 6 * time.Second}
}

func onwards(carrier string) trunkgroup.CarrierRoute {
	r := routeTo(carrier)
	r.RerouteAfterProgress = true
	return r
}

func causes(carrier string, codes ...int) trunkgroup.CarrierRoute {
	r := routeTo(carrier)
	r.RerouteCauses = trunkgroup.Causes(codes...)
	return r
}

// decided is a world of one node whose calls get these routes.
func decided(t testing.TB, doc *trunkgroup.Document, routes ...trunkgroup.CarrierRoute) *world {
	w := newWorldOf(t, "dal-1", "dallas", doc)
	w.decide(routes...)
	return w
}

func (w *world) decide(routes ...trunkgroup.CarrierRoute) {
	set := &trunkgroup.RouteSet{Source: trunkgroup.RoutesLive, Routes: routes}
	w.routes = func(*RouteQuery) *trunkgroup.RouteSet { return set }
}

// takes lets a carrier have the INVITE of the call and say something: a provisional, a
// failure, or nothing with 0.
func (w *world) takes(addr string, codes ...int) *sip.Message {
	w.t.Helper()
	m := w.take(addr, "INVITE")
	for _, code := range codes {
		w.says(addr, m, code)
	}
	return m
}

func (w *world) says(addr string, m *sip.Message, code int) {
	w.t.Helper()
	switch {
	case code == 0:
	case code < 200:
		w.from(addr, reply(m, code, "far", ""))
	case code < 300:
		w.from(addr, reply(m, code, "far", answerSDP, "Contact: <sip:gw@"+addr+">\r\n"))
		w.take(addr, "ACK")
	default:
		w.from(addr, reply(m, code, "far", ""))
		w.take(addr, "ACK")
	}
}

// ends demands the caller's final response, the list of failed attempts (S-047), and that
// nothing is left.
func (w *world) ends(code int, attempts string) *cdr.Record {
	w.t.Helper()
	final := w.take(customerAddr, "SIP/2.0 "+strconv.Itoa(code))
	if code == 200 {
		w.from(customerAddr, ackFor(final, "z9hG4bKack", ""))
		w.from(customerAddr, inside(final, "BYE", 2, "", ""))
		for _, x := range w.sent {
			if x.m.Method() == sip.BYE && x.m.IsRequest() {
				w.from(x.dest(), reply(x.m, 200, "far", ""))
			}
		}
	}
	if w.quiet(); len(w.records) != 1 {
		w.t.Fatalf("%d records", len(w.records))
	}
	r := w.records[0]
	if got := failedOf(r); got != attempts {
		w.t.Errorf("attempts [%s], want [%s]", got, attempts)
	}
	if got := w.failures(); got != attempts {
		w.t.Errorf("S-046: told of [%s], want [%s]", got, attempts)
	}
	return r
}

// failedOf writes the failed attempts of a record: carrier, code, and f for one that was
// not dialled.
func failedOf(r *cdr.Record) string {
	var list []string
	for _, a := range r.Attempts {
		if a.Code >= 300 {
			list = append(list, failedWord(a.CarrierID, a.Code, a.Dialed))
		}
	}
	return strings.Join(list, ", ")
}

func failedWord(carrier string, code int, dialed bool) string {
	word := strings.TrimPrefix(carrier, "carrier-") + " " + strconv.Itoa(code)
	if !dialed {
		word += "f"
	}
	return word
}

// failures are the failed attempts that were told of, as they happened.
func (w *world) failures() string {
	var list []string
	for _, e := range w.events {
		if e.Kind == EventRouteFailed {
			list = append(list, failedWord(e.Carrier, e.Code, e.Dialed))
		}
	}
	return strings.Join(list, ", ")
}

const (
	a, b, c = "carrier-a", "carrier-b", "carrier-c"
	bothBad = "a 503, b 503"
)

// S-030, S-062, S-065, S-066: the plan's ring bound is the sequence's.
func TestS030_S062_S065_S066_RingBoundOfThePlan(t *testing.T) {
	for _, tt := range []struct {
		ring trunkgroup.Duration
		rung time.Duration // the CANCEL; 0 = never
	}{{0, 30 * time.Second}, {trunkgroup.Duration(45 * time.Second), 45 * time.Second}, {trunkgroup.Off, 0}, {trunkgroup.Duration(2 * time.Second), 6 * time.Second}} {
		w := decided(t, carriers(func(d *trunkgroup.Document) {
			d.RoutePlans[0].Ring = tt.ring
			d.TrunkGroups[0].Timers.Ring = trunkgroup.Duration(7 * time.Second) // the customer's holds for rows
		}), routeTo(a), routeTo(b))
		w.from(customerAddr, vendorCall())
		m := w.takes(gatewayA, 100)
		w.advance(time.Second)
		w.says(gatewayA, m, 180)
		if tt.rung == 0 {
			w.advance(10 * time.Minute)
			w.none(gatewayA, "CANCEL")
			w.says(gatewayA, m, 200)
			w.ends(200, "")
			continue
		}
		w.advance(tt.rung - time.Second - time.Millisecond)
		w.none(gatewayA, "CANCEL")
		w.advance(time.Millisecond)
		w.cancelled(gatewayA)
		w.ends(408, "a 408")
	}
}

// S-030: "timeout_secs, else call-level timeout, else 30 s".
func TestS030_TimeoutOfARoute(t *testing.T) {
	for _, tt := range []struct {
		timeout time.Duration
		ring    trunkgroup.Duration
		want    time.Duration
	}{
		{9 * time.Second, 0, 9 * time.Second},
		{0, trunkgroup.Duration(20 * time.Second), 20 * time.Second},
		{0, 0, 30 * time.Second},
		{0, trunkgroup.Off, 30 * time.Second},
	} {
		r := routeTo(a)
		r.Timeout = tt.timeout
		w := decided(t, carriers(func(d *trunkgroup.Document) { d.RoutePlans[0].Ring = tt.ring }), r, routeTo(b))
		w.from(customerAddr, vendorCall())
		w.takes(gatewayA, 100)
		w.advance(tt.want - time.Millisecond)
		w.none(gatewayB, "INVITE")
		w.advance(time.Millisecond)
		w.cancelled(gatewayA)
		w.takes(gatewayB, 200)
		w.ends(200, "a 408")
	}
}

// S-036: route, then group when it says so itself, then plan, then default.
func TestS036_PrecedenceOfCauses(t *testing.T) {
	plan := func(codes ...int) func(*trunkgroup.Document) {
		return func(d *trunkgroup.Document) { d.RoutePlans[0].RerouteCauses = codes }
	}
	group := func(codes ...int) func(*trunkgroup.Document) {
		return func(d *trunkgroup.Document) { d.TrunkGroups[1].AdvanceOn = codes }
	}
	for name, tt := range map[string]struct {
		doc   *trunkgroup.Document
		route trunkgroup.CarrierRoute
		code  int
		moves bool
	}{
		"default":                       {carriers(), routeTo(a), 503, true},
		"default without":               {carriers(), routeTo(a), 480, false},
		"plan":                          {carriers(plan(480)), routeTo(a), 480, true},
		"plan instead of default":       {carriers(plan(480)), routeTo(a), 503, false},
		"group before plan":             {carriers(plan(480), group(404)), routeTo(a), 404, true},
		"group before plan, not listed": {carriers(plan(480), group(404)), routeTo(a), 480, false},
		"route before group":            {carriers(plan(480), group(404)), causes(a, 410), 410, true},
		"route before group, unlisted":  {carriers(plan(480), group(404)), causes(a, 410), 404, false},
		"empty list is unset":           {carriers(plan(480)), causes(a), 480, true},
	} {
		w := decided(t, tt.doc, tt.route, routeTo(b))
		w.from(customerAddr, vendorCall())
		w.takes(gatewayA, tt.code)
		if moved := w.find(gatewayB, "INVITE") != nil; moved != tt.moves {
			t.Errorf("%s: moved %v", name, moved)
		}
	}
}

// C12: a definitive reply after earlier failures is what the caller gets.
func TestC12_DefinitiveAfterFailures(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b), routeTo(c))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 500)
	w.takes(gatewayB, 603)
	w.none(gatewayC, "INVITE")
	w.ends(603, "a 500, b 603")
}

// S-052: a retransmitted failure does not advance twice, and a late provisional of a settled attempt is
// not relayed. S-053: the caller's own From and To.
func TestS052_S053_SettledAttempt(t *testing.T) {
	r := routeTo(a)
	r.CallerID, r.Restricted = "+13105550199", true
	w := decided(t, carriers(), r, routeTo(b), routeTo(c))
	w.from(customerAddr, vendorCall())
	m := w.takes(gatewayA, 503)
	second := w.takes(gatewayB)
	w.says(gatewayA, m, 503)
	w.says(gatewayA, m, 180)
	w.none(customerAddr, "SIP/2.0 180")
	w.none(gatewayC, "INVITE")
	w.says(gatewayB, second, 486)
	final := w.find(customerAddr, "SIP/2.0 486")
	if final == nil || !strings.Contains(string(final.Header(sip.From)), "+13105551234") || !strings.Contains(string(final.Header(sip.To)), "+13125550100") {
		t.Fatalf("S-053: %v", final)
	}
	w.none(gatewayA, "CANCEL")
	w.quiet()
}

// S-045: other routes after a failure go on one list and one record, each list ends by itself, and there
// are ten at most.
func TestS045_TenTimesAtMost(t *testing.T) {
	rules := make([]trunkgroup.FailureRuleSpec, 12)
	for i := range rules {
		rules[i].Route = []string{c}
	}
	w := decided(t, carriers(func(d *trunkgroup.Document) {
		d.RoutePlans[0].Policy = &trunkgroup.PolicySpec{OnFailure: rules}
	}), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 503)
	w.takes(gatewayB, 486)
	for range maxReroutes {
		w.takes(gatewayC, 404)
	}
	w.none(gatewayC, "INVITE")
	r := w.ends(404, "a 503, b 486"+strings.Repeat(", policy:carrier-c 404", maxReroutes))
	if r.RouteSource != "policy" || r.EgressGroup != c {
		t.Errorf("%+v", r)
	}
}

// S-045: what the caller gets of routes that came after others follows from those alone.
func TestS045_LastListDecides(t *testing.T) {
	w := decided(t, carriers(func(d *trunkgroup.Document) {
		d.RoutePlans[0].Policy = &trunkgroup.PolicySpec{OnFailure: []trunkgroup.FailureRuleSpec{{Route: []string{b}}}}
	}), routeTo(a))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 404)
	w.takes(gatewayB, 503)
	w.ends(500, "a 404, policy:carrier-b 503")
}

// A caller who gives up while other routes are asked for gets his 487, and the answer finds nobody.
func TestS045_CancelledWhileAskingAgain(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := decided(t, carriers(func(d *trunkgroup.Document) {
			d.RoutePlans[0].Policy = &trunkgroup.PolicySpec{OnFailure: []trunkgroup.FailureRuleSpec{{Ask: true}}}
		}), routeTo(a))
		w.from(customerAddr, vendorCall())
		w.routes = func(q *RouteQuery) *trunkgroup.RouteSet {
			if q.Failed != 503 && q.Failed != 500 {
				t.Errorf("asked again with %d %s", q.Failed, q.FailedCause)
			}
			return nil
		}
		w.takes(gatewayA, 503)
		if late { // nobody says a word: the caller gets the failure of the first routes
			w.advance(3 * time.Second)
			w.ends(500, "a 503")
		} else {
			w.from(customerAddr, strings.Replace(vendorCall(), "INVITE", "CANCEL", 2))
			w.take(customerAddr, "SIP/2.0 200")
			w.ends(487, "a 503")
		}
		w.step(func() {
			w.s.Decided(w.now, w.queries[0], &trunkgroup.RouteSet{Routes: []trunkgroup.CarrierRoute{routeTo(b)}})
		})
		w.none(gatewayB, "INVITE")
	}
}
