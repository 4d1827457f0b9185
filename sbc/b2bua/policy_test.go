package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// ruledWorld is a world whose customer's plan asks others, and has rules about what they say.
func ruledWorld(t *testing.T, spec trunkgroup.PolicySpec, routes ...trunkgroup.CarrierRoute) *world {
	t.Helper()
	d := vendors(func(a, b *trunkgroup.GroupSpec) {
		a.Members = a.Members[:1]
	})
	d.TrunkGroups = append(d.TrunkGroups, trunkgroup.GroupSpec{
		Name: "backup", Role: trunkgroup.PSTNProvider, Members: []trunkgroup.MemberSpec{{ID: "x1", Site: "dallas", Address: vendorA2}},
	})
	d.RoutePlans[0].Routes, d.RoutePlans[0].Decision, d.RoutePlans[0].Policy = nil, &trunkgroup.DecisionSpec{URL: "http://127.0.0.1/route"}, &spec
	w := newWorldOf(t, "dal-1", "dallas", d)
	set := &trunkgroup.RouteSet{Source: trunkgroup.RoutesLive, Routes: routes}
	w.routes = func(*RouteQuery) *trunkgroup.RouteSet { return set }
	return w
}

func twoCarriers() []trunkgroup.CarrierRoute {
	return []trunkgroup.CarrierRoute{
		{CarrierID: "a", GatewayGroup: "vendor-a", Rate: 0.03, Rated: true, CDRFields: []trunkgroup.NameValue{{Name: "deck", Value: "7"}, {Name: "class", Value: "gold"}}},
		{CarrierID: "b", GatewayGroup: "vendor-b", Rate: 0.01, Rated: true, CDRFields: []trunkgroup.NameValue{{Name: "deck", Value: "8"}, {Name: "class", Value: "tin"}}},
	}
}

// accept lets a far end answer its INVITE; the customer confirms.
func (w *world) accept(addr string) {
	w.t.Helper()
	m := w.take(addr, "INVITE")
	w.from(addr, reply(m, 200, "far", answerSDP, "Contact: <sip:far@"+addr+">\r\n"))
	w.take(addr, "ACK")
	w.from(customerAddr, ackFor(w.take(customerAddr, "SIP/2.0 200"), "z9hG4bKack", ""))
}

func (w *world) hookedKinds() string {
	var kinds []string
	for _, e := range w.hooked {
		kinds = append(kinds, string(e.Kind))
	}
	return strings.Join(kinds, " ")
}

func (w *world) policyFaults() (rules []string) {
	for _, e := range w.events {
		if e.Kind == EventPolicyFault {
			rules = append(rules, e.Plan+" "+e.Reason)
		}
	}
	return rules
}

