package guard

import (
	"encoding/binary"
	"net/netip"
)

// sourceOf is the unit in which senders are counted and banned: an IPv4 address, or
// the /64 of an IPv6 one, since that much is given to one household.
func sourceOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, _ := a.Prefix(bits) // fails for the zero Addr only: the zero prefix stands for that
	return p
}

// hasher makes a place in a table of an address, in a way that nobody outside can
// foresee.
type hasher struct{ k0, k1 uint64 }

// hash mixes the source of an address with the key.
func (h hasher) hash(a netip.Addr) uint64 {
	b := a.As16()
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	if !a.Is4() && !a.Is4In6() {
		lo = 0 // the interface identifier of an IPv6 address is its owner's to choose
	}
	return mix(mix(hi^h.k0) + h.k1 ^ mix(lo^h.k1))
}

// mix is the finalizer of splitmix64: every bit of the input reaches every bit of the
// output.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
