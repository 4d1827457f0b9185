package trunkgroup

import (
	"net/netip"
	"time"
)

// NameValue is one header, or one field of a record, that a route brings along.
type NameValue struct{ Name, Value string }

// CarrierRoute is one route of a least-cost decision: a carrier, and how this call looks
// to it. Zero fields mean "not said". A route never changes once it is part of a
// RouteSet: calls share it.
type CarrierRoute struct {
	// CarrierID goes to the record and to charging; nothing is routed by it.
	CarrierID string
	// GatewayGroup names the pstn-provider group that is dialled. It is looked up when it
	// is dialled (S-070), and may be unknown (S-072).
	GatewayGroup string
	// NextHop is an explicit next hop, also where the group is unknown or down (S-071).
	NextHop string
	// RURI replaces the whole Request-URI, host included (S-071, S-083).
	RURI string
	// Hops are the addresses of NextHop, or else of the host of RURI, as they were resolved
	// before the call had to wait for it; none: not reachable.
	Hops []Hop
	// Destination replaces the dialled number; of a URI the user alone is taken.
	Destination string
	// TechPrefix is put before the user of the Request-URI, behind the number policy (C8).
	TechPrefix string
	// NumberPolicy names one of the document's number policies.
	NumberPolicy string
	// CallerID is the number that is presented (S-084).
	CallerID string
	// Restricted withholds the caller's number (S-085).
	Restricted bool
	// Rate is the price of a minute in Currency, where Rated says that there is one.
	Rate     float64
	Rated    bool
	Currency string // ISO 4217
	// BillingIncrement and MinDuration are seconds, for the record's cost.
	BillingIncrement, MinDuration uint32
	// Timeout bounds the wait for progress (S-060); 0 = the plan's.
	Timeout time.Duration
	// RerouteAfterProgress moves on at Timeout whatever the carrier has sent (S-067).
	RerouteAfterProgress bool
	// Headers are put on the INVITE (S-081), CDRFields on the record when this route wins;
	// both by name.
	Headers, CDRFields []NameValue
	// RerouteCauses are the finals that lead to the next route; empty = the group's, or the
	// plan's (S-036).
	RerouteCauses CauseSet
}

// Hop is one address of a next hop.
type Hop struct {
	Addr      netip.AddrPort
	Transport Transport
	Name      string // as it was written, for TLS; empty for an address
}

// Routable reports whether the route says where to go at all (S-020).
func (r *CarrierRoute) Routable() bool {
	return r.GatewayGroup != "" || r.NextHop != "" || r.RURI != ""
}

// Sources of a RouteSet, as the record's route_source has them.
const (
	RoutesLive     = "lcr"      // asked for this call
	RoutesCached   = "cache"    // an earlier answer
	RoutesFallback = "fallback" // the plan's fallback group, for nobody answered
	RoutesDeck     = "deck"     // rate decks of our own
	RoutesPolicy   = "policy"   // a rule for calls that failed
	RoutesPeer     = "peer"     // decided by the site that handed the call over
)

// RouteSet is what was decided for one call. It never changes: calls share it.
type RouteSet struct {
	Routes []CarrierRoute // in the order in which they are tried
	// Destination replaces the dialled number in every route that has none of its own.
	Destination string
	// Reject, when its Code is not 0, refuses the call whatever Routes has (S-012).
	Reject Rejection
	Source string // one of the constants above
	// Absent: nobody decided, and there is no fallback (S-011). Why says what happened.
	Absent bool
	Why    string
}

// Rejection is a final response that a decision demands.
type Rejection struct {
	Code   int
	Reason string
}
