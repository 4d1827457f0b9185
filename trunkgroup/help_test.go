package trunkgroup

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// testDocument is a small valid cluster: two sites, one customer in both
// directions, two carriers.
func testDocument() *Document {
	return &Document{
		Cluster: "test",
		Sites:   []SiteSpec{{Name: "dallas", Peers: []string{"ashburn"}}, {Name: "ashburn", Peers: []string{"dallas"}}},
		TrunkGroups: []GroupSpec{
			{
				Name: "acme-in", Role: OriginationCustomer,
				Numbers:    []string{"+12145550100..+12145550199", "+1469555*"},
				Monitoring: MonitoringSpec{Profile: "peeredge"},
				Members: []MemberSpec{
					{ID: "d1", Site: "dallas", Address: "198.51.100.1:5060"},
					{ID: "d2", Site: "dallas", Address: "198.51.100.2"},
					{ID: "a1", Site: "ashburn", Address: "[2001:db8::1]:5061", Transport: TLS},
				},
			},
			{
				Name: "acme-out", Role: TerminationCustomer, RoutePlan: "domestic",
				Sources:     []SourceSpec{{IP: "198.51.100.1", Port: 5060}},
				Credentials: []CredentialSpec{{Username: "acme", Realm: "sip.example.com", HA1MD5: "0123456789ABCDEF0123456789abcdef"}},
			},
			{Name: "carrier-a", Role: PSTNProvider, Members: []MemberSpec{{ID: "d", Site: "dallas", Address: "192.0.2.1"}}},
			{Name: "carrier-b", Role: PSTNProvider, Members: []MemberSpec{{ID: "d", Site: "dallas", FQDN: "gw.example.com", Transport: TCP}}},
			{Name: "globex-out", Role: TerminationCustomer, Sources: []SourceSpec{{IP: "203.0.113.0/24", Transport: TLS}}},
		},
		RoutePlans: []RoutePlanSpec{{Name: "domestic", Routes: []RouteSpec{
			{Prefix: "+1", Providers: []string{"carrier-a", "carrier-b"}},
			{Prefix: "+1214", Providers: []string{"carrier-b"}},
			{Prefix: "911", Providers: []string{"carrier-a"}},
		}}},
	}
}

func compile(t testing.TB, d *Document) *Table {
	t.Helper()
	table, err := Compile(d, Version{Cluster: d.Cluster, Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// poolDocument is one group with members of these weights in dallas.
func poolDocument(method Method, weights ...int) *Document {
	g := GroupSpec{Name: "pool", Role: PSTNProvider, Distribution: DistributionSpec{Method: method}, Monitoring: MonitoringSpec{Profile: "peeredge"}}
	if method == Parallel {
		g.Role = OriginationCustomer
	}
	if method == Hash || method == HashMod {
		g.Distribution.Key = KeyCallID.String()
	}
	for i, w := range weights {
		g.Members = append(g.Members, MemberSpec{
			ID: fmt.Sprintf("m%d", i), Site: "dallas", Weight: w, Address: fmt.Sprintf("192.0.2.%d:5060", i+1),
		})
	}
	return &Document{Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}}, TrunkGroups: []GroupSpec{g}}
}

func addrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// epoch is when virtual time begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
