package trunkgroup

import "net/netip"

// CauseUnresolved is the cause of a candidate whose name has no address.
const CauseUnresolved = "unresolved"

// Candidate is one entry of a try-order.
type Candidate struct {
	Member   *Member
	Addr     netip.AddrPort // zero when not dialable
	Dialable bool
	Cause    string // why it is not dialable: down, disabled, draining, cooldown, unresolved
}

// Draw is what chance and turn give to one call.
type Draw struct {
	Turn   uint64 // the group's counter, one more for each call
	Random uint64 // seed of this call
}

// onStack is how many members of a site a plan orders without allocation.
const onStack = 64

// Plan appends the whole try-order of a group in one site to dst and returns
// it (P-02, P-03). First stand the members that get no call now, by priority,
// with Dialable false and a cause; then all others by the group's
// distribution. A member by name yields one candidate per address.
//
// In panic probe verdicts are not believed, an operator's word still holds
// (DEC-12). Without monitoring every member is active (P-08).
func Plan(dst []Candidate, g *Group, site string, v *View, d Draw) []Candidate {
	at := g.sites[site]
	if at == nil {
		return dst
	}
	var buffer [onStack]*Member
	order := buffer[:0]
	panicking := v.Panic[site]
	for _, m := range at.ranked {
		if cause := v.dialable(m, panicking); cause != "" {
			dst = append(dst, Candidate{Member: m, Cause: cause})
		} else {
			order = append(order, m)
		}
	}
	distribute(order, g.Method, v, d)
	for _, m := range order {
		for _, addr := range v.Addrs[m.Index] {
			dst = append(dst, Candidate{Member: m, Addr: addr, Dialable: true})
		}
	}
	return dst
}
