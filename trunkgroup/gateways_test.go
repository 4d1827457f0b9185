package trunkgroup

import (
	"net/netip"
	"testing"
)

// G-06: "source IP (port ignored) in any resolved member IP or source_networks CIDR".
func TestG06_FromGateway(t *testing.T) {
	table := compile(t, &Document{
		Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}},
		TrunkGroups: []GroupSpec{
			{Name: "carrier-a", Role: PSTNProvider, Members: []MemberSpec{
				{ID: "gw", Site: "dallas", Address: "192.0.2.10:5060"},
				{ID: "named", Site: "dallas", FQDN: "gw.example.com"},
			}},
			{Name: "carrier-b", Role: PSTNProvider, Sources: []SourceSpec{{IP: "192.0.2.0/24"}, {IP: "2001:db8:b::/48", Transport: TLS}}},
		},
	})
	v := NewView(table)
	v.Addrs[table.Member("carrier-a/named").Index] = []netip.AddrPort{netip.MustParseAddrPort("198.51.100.7:5062")}
	x := NewGateways(table, v)
	for _, c := range []struct {
		addr        string
		any, fromA  bool
		fromB, nilV bool
	}{
		{"192.0.2.10", true, true, true, true},
		{"::ffff:192.0.2.10", true, true, true, true},
		{"192.0.2.11", true, false, true, true},
		{"198.51.100.7", true, true, false, false},
		{"198.51.100.8", false, false, false, false},
		{"2001:db8:b:1::5", true, false, true, true},
		{"2001:db8:c::1", false, false, false, false},
	} {
		a := netip.MustParseAddr(c.addr)
		if got := x.Any(a); got != c.any {
			t.Errorf("Any(%s) = %v", c.addr, got)
		}
		if got := x.From(table.Group("carrier-a"), a); got != c.fromA {
			t.Errorf("From(carrier-a, %s) = %v", c.addr, got)
		}
		if got := x.From(table.Group("carrier-b"), a); got != c.fromB {
			t.Errorf("From(carrier-b, %s) = %v", c.addr, got)
		}
		if got := NewGateways(table, nil).Any(a); got != c.nilV {
			t.Errorf("without a view, Any(%s) = %v", c.addr, got)
		}
	}
	var none *Gateways
	if a := netip.MustParseAddr("192.0.2.10"); none.Any(a) || none.From(table.Group("carrier-a"), a) {
		t.Error("nobody's gateways know an address")
	}
	if n := testing.AllocsPerRun(100, func() { x.Any(netip.MustParseAddr("192.0.2.10")) }); n != 0 {
		t.Errorf("Any allocates %v times", n)
	}
}
