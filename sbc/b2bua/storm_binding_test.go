package b2bua

import (
	"net/netip"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Far ends that register, in a storm: one that all nodes reach, and two behind
// NATs that let in only whom they have asked.

const (
	stormRooms      = "+13035550100"
	stormRegistered = "rooms-in"
)

// stormGroup is their group.
func stormGroup() trunkgroup.GroupSpec {
	return trunkgroup.GroupSpec{
		Name: stormRegistered, Role: trunkgroup.OriginationCustomer, Numbers: []string{stormRooms},
		Members: []trunkgroup.MemberSpec{{ID: "pbx", Registration: &trunkgroup.RegistrationSpec{AOR: "sip:rooms@sip.local", Users: []string{"rooms"}}}},
		Credentials: []trunkgroup.CredentialSpec{{
			Username: "rooms", Realm: "sip.local", HA1MD5: "0123456789abcdef0123456789abcdef",
		}},
	}
}

// register puts bindings at nodes and agents behind them.
func (w *storm) register() {
	for i, at := range []*stormNode{w.nodes[0], w.nodes[1], w.nodes[2]} {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(20 + i)}), 5060)
		b := &trunkgroup.Binding{
			AOR: "sip:rooms@sip.local", ID: at.name, Contact: "sip:rooms@" + addr.String(), Transport: trunkgroup.UDP, Addr: addr,
			Reach: trunkgroup.ReachAny, Node: at.name, Site: at.site, Boot: 1, Q: 1000, Sessions: -1,
			Local: netip.MustParseAddrPort(at.addr), Advertise: at.addr,
		}
		a := newAgent(w, addr.String())
		a.says = a.addr
		if i > 0 {
			b.Reach, b.Contact, a.says = trunkgroup.ReachSocket, "sip:rooms@"+natPrivate, natPrivate
			a.asked = map[string]bool{at.addr: true}
		}
		w.agents[a.addr] = a
		w.bindings = append(w.bindings, b)
	}
}

const natPrivate = "10.99.0.1:5060"

// stormRegistry is what a node knows of the bindings.
type stormRegistry struct{ n *stormNode }

// Bindings implements trunkgroup.Registry.
func (r stormRegistry) Bindings(string) []*trunkgroup.Binding { return r.n.w.bindings }

// Reach implements trunkgroup.Registry: by DEC-15.
func (r stormRegistry) Reach(b *trunkgroup.Binding) (site, cause string) {
	up := func(n *stormNode) bool { return n == r.n || r.n.Up(n.name) }
	if b.Reach == trunkgroup.ReachSocket {
		if !up(r.n.w.node(b.Node)) {
			return b.Site, trunkgroup.CauseNodeDown
		}
		return b.Site, ""
	}
	for _, n := range r.n.w.nodes {
		if n.site == b.Site && up(n) {
			return b.Site, ""
		}
	}
	return r.n.site, ""
}

// view is the storm's, with what this node knows of the bindings.
func (n *stormNode) view() *trunkgroup.View {
	if n.w.bindings == nil && n.w.revision == 0 {
		return n.w.view
	}
	v := *n.w.view
	v.Registry, v.Sessions = stormRegistry{n}, n.seats
	return &v
}
