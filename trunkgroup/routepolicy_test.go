package trunkgroup

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

func policed(t testing.TB, s PolicySpec) *RoutePolicy {
	t.Helper()
	d := policyDocument(s)
	table, err := Compile(d, Version{Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table.Group("acme").plan.Policy
}

func policyDocument(s PolicySpec) *Document {
	return &Document{
		Cluster: "c", Sites: []SiteSpec{{Name: "dallas"}},
		TrunkGroups: []GroupSpec{
			{Name: "carrier-a", Role: PSTNProvider, Sources: []SourceSpec{{IP: "192.0.2.1"}}},
			{Name: "backup", Role: PSTNProvider, Sources: []SourceSpec{{IP: "192.0.2.3"}}},
			{Name: "acme", Role: TerminationCustomer, Sources: []SourceSpec{{IP: "192.0.2.2"}}, RoutePlan: "lcr"},
		},
		RoutePlans: []RoutePlanSpec{{Name: "lcr", Decision: &DecisionSpec{URL: "http://127.0.0.1:8080/route"}, Policy: &s}},
	}
}

func threeRoutes() *RouteSet {
	return &RouteSet{Source: RoutesLive, Destination: "+1", Routes: []CarrierRoute{
		{CarrierID: "a", GatewayGroup: "carrier-a", Rate: 0.01, Rated: true, CDRFields: []NameValue{{"region", "eu"}}},
		{CarrierID: "b", GatewayGroup: "carrier-b", Rate: 0.03, Rated: true},
		{CarrierID: "c", GatewayGroup: "carrier-c", Rate: 0.005, Rated: true, CDRFields: []NameValue{{"region", "us"}}},
	}}
}

func carriers(set *RouteSet) string {
	ids := make([]string, len(set.Routes))
	for i := range set.Routes {
		ids[i] = set.Routes[i].CarrierID
	}
	return strings.Join(ids, " ")
}

func TestS014_KeepAndOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		spec PolicySpec
		want string
		said string // in its words
	}{
		{"a rate ceiling", PolicySpec{Keep: "route.rate <= 0.02"}, "a c", "route 2, b is left out: keep is false, route.rate <= 0.02"},
		{"the cheapest first", PolicySpec{OrderBy: "route.rate"}, "c a b", "order_by route.rate: route 3, c (0.005), route 1, a (0.01), route 2, b (0.03)"},
		{"a region first, the rest as decided", PolicySpec{OrderBy: "route.cdr_fields.region == 'us' ? 0 : 1"}, "c a b", "order_by"},
		{"both", PolicySpec{Keep: "route.carrier_id != 'c'", OrderBy: "-route.rate"}, "b a", "route 3, c"},
		{"nothing changes", PolicySpec{Keep: "true", OrderBy: "route.place"}, "a b c", "order_by"},
		{"nothing stays", PolicySpec{Keep: "route.rate > 1"}, "", "left out"},
		{"a rule that fails counts for none", PolicySpec{Keep: "route.place % (route.place - 2) == 0"}, "a b c", "passed over"},
		{"an order that fails", PolicySpec{Keep: "route.place != 1", OrderBy: "1 % (route.place - 2)"}, "b c", "passed over"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := policed(t, c.spec)
			var m policy.Machine
			set := threeRoutes()
			out := p.Police(&m, &policy.Call{}, set)
			if got := carriers(out.Set); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if out.Set.Source != set.Source || out.Set.Destination != set.Destination {
				t.Error("the answer's own fields are gone")
			}
			if carriers(set) != "a b c" {
				t.Error("the decision itself was changed, which other calls share")
			}
			if words := strings.Join(out.Words(p, set), "\n"); !strings.Contains(words, c.said) {
				t.Errorf("words: %q, want %q", words, c.said)
			}
		})
	}
}

// TestS014_SameSetWhenNothingChanges: what changes nothing copies nothing.
func TestS014_SameSetWhenNothingChanges(t *testing.T) {
	p, set := policed(t, PolicySpec{Keep: "route.rate < 1"}), threeRoutes()
	var m policy.Machine
	if out := p.Police(&m, &policy.Call{}, set); out.Set != set {
		t.Error("the set was copied")
	}
	var none *RoutePolicy
	if out := none.Police(&m, &policy.Call{}, set); out.Set != set || none.Tells(policy.OnAnswer) {
		t.Error("a plan without rules did something")
	}
}

