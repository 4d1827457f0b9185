package trunkgroup

import (
	"bytes"
	"strings"
	"testing"
)

// plainCaster brings nothing into a plan.
type plainCaster struct{}

func (plainCaster) Draw(*Group) Draw                        { return Draw{} }
func (plainCaster) Asks(string) bool                        { return false }
func (plainCaster) Planned(*Group, Draw, []Candidate, bool) {}

func provider(name string, members ...MemberSpec) GroupSpec {
	return GroupSpec{Name: name, Role: PSTNProvider, Distribution: DistributionSpec{Method: Failover}, Members: members}
}

// A far end that stands in two groups of a route, since one of them has a place for
// the other, is asked once.
func TestCourseAsksNoFarEndTwice(t *testing.T) {
	d := testDocument()
	d.TrunkGroups = append(d.TrunkGroups,
		provider("inner", MemberSpec{ID: "x", Site: "dallas", Address: "192.0.2.201"}, MemberSpec{ID: "y", Site: "dallas", Address: "192.0.2.202"}),
		provider("outer", MemberSpec{ID: "z", Site: "dallas", Address: "192.0.2.203"}, MemberSpec{ID: "in", Group: "inner"}))
	table := compile(t, d)
	inner, outer := table.Group("inner"), table.Group("outer")
	for _, x := range []struct {
		want   string
		groups []*Group
	}{
		{"inner/x inner/y outer/z", []*Group{inner, outer}},
		{"outer/z inner/x inner/y", []*Group{outer, inner}},
		{"outer/z inner/x inner/y", []*Group{outer}},
	} {
		c := Course{Table: table, View: NewView(table), Site: "dallas", Groups: x.groups}
		order, _ := c.Plan(nil, plainCaster{})
		var got []string
		for _, o := range order {
			got = append(got, o.Member.Key)
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: got %v, want %s", names(x.groups), got, x.want)
		}
	}
}

// NUM-01: a ported number is routed by its routing number at both sites.
func TestNUM01_HandedOverByTheRoutingNumber(t *testing.T) {
	d := testDocument()
	d.TrunkGroups = append(d.TrunkGroups, provider("east", MemberSpec{ID: "x", Site: "dallas", Address: "192.0.2.201"}),
		provider("west", MemberSpec{ID: "y", Site: "dallas", Address: "192.0.2.202"}),
		GroupSpec{Name: "ported", Role: TerminationCustomer, RoutePlan: "both", Sources: []SourceSpec{{IP: "203.0.113.200"}}})
	d.RoutePlans = append(d.RoutePlans, RoutePlanSpec{Name: "both", Routes: []RouteSpec{{"+1212", []string{"east"}}, {"+1415", []string{"west"}}}})
	table := compile(t, d)
	policy := NumberPolicy{
		Normalise: func(_ Numbering, user []byte) ([]byte, error) {
			number, _, _ := bytes.Cut(user, []byte(";"))
			return number, nil
		},
		Portability: func(user []byte) ([]byte, bool) {
			_, rn, ported := bytes.Cut(user, []byte(";rn="))
			return rn, ported
		},
	}
	user := []byte("+12125550100;rn=+14155550100")
	here := table.Route(SourceMatch{Customer: table.Group("ported")}, user, nil, policy)
	there := table.RouteHandedOver("ported", here.Direction, here.Called, user, policy)
	for _, got := range []Decision{here, there} {
		if names(got.Groups) != "west" || got.RN != "+14155550100" || got.Called != "+12125550100" {
			t.Errorf("%+v", got)
		}
	}
	if plain := table.RouteHandedOver("ported", Outbound, "+12125550100", []byte("+12125550100"), policy); names(plain.Groups) != "east" {
		t.Errorf("%+v", plain)
	}
}