// S-014: the policy filters and orders before anything is dialled.
func TestS014_RulesFilterAndOrderTheRoutes(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{OrderBy: "route.rate"}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.none(vendorA1, "INVITE")
	w.accept(vendorB1)

	w = ruledWorld(t, trunkgroup.PolicySpec{Keep: "route.rate < 0.02 and call.group == 'acme-out' and call.called == '+13125550100'"}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.refuse(vendorB1, 503)
	w.take(customerAddr, "SIP/2.0 500")
	w.none(vendorA1, "INVITE")
}

// S-013 and S-014: a rule that leaves nothing is an empty decision.
func TestS013_S014_NothingStays(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{Keep: "route.rate > 1"}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.take(customerAddr, "SIP/2.0 404")
	if r := w.records[0]; len(r.Attempts) != 0 || r.HangupCause != trunkgroup.CauseNoRoute {
		t.Errorf("record %+v", r)
	}
}

// S-014: a rule that cannot be evaluated lets the call go on as without it, and is counted.
func TestS014_RuleThatFails(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{Keep: "1 % (route.place - 1) == 0", OrderBy: "1 % (route.place - 2)"}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.accept(vendorA1)
	if got := strings.Join(w.policyFaults(), ", "); got != "all keep, all order_by" {
		t.Errorf("faults: %q", got)
	}
}

// S-015: fields of rules join those of the route that won, and win over them by name.
func TestS015_FieldsOfTheRecord(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{CDRFields: map[string]string{
		"class": "route.rate < 0.02 ? 'cheap' : 'dear'", "burned": "attempts[0].carrier_id", "bad": "attempts[9].carrier_id",
	}}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.refuse(vendorA1, 503)
	w.accept(vendorB1)
	w.s.Shutdown(w.now)
	w.advance(40 * time.Second)
	if len(w.records) != 1 {
		t.Fatalf("%d records", len(w.records))
	}
	var got []string
	for _, f := range w.records[0].Fields {
		got = append(got, f.Name+"="+f.Value)
	}
	if s := strings.Join(got, " "); s != "deck=8 class=cheap burned=a" {
		t.Errorf("fields %q", s)
	}
	if s := strings.Join(w.policyFaults(), ", "); s != "all cdr_fields.bad" {
		t.Errorf("faults %q", s)
	}
	if w.records[0].CarrierID != "b" {
		t.Errorf("carrier %q", w.records[0].CarrierID)
	}
}

// S-046: each failed attempt is told once, the last one too, with what had failed until then; S-045: then the
// failure, once.
func TestS046_EachFailureIsToldOnce(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{Webhooks: []trunkgroup.WebhookSpec{{URL: "http://127.0.0.1/hook"}}}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.refuse(vendorA1, 503)
	w.refuse(vendorB1, 486)
	w.take(customerAddr, "SIP/2.0 486")
	if got := w.hookedKinds(); got != "on_route_failure on_route_failure on_failure" {
		t.Fatalf("told: %s", got)
	}
	for i, want := range []struct {
		carrier string
		status  int
	}{{"a", 503}, {"b", 486}} {
		e := w.hooked[i]
		if e.Attempt.CarrierID != want.carrier || e.Attempt.Status != want.status || !e.Attempt.Dialed || e.Route == nil || e.Route.Place != i+1 ||
			e.Route.CarrierID != want.carrier || len(e.Attempts) != i+1 || e.Attempts[i] != *e.Attempt || e.Attempt.Member == "" {
			t.Errorf("event %d: %+v %+v %+v", i, e.Attempt, e.Route, e.Attempts)
		}
	}
	last := w.hooked[2]
	if last.Failure.Code != 486 || last.Failure.Dialed != 2 || last.Ruling.Rule != 0 || len(last.Attempts) != 2 {
		t.Errorf("failure: %+v %+v", last.Failure, last.Ruling)
	}
	c := last.Call
	if c.ID == "" || c.Plan != "all" || c.Group != "acme-out" || c.Called != "+13125550100" || c.Decided != "lcr" || c.Site != "dallas" ||
		c.Node != "dal-1" || !strings.HasPrefix(c.From, "sip:") || c.Source == "" || c.Transport != "udp" || last.Version != "1" || last.Time.IsZero() {
		t.Errorf("call: %+v", c)
	}
	if w.hooked[0].ID == w.hooked[1].ID || len(w.hooked[0].ID) != 26 {
		t.Errorf("ids %q %q", w.hooked[0].ID, w.hooked[1].ID)
	}
}

// S-015 and S-046: an answer is told with the route that won and what was burned on the way.
func TestS015_AnswerIsTold(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{Webhooks: []trunkgroup.WebhookSpec{{URL: "http://127.0.0.1/hook", Events: []policy.EventKind{policy.OnAnswer}}}}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.refuse(vendorA1, 503)
	w.accept(vendorB1)
	if w.hookedKinds() != "on_answer" {
		t.Fatalf("told: %s", w.hookedKinds())
	}
	e := w.hooked[0]
	if e.Route == nil || e.Route.CarrierID != "b" || e.Route.Rate != 0.01 || e.Route.Fields["deck"] != "8" || len(e.Attempts) != 1 || e.Attempts[0].CarrierID != "a" {
		t.Errorf("%+v %+v", e.Route, e.Attempts)
	}
}

// S-044 and S-049: an attempt that was never dialled is told as such.
func TestS049_UndialledIsTold(t *testing.T) {
	routes := twoCarriers()
	routes[0].GatewayGroup = "nobody"
	w := ruledWorld(t, trunkgroup.PolicySpec{Webhooks: []trunkgroup.WebhookSpec{{URL: "http://127.0.0.1/hook"}}}, routes...)
	w.from(customerAddr, vendorCall())
	w.accept(vendorB1)
	if w.hookedKinds() != "on_route_failure on_answer" || w.hooked[0].Attempt.Dialed || w.hooked[0].Attempt.Status != 503 || w.hooked[0].Attempt.CarrierID != "a" {
		t.Errorf("told: %s %+v", w.hookedKinds(), w.hooked[0].Attempt)
	}
}

// S-045: what a rule decides is carried out: other routes, with one record.
func TestS045_RuleRoutesAgain(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{
		OnFailure: []trunkgroup.FailureRuleSpec{
			{When: "failure.code == 486", Reject: &trunkgroup.RejectSpec{Code: 600}},
			{When: "any(attempts, .carrier_id == 'b' and .status == 503) and failure.reroutes == 0", Route: []string{"backup"}},
		},
		Webhooks: []trunkgroup.WebhookSpec{{URL: "http://127.0.0.1/hook", Events: []policy.EventKind{policy.OnFailure}}},
	}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.refuse(vendorA1, 503)
	w.refuse(vendorB1, 503)
	w.none(customerAddr, "SIP/2.0 5")
	w.refuse(vendorA2, 503)
	w.take(customerAddr, "SIP/2.0 500")
	if w.hookedKinds() != "on_failure on_failure" {
		t.Fatalf("told: %s", w.hookedKinds())
	}
	if r := w.hooked[0].Ruling; r.Rule != 2 || len(r.Route) != 1 || r.Route[0] != "backup" {
		t.Errorf("ruling: %+v", r)
	}
	if e := w.hooked[1]; e.Failure.Reroutes != 1 || e.Call.Decided != "policy" || len(e.Attempts) != 3 || e.Ruling.Rule != 0 {
		t.Errorf("the second failure: %+v %+v", e.Failure, e)
	}
	if len(w.records) != 1 || len(w.records[0].Attempts) != 3 || w.records[0].RouteSource != trunkgroup.RoutesPolicy {
		t.Errorf("records: %+v", w.records)
	}
}

// S-045: a rule is carried out once in a call, so that a rule without a condition is no circle.
func TestS045_RuleIsNoCircle(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{OnFailure: []trunkgroup.FailureRuleSpec{{Route: []string{"backup"}}}}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.refuse(vendorA1, 503)
	w.refuse(vendorB1, 503)
	w.refuse(vendorA2, 503)
	w.take(customerAddr, "SIP/2.0 500")
	w.none(vendorA2, "INVITE")
}

// S-045: reject picks the caller's code.
func TestS045_RuleRejects(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{OnFailure: []trunkgroup.FailureRuleSpec{
		{When: "failure.code == 500", Reject: &trunkgroup.RejectSpec{Code: 480, Reason: "Try Later"}},
	}}, twoCarriers()...)
	w.from(customerAddr, vendorCall())
	w.refuse(vendorA1, 503)
	w.refuse(vendorB1, 503)
	w.take(customerAddr, "SIP/2.0 480 Try Later")
}