// TestS011_S012_RulesLeaveRefusalsAlone: a decision to refuse, or none at all, is not filtered.
func TestS011_S012_RulesLeaveRefusalsAlone(t *testing.T) {
	p := policed(t, PolicySpec{Keep: "false"})
	var m policy.Machine
	for _, set := range []*RouteSet{{Absent: true}, {Reject: Rejection{Code: 403}, Routes: threeRoutes().Routes}} {
		if out := p.Police(&m, &policy.Call{}, set); out.Set != set || len(out.Gone) > 0 {
			t.Errorf("%+v became %+v", set, out)
		}
	}
}

// TestS014_Property: whatever the rates are, keep and order_by are a filter and a stable sort.
func TestS014_Property(t *testing.T) {
	p := policed(t, PolicySpec{Keep: "route.rate <= 5", OrderBy: "route.billing_increment"})
	rapid.Check(t, func(t *rapid.T) {
		set := &RouteSet{}
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			set.Routes = append(set.Routes, CarrierRoute{
				CarrierID: string(rune('a' + i)), Rate: float64(rapid.IntRange(0, 10).Draw(t, "rate")), BillingIncrement: uint32(rapid.IntRange(0, 3).Draw(t, "key")),
			})
		}
		var want []CarrierRoute
		for i := range set.Routes {
			if set.Routes[i].Rate <= 5 {
				want = append(want, set.Routes[i])
			}
		}
		slices.SortStableFunc(want, func(a, b CarrierRoute) int { return int(a.BillingIncrement) - int(b.BillingIncrement) })
		var m policy.Machine
		out := p.Police(&m, &policy.Call{}, set)
		if got := carriers(out.Set); got != carriers(&RouteSet{Routes: want}) {
			t.Fatalf("got %q, want %q", got, carriers(&RouteSet{Routes: want}))
		}
		if len(out.Gone)+len(out.Order) != len(set.Routes) {
			t.Fatalf("%d gone and %d left of %d", len(out.Gone), len(out.Order), len(set.Routes))
		}
	})
}

func TestS045_RulesForFailures(t *testing.T) {
	p := policed(t, PolicySpec{OnFailure: []FailureRuleSpec{
		{When: "failure.code % failure.dialed == 1", Reject: &RejectSpec{Code: 500}}, // cannot be said when nothing was dialled
		{When: "failure.code == 503 and none(attempts, .dialed)", Route: []string{"backup", "carrier-a"}},
		{When: "failure.code == 408", Ask: true},
		{When: "failure.code == 503", Reject: &RejectSpec{Code: 480, Reason: "Try Later"}},
	}})
	var m policy.Machine
	failed := []policy.Attempt{{CarrierID: "a", Status: 503}}
	at, faults := p.Rule(&m, 0, &policy.Call{}, &policy.Failure{Code: 503}, failed)
	if at != 1 || len(faults) != 1 || faults[0].Rule != "on_failure[0].when" {
		t.Fatalf("got rule %d, faults %v", at, faults)
	}
	set := p.Failures[at].Routes
	if set.Source != RoutesPolicy || carriers(set) != "policy:backup policy:carrier-a" || set.Routes[0].GatewayGroup != "backup" {
		t.Errorf("routes of the rule: %+v", set)
	}
	// The rule is used up: the next failure of the same call finds another.
	if at, _ = p.Rule(&m, 1<<1, &policy.Call{}, &policy.Failure{Code: 503, Dialed: 1}, failed); at != 3 {
		t.Errorf("with rule 1 used: got %d, want 3", at)
	}
	if got := p.Failures[3].Words(); got != "the caller gets 480 Try Later" {
		t.Errorf("words: %q", got)
	}
	if at, _ = p.Rule(&m, 0, &policy.Call{}, &policy.Failure{Code: 408, Dialed: 1}, nil); at != 2 || !p.Failures[at].Ask {
		t.Errorf("408: got rule %d", at)
	}
	if at, _ = p.Rule(&m, 0, &policy.Call{}, &policy.Failure{Code: 486, Dialed: 1}, nil); at != -1 {
		t.Errorf("486: got rule %d, want none", at)
	}
}

