package trunkgroup

import (
	"net/netip"
	"slices"

	"github.com/gaissmai/bart"
)

// Gateways knows from which addresses the far ends of the groups send: their
// sources, and what their members and registrars resolve to (G-06). Ports are ignored. Over TCP
// and TLS such an address is proof; over UDP, where senders can lie, a hint. It
// never changes.
type Gateways struct {
	networks bart.Table[[]*Group]
}

// NewGateways collects the addresses of all groups; v may be nil, and then members
// by name are unknown.
func NewGateways(t *Table, v *View) *Gateways {
	x := &Gateways{}
	for _, g := range t.groups {
		for _, s := range t.document.TrunkGroups[g.Index].Sources {
			if p, err := parseNetwork(s.IP); err == nil {
				x.add(p, g)
			}
		}
		for _, m := range g.Members {
			if m.Addr.IsValid() {
				x.host(m.Addr, g)
			}
			if m.Account != nil && m.Account.Register && m.Account.Registrar.Addr.IsValid() {
				x.host(m.Account.Registrar.Addr, g)
			}
			if v != nil && v.Carriers != nil {
				for _, a := range v.Carriers[m.Index] {
					x.host(a, g)
				}
			}
			if v == nil || m.Index >= len(v.Addrs) {
				continue
			}
			for _, a := range v.Addrs[m.Index] {
				x.host(a, g)
			}
		}
	}
	return x
}

func (x *Gateways) host(a netip.AddrPort, g *Group) {
	ip := a.Addr().Unmap().WithZone("")
	x.add(netip.PrefixFrom(ip, ip.BitLen()), g)
}

func (x *Gateways) add(p netip.Prefix, g *Group) {
	groups, _ := x.networks.Get(p)
	if !slices.Contains(groups, g) {
		x.networks.Insert(p, append(slices.Clip(groups), g))
	}
}

// Any tells whether some group's far ends send from the address. It does not
// allocate.
func (x *Gateways) Any(a netip.Addr) bool {
	return x != nil && x.networks.Contains(a.Unmap().WithZone(""))
}

// Overlaps tells whether far ends have addresses in a network.
func (x *Gateways) Overlaps(p netip.Prefix) bool {
	return x != nil && x.networks.OverlapsPrefix(p)
}

// Within lists the networks of far ends that share addresses with a network.
func (x *Gateways) Within(p netip.Prefix) (list []netip.Prefix) {
	if x == nil {
		return nil
	}
	for q := range x.networks.All() {
		if q.Overlaps(p) {
			list = append(list, q)
		}
	}
	return list
}

// From tells whether a group's far ends send from the address (G-06).
func (x *Gateways) From(g *Group, a netip.Addr) bool {
	if x == nil {
		return false
	}
	a = a.Unmap().WithZone("")
	for _, groups := range x.networks.Supernets(netip.PrefixFrom(a, a.BitLen())) {
		if slices.Contains(groups, g) {
			return true
		}
	}
	return false
}