// S-045: the server is asked again and told of the failure; its answer passes the rules too.
func TestS045_RuleAsksAgain(t *testing.T) {
	routes := twoCarriers()
	w := ruledWorld(t, trunkgroup.PolicySpec{Keep: "route.carrier_id != 'z'", OnFailure: []trunkgroup.FailureRuleSpec{{Ask: true}}})
	var failed []int
	w.routes = func(q *RouteQuery) *trunkgroup.RouteSet {
		failed = append(failed, q.Failed)
		if q.Failed == 0 {
			return &trunkgroup.RouteSet{Source: trunkgroup.RoutesLive, Routes: routes[:1]}
		}
		return &trunkgroup.RouteSet{Source: trunkgroup.RoutesLive, Routes: []trunkgroup.CarrierRoute{{CarrierID: "z", GatewayGroup: "backup"}, routes[1]}}
	}
	w.from(customerAddr, vendorCall())
	w.refuse(vendorA1, 503)
	w.none(vendorA2, "INVITE")
	w.accept(vendorB1)
	if len(failed) != 2 || failed[0] != 0 || failed[1] != 500 && failed[1] != 503 {
		t.Errorf("asked with %v", failed)
	}
}

// Calls whose plan has no rules do nothing for them.
func TestS014_NoRulesNoCost(t *testing.T) {
	w := ruledWorld(t, trunkgroup.PolicySpec{}, twoCarriers()...)
	set := w.routes(nil)
	c := &Call{s: w.s}
	if n := testing.AllocsPerRun(100, func() {
		if c.policed(set) != set {
			t.Fatal("changed")
		}
		c.tellAttempt(nil)
		c.tellAnswer()
		c.ruled(503, "")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
