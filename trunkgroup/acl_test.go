package trunkgroup

import (
	"net/netip"
	"strings"
	"testing"
)

func aclDocument(acl ACLSpec) *Document {
	return &Document{
		Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}},
		TrunkGroups: []GroupSpec{
			{Name: "acme", Role: TerminationCustomer, ACL: acl, Sources: []SourceSpec{{IP: "192.0.2.0/24"}}},
			{Name: "wide", Role: TerminationCustomer, Sources: []SourceSpec{{IP: "192.0.0.0/16"}}},
		},
	}
}

func TestACL_TheLongestNetworkDecides(t *testing.T) {
	for _, c := range []struct {
		allow, deny []string
		in, out     []string
	}{
		{nil, nil, []string{"192.0.2.1", "2001:db8::1"}, nil},
		{[]string{"192.0.2.0/24"}, nil, []string{"192.0.2.1", "::ffff:192.0.2.1"}, []string{"192.0.3.1", "2001:db8::1"}},
		{nil, []string{"192.0.2.0/24", "2001:db8::/32"}, []string{"192.0.3.1"}, []string{"192.0.2.1", "2001:db8::1"}},
		{[]string{"192.0.2.0/24"}, []string{"192.0.2.7"}, []string{"192.0.2.1"}, []string{"192.0.2.7", "192.0.3.1"}},
		{[]string{"192.0.2.7"}, []string{"192.0.2.0/24"}, []string{"192.0.2.7"}, []string{"192.0.2.1", "192.0.3.1"}},
	} {
		acl := compileACL(ACLSpec{Allow: c.allow, Deny: c.deny})
		for _, a := range c.in {
			if !acl.Admits(netip.MustParseAddr(a)) {
				t.Errorf("allow %v deny %v keeps %s out", c.allow, c.deny, a)
			}
		}
		for _, a := range c.out {
			if acl.Admits(netip.MustParseAddr(a)) {
				t.Errorf("allow %v deny %v lets %s in", c.allow, c.deny, a)
			}
		}
	}
}

// Who is kept out of a group is a stranger to it: another group may know him.
func TestACL_KeepsSourcesOut(t *testing.T) {
	table := compile(t, aclDocument(ACLSpec{Deny: []string{"192.0.2.66"}}))
	for addr, want := range map[string]string{"192.0.2.1:5060": "+acme", "192.0.2.66:5060": "+wide", "192.0.3.1:5060": "+wide"} {
		m, _ := table.MatchSource(SourceKey{Source: netip.MustParseAddrPort(addr), Transport: UDP})
		if got := matched(m); got != want {
			t.Errorf("%s is %q, want %q", addr, got, want)
		}
	}
	table = compile(t, aclDocument(ACLSpec{Deny: []string{"192.0.2.0/25"}}))
	e := Explain(table, NewView(table), Query{Source: SourceKey{Source: netip.MustParseAddrPort("192.0.2.1:5060"), Transport: UDP}})
	if len(e.Steps) == 0 || !strings.Contains(e.Steps[0].Text, "192.0.0.0/16") {
		t.Errorf("explain says %+v", e.Steps)
	}
	table = compile(t, &Document{
		Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}},
		TrunkGroups: []GroupSpec{aclDocument(ACLSpec{Allow: []string{"198.51.100.0/24"}}).TrunkGroups[0]},
	})
	e = Explain(table, NewView(table), Query{Source: SourceKey{Source: netip.MustParseAddrPort("192.0.2.1:5060"), Transport: UDP}})
	if len(e.Steps) < 2 || !strings.Contains(e.Steps[1].Text, "acl") || e.Code != 401 {
		t.Errorf("explain does not say who keeps it out: %+v", e)
	}
}

func TestACL_Faults(t *testing.T) {
	for _, c := range []struct {
		acl  ACLSpec
		want string
	}{
		{ACLSpec{Allow: []string{"10.0.0.1/8"}}, "trunk_groups[0].acl.allow[0]"},
		{ACLSpec{Deny: []string{"x"}}, "trunk_groups[0].acl.deny[0]"},
		{ACLSpec{Allow: []string{"192.0.2.0/24"}, Deny: []string{"192.0.2.0/24"}}, "is allowed as well"},
	} {
		faults := aclDocument(c.acl).Validate()
		if len(faults) != 1 || !strings.Contains(faults.Error(), c.want) {
			t.Errorf("%+v: %v, want one fault with %q", c.acl, faults, c.want)
		}
	}
}
