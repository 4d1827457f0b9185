package trunkgroup

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// routesTable has two carriers: one of three gateways in Dallas, one in Ashburn alone.
func routesTable(t testing.TB) *Table {
	d := testDocument()
	d.TrunkGroups = append(d.TrunkGroups,
		GroupSpec{
			Name: "near", Role: PSTNProvider, Distribution: DistributionSpec{Method: Failover}, AdvanceOn: []int{404},
			Members: []MemberSpec{
				{ID: "n1", Site: "dallas", Address: "203.0.113.81"}, {ID: "n2", Site: "dallas", Address: "203.0.113.82"}, {ID: "n3", Site: "dallas", Address: "203.0.113.83", Transport: TLS},
			},
		},
		GroupSpec{Name: "far", Role: PSTNProvider, Members: []MemberSpec{{ID: "f1", Site: "ashburn", Address: "203.0.113.91"}}})
	return compile(t, d)
}

func written(order []Candidate) string {
	var list []string
	for i := range order {
		c := &order[i]
		word := c.Route.CarrierID + ":" + strings.TrimPrefix(c.Member.Key, "/")
		if !c.Dialable {
			word += "!" + c.Cause
		}
		list = append(list, word)
	}
	return strings.Join(list, " ")
}

func courseOf(t *Table, v *View, routes ...CarrierRoute) Course {
	return Course{Table: t, View: v, Site: "dallas", Routes: &RouteSet{Routes: routes}}
}

