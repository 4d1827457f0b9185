package trunkgroup

import (
	"net/netip"
	"testing"
)

// S-071: a next hop is called by its address or its name, as it was given: there is no group before it.
func TestS071_NameOfANextHop(t *testing.T) {
	addr := netip.MustParseAddrPort("192.0.2.99:5080")
	for name, want := range map[string]string{"": "192.0.2.99:5080", "gw.example.com": "gw.example.com"} {
		if m := hopMember(&Hop{Addr: addr, Transport: UDP, Name: name}); m.Key != want || m.ID != want {
			t.Errorf("%q: key %q, id %q", name, m.Key, m.ID)
		}
	}
}
