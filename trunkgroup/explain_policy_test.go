package trunkgroup

import (
	"net/netip"
	"strings"
	"testing"
	"time"
)

// S-014: explain says which rule took a route out and what the others were ordered by, and goes on with what a
// call would go on with.
func TestS014_ExplainSaysWhatRulesDid(t *testing.T) {
	d := policyDocument(PolicySpec{
		Keep: "route.carrier_id != 'b' or call.hour < 8", OrderBy: "route.rate",
		OnFailure: []FailureRuleSpec{{When: "failure.code == 503", Route: []string{"backup"}}},
	})
	table, err := Compile(d, Version{Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := Query{
		Site: "dallas", Source: SourceKey{Source: netip.MustParseAddrPort("192.0.2.2:5060"), Transport: UDP}, Called: []byte("+12145550100"),
		Routes: threeRoutes(), Now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
	}
	x := Explore(table, NewView(table), q)
	var said []string
	for _, s := range x.Steps {
		if s.Name == "policy" {
			said = append(said, s.Text)
		}
	}
	want := "route 2, b is left out: keep is false, route.carrier_id != 'b' or call.hour < 8\n" +
		"order_by route.rate: route 3, c (0.005), route 1, a (0.01)\n" +
		"once all routes have failed, on_failure[0], when failure.code == 503: tries backup"
	if got := strings.Join(said, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := carriers(x.Course.Routes); got != "c a" {
		t.Errorf("the course has %q", got)
	}
	q.Now = q.Now.Add(-2 * time.Hour)
	if x = Explore(table, NewView(table), q); carriers(x.Course.Routes) != "c a b" {
		t.Errorf("at seven: %q", carriers(x.Course.Routes))
	}
}
