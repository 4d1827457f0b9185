package trunkgroup

import (
	"strings"
	"testing"
	"time"
)

// TestS102_ChargingSection: each fault names its key; a good section compiles with its defaults.
func TestS102_ChargingSection(t *testing.T) {
	doc := func(role Role, s *ChargingSpec) *Document {
		return &Document{
			Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}},
			TrunkGroups: []GroupSpec{{Name: "acme", Role: role, Charging: s, Sources: []SourceSpec{{IP: "198.51.100.10"}}}},
		}
	}
	table, err := Compile(doc(TerminationCustomer, &ChargingSpec{Online: true, Free: []string{"+1800*"}}), Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := table.Group("acme").Charging
	if c.Requested != 30*time.Second || c.DeniedCode != 402 || c.ContextID != "32260@3gpp.org" || c.Interim != 5*time.Minute || c.OnFailure != ChargingRetry {
		t.Errorf("defaults: %+v", c)
	}
	if !c.Free("+18005550100") || c.Free("+12145550100") {
		t.Error("free numbers are mistaken")
	}
	for _, x := range []struct {
		role Role
		spec ChargingSpec
		want string
	}{
		{PSTNProvider, ChargingSpec{Online: true}, "trunk_groups[0].charging"},
		{TerminationCustomer, ChargingSpec{}, "charges nothing"},
		{TerminationCustomer, ChargingSpec{Online: true, Requested: Duration(1500 * time.Millisecond)}, "charging.requested"},
		{TerminationCustomer, ChargingSpec{Online: true, Requested: Duration(2500 * time.Millisecond)}, "whole seconds"},
		{TerminationCustomer, ChargingSpec{Offline: true, Interim: Duration(time.Second)}, "charging.interim"},
		{TerminationCustomer, ChargingSpec{Online: true, DeniedCode: 200}, "charging.denied_code"},
		{TerminationCustomer, ChargingSpec{Online: true, RatingGroup: -1}, "charging.rating_group"},
		{TerminationCustomer, ChargingSpec{Online: true, Account: "a b"}, "charging.account"},
		{TerminationCustomer, ChargingSpec{Online: true, Account: "a", Subscriber: SubscriberUser}, "charging.subscription"},
		{TerminationCustomer, ChargingSpec{Online: true, Free: []string{"abc"}}, "charging.free[0]"},
	} {
		_, err := Compile(doc(x.role, &x.spec), Version{Cluster: "test", Generation: 1, Revision: 1})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want a fault with %q", x.spec, err, x.want)
		}
	}
}
