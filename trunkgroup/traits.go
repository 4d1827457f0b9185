package trunkgroup

import "net/netip"

// Traits are what of a call a distribution may go by. The octets are the call's
// own and must not change while it is planned.
type Traits struct {
	CallID []byte
	// From and To are the URIs in these headers, without parameters.
	From, To []byte
	// RequestUser is the user of the Request-URI as it was received.
	RequestUser []byte
	// AuthUser is the digest user, of a call that proved one.
	AuthUser []byte
	// Caller and Called are numbers, E.164 as far as they could be read.
	Caller, Called []byte
	Source         netip.Addr
	Headers        HeaderSource // nil has none
}

// HeaderSource gives the first value of a header, or nothing. It does not
// allocate.
type HeaderSource interface {
	HeaderValue(name string) []byte
}

// Turner gives the next turn of a group's round robin.
type Turner interface {
	Turn(g *Group) uint64
}