func TestS015_FieldsOfTheRecord(t *testing.T) {
	p := policed(t, PolicySpec{CDRFields: map[string]string{
		"burned": "len(attempts)", "margin_class": "route.rate < 0.01 ? 'a' : 'b'", "broken": "attempts[7].carrier_id",
	}})
	var m policy.Machine
	fields, faults := p.FieldTexts(&m, &policy.Call{}, &policy.Route{Rate: 0.02}, []policy.Attempt{{Status: 503}})
	if want := []NameValue{{"burned", "1"}, {"margin_class", "b"}}; !slices.Equal(fields, want) {
		t.Errorf("got %v, want %v", fields, want)
	}
	if len(faults) != 1 || faults[0].Rule != "cdr_fields.broken" {
		t.Errorf("faults: %v", faults)
	}
}

// TestPolicyFaults: what is wrong with rules is found when the document is checked, at its place.
func TestPolicyFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		spec PolicySpec
		path string
		word string
	}{
		{"unknown name", PolicySpec{Keep: "route.rat < 1"}, "keep", "column 7"},
		{"not a number", PolicySpec{OrderBy: "route.carrier_id"}, "order_by", "string"},
		{"field of a list", PolicySpec{CDRFields: map[string]string{"x": "attempts"}}, "cdr_fields.x", "neither"},
		{"name of a field", PolicySpec{CDRFields: map[string]string{"a b": "1"}}, "cdr_fields.a b", "not a name"},
		{"two things to do", PolicySpec{OnFailure: []FailureRuleSpec{{Ask: true, Route: []string{"backup"}}}}, "on_failure[0]", "2 things"},
		{"nothing to do", PolicySpec{OnFailure: []FailureRuleSpec{{When: "true"}}}, "on_failure[0]", "0 things"},
		{"no such group", PolicySpec{OnFailure: []FailureRuleSpec{{Route: []string{"bakcup"}}}}, "on_failure[0].route[0]", "no trunk group"},
		{"a customer's group", PolicySpec{OnFailure: []FailureRuleSpec{{Route: []string{"acme"}}}}, "on_failure[0].route[0]", "has role"},
		{"condition", PolicySpec{OnFailure: []FailureRuleSpec{{When: "failure.code", Ask: true}}}, "on_failure[0].when", "bool"},
		{"a challenge", PolicySpec{OnFailure: []FailureRuleSpec{{Reject: &RejectSpec{Code: 401}}}}, "on_failure[0].reject.code", "401"},
		{"an injected header", PolicySpec{OnFailure: []FailureRuleSpec{{Reject: &RejectSpec{Code: 480, Reason: "x\r\nVia: y"}}}}, "on_failure[0].reject.reason", "phrase"},
		{"url", PolicySpec{Webhooks: []WebhookSpec{{URL: "ftp://example"}}}, "webhooks[0].url", "http"},
		{"a secret in the document", PolicySpec{Webhooks: []WebhookSpec{{URL: "http://hooks.example/", Secret: "abc"}}}, "webhooks[0].secret", "variable"},
		{"the node's own", PolicySpec{Webhooks: []WebhookSpec{{URL: "http://hooks.example/", AuthHeader: "${TANDEM_KEY}"}}}, "webhooks[0].auth_header", "belongs to the node"},
		{"event", PolicySpec{Webhooks: []WebhookSpec{{URL: "http://hooks.example/", Events: []policy.EventKind{"on_answr"}}}}, "webhooks[0].events[0]", "no event"},
		{"timeout", PolicySpec{Webhooks: []WebhookSpec{{URL: "http://hooks.example/", Timeout: Duration(1)}}}, "webhooks[0].timeout", "range"},
	} {
		faults := policyDocument(c.spec).Validate()
		if len(faults) != 1 || faults[0].Path != "route_plans[0].policy."+c.path || !strings.Contains(faults[0].Problem, c.word) || faults[0].Remedy == "" {
			t.Errorf("%s: got %v, want one fault at policy.%s with %q and a remedy", c.name, faults, c.path, c.word)
		}
	}
	d := policyDocument(PolicySpec{Keep: "true", OnFailure: []FailureRuleSpec{{Ask: true}}})
	d.RoutePlans[0].Decision, d.RoutePlans[0].Routes = nil, []RouteSpec{{Prefix: "*", Providers: []string{"carrier-a"}}}
	if faults := d.Validate(); len(faults) != 2 {
		t.Errorf("rules of a plan that asks nobody: %v", faults)
	}
}