// S-020, S-043, S-044, S-070 to S-072: one far end of each route, or the reason why there is none.
func TestS020_S070_S072_PlanRoutes(t *testing.T) {
	table := routesTable(t)
	down := func(keys ...string) *View {
		v := NewView(table)
		for _, key := range keys {
			v.States[table.Member(key).Index] = Disabled
		}
		return v
	}
	hop := Hop{Addr: addrPort("192.0.2.1:5060"), Transport: UDP}
	near := CarrierRoute{CarrierID: "A", GatewayGroup: "near"}
	for name, tt := range map[string]struct {
		view    *View
		members int
		secure  bool
		route   CarrierRoute
		want    string
	}{
		"one":                      {down(), 0, false, near, "A:near/n1"},
		"next":                     {down("near/n1"), 1, false, near, "A:near/n2"},
		"two":                      {down("near/n1"), 2, false, near, "A:near/n2 A:near/n3"},
		"more than there are":      {down(), 9, false, near, "A:near/n1 A:near/n2 A:near/n3"},
		"all down":                 {down("near/n1", "near/n2", "near/n3"), 2, false, near, "A:near/n1!disabled"},
		"down with a next hop":     {down("near/n1", "near/n2", "near/n3"), 2, false, CarrierRoute{CarrierID: "A", GatewayGroup: "near", NextHop: "x", Hops: []Hop{hop}}, "A:192.0.2.1:5060"},
		"down, next hop away":      {down("near/n1", "near/n2", "near/n3"), 2, false, CarrierRoute{CarrierID: "A", GatewayGroup: "near", NextHop: "x"}, "A:near/n1!disabled"},
		"up with a next hop":       {down(), 1, false, CarrierRoute{CarrierID: "A", GatewayGroup: "near", NextHop: "x", Hops: []Hop{hop}}, "A:near/n1"},
		"not in this site":         {down(), 1, false, CarrierRoute{CarrierID: "A", GatewayGroup: "far"}, "A:!no_member"},
		"unknown":                  {down(), 1, false, CarrierRoute{CarrierID: "A", GatewayGroup: "nobody"}, "A:!unknown_group"},
		"unknown, ruri":            {down(), 1, false, CarrierRoute{CarrierID: "A", GatewayGroup: "nobody", RURI: "sip:x@h", Hops: []Hop{hop}}, "A:!unknown_group"},
		"a customer's":             {down(), 1, false, CarrierRoute{CarrierID: "A", GatewayGroup: "acme-in"}, "A:!unknown_group"},
		"unknown with a next hop":  {down(), 1, false, CarrierRoute{CarrierID: "A", GatewayGroup: "nobody", NextHop: "x", Hops: []Hop{hop}}, "A:192.0.2.1:5060"},
		"next hop":                 {down(), 1, false, CarrierRoute{CarrierID: "A", NextHop: "x", Hops: []Hop{hop, hop}}, "A:192.0.2.1:5060"},
		"ruri":                     {down(), 1, false, CarrierRoute{CarrierID: "A", RURI: "sip:x@h", Hops: []Hop{hop}}, "A:192.0.2.1:5060"},
		"next hop, not resolved":   {down(), 1, false, CarrierRoute{CarrierID: "A", NextHop: "x"}, "A:!unresolved"},
		"nothing (S-020)":          {down(), 1, false, CarrierRoute{CarrierID: "A", Destination: "+1"}, "A:!no_target"},
		"secure":                   {down(), 1, true, near, "A:near/n3"},
		"secure without":           {down("near/n3"), 1, true, near, "A:near/n3!disabled"},
		"secure next hop over udp": {down(), 1, true, CarrierRoute{CarrierID: "A", NextHop: "x", Hops: []Hop{hop}}, "A:192.0.2.1:5060!insecure"},
	} {
		course := courseOf(table, tt.view, tt.route)
		course.MaxMembers, course.Secure = tt.members, tt.secure
		order, peer := course.Plan(nil, plainCaster{})
		if got := written(order); got != tt.want || peer != "" {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// DEC-04: only configuration says whether a peer site has members for the routes.
func TestDEC04_RoutesHandOff(t *testing.T) {
	table := routesTable(t)
	for group, want := range map[string]bool{"far": true, "near": false, "nobody": false, "": false} {
		course := courseOf(table, NewView(table), CarrierRoute{GatewayGroup: group, NextHop: "x"})
		if got := course.HandsOff(); got != want {
			t.Errorf("%q: %v", group, got)
		}
	}
}

// Whatever the states are: each route has one entry at least and so many as MaxMembers at most, one that
// cannot be dialled is alone, and far ends that were tried do not come again.
func TestS044_S070_RoutesProperty(t *testing.T) {
	table := routesTable(t)
	rapid.Check(t, func(t *rapid.T) {
		v := NewView(table)
		for i := range v.States {
			if rapid.Bool().Draw(t, "down") {
				v.States[i] = Disabled
			}
		}
		var routes []CarrierRoute
		for i := range rapid.IntRange(1, 6).Draw(t, "routes") {
			r := CarrierRoute{CarrierID: fmt.Sprint(i), GatewayGroup: rapid.SampledFrom([]string{"near", "far", "carrier-b", "nobody", ""}).Draw(t, "group")}
			for range rapid.IntRange(0, 2).Draw(t, "hops") {
				r.NextHop, r.Hops = "x", append(r.Hops, Hop{Addr: addrPort(fmt.Sprintf("192.0.2.%d:5060", len(r.Hops)+1)), Transport: UDP})
			}
			routes = append(routes, r)
		}
		course := courseOf(table, v, routes...)
		course.MaxMembers = rapid.IntRange(1, 4).Draw(t, "members")
		order, _ := course.Plan(nil, plainCaster{})
		at := 0
		for i := range routes {
			begin := at
			for at < len(order) && order[at].Route == &course.Routes.Routes[i] {
				at++
			}
			part := order[begin:at]
			if len(part) == 0 || len(part) > course.MaxMembers || !part[0].Dialable && len(part) > 1 {
				t.Fatalf("route %d: %s", i, written(part))
			}
			again := course.PlanRoutes(nil, i, part, plainCaster{})
			for j := range again {
				if again[j].Route == part[0].Route && among(part, &again[j]) {
					t.Fatalf("route %d: %s once more after %s", i, written(again), written(part))
				}
			}
		}
		if at != len(order) {
			t.Fatalf("order %s", written(order))
		}
	})
}

// Explain plans a decision that it is given, and says what becomes of each route.
func TestExplainRoutes(t *testing.T) {
	d := testDocument()
	for i := range d.RoutePlans {
		d.RoutePlans[i].Routes, d.RoutePlans[i].Decision, d.RoutePlans[i].RerouteCauses = nil, &DecisionSpec{URL: "http://127.0.0.1/"}, []int{480, 503}
	}
	table := compile(t, d)
	v := NewView(table)
	v.States[table.Member("carrier-a/d").Index] = Disabled
	q := Query{Site: "dallas", Realm: "sip.example.com", Username: "acme", Called: []byte("+12145550100")}
	if x := Explore(table, v, q); x.Code != 0 || x.Order != nil || x.Decision.Plan == nil {
		t.Errorf("without a decision: %+v", x.Explanation)
	}
	q.Routes = &RouteSet{Routes: []CarrierRoute{
		{CarrierID: "a", GatewayGroup: "carrier-a", Rate: 0.0042, Rated: true, Currency: "USD"},
		{CarrierID: "x", GatewayGroup: "nobody"},
		{CarrierID: "h", NextHop: "192.0.2.1", Hops: []Hop{{Addr: addrPort("192.0.2.1:5060"), Transport: UDP}}, RerouteCauses: Causes(404)},
	}}
	x := Explore(table, v, q)
	got := explained(x.Explanation)
	for _, want := range []string{
		"1. a at 0.0042 USD is not dialled: everybody of carrier-a is out, the first for disabled",
		`2. x is not dialled: no pstn-provider group is called "nobody"`, "3. h by 192.0.2.1:5060",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if len(x.Routes) != 3 || len(x.Order) != 3 || x.Explanation.Order[2].Carrier != "h" || x.Explanation.Order[2].Place != 1 || len(x.Sites) == 0 ||
		fmt.Sprint(x.Routes[2].AdvanceOn, x.Routes[1].AdvanceOn) != "[404] [480 503]" {
		t.Errorf("%+v", x.Explanation)
	}
	for code, set := range map[int]*RouteSet{503: {Absent: true, Why: "timeout"}, 403: {Reject: Rejection{403, "No"}}, 404: {}} {
		q.Routes = set
		if x := Explore(table, v, q); x.Code != code || x.Explanation.Order != nil {
			t.Errorf("S-011 to S-013: %d: %+v", code, x.Explanation)
		}
	}
}
