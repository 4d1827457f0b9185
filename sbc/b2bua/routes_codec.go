package b2bua

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// errRouteSet is a route set that cannot be read.
var errRouteSet = errors.New("malformed routes")

// Bounds of a route set that another node tells of. What a decision may hold is within
// them.
const (
	maxRoutes     = 256
	maxRouteText  = 4096
	maxRoutePairs = 64
	maxRouteHops  = 32
	routesForm    = 1
	maxRouteTime  = 24 * time.Hour
)

// The bits of a route's first number.
const (
	routeRestricted = 1 << iota
	routeRated
	routeOnwards // RerouteAfterProgress
)

// appendRouteSet appends the routes of a set, with what holds for all of them, in the form
// in which nodes tell each other of them (DEC-07). How they came about is not told.
func appendRouteSet(dst []byte, set *trunkgroup.RouteSet) []byte {
	dst = append(dst, routesForm)
	dst = octets.Append(dst, set.Destination)
	dst = binary.AppendUvarint(dst, uint64(len(set.Routes)))
	for i := range set.Routes {
		dst = appendRoute(dst, &set.Routes[i])
	}
	return dst
}

func appendRoute(dst []byte, r *trunkgroup.CarrierRoute) []byte {
	flags := uint64(0)
	for _, f := range [...]struct {
		set bool
		bit uint64
	}{{r.Restricted, routeRestricted}, {r.Rated, routeRated}, {r.RerouteAfterProgress, routeOnwards}} {
		if f.set {
			flags |= f.bit
		}
	}
	dst = binary.AppendUvarint(dst, flags)
	for _, s := range textsOf(r) {
		dst = octets.Append(dst, *s)
	}
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(r.Rate))
	dst = binary.AppendUvarint(dst, uint64(r.BillingIncrement))
	dst = binary.AppendUvarint(dst, uint64(r.MinDuration))
	dst = binary.AppendUvarint(dst, uint64(max(r.Timeout, 0)/time.Millisecond))
	dst = appendPairs(appendPairs(dst, r.Headers), r.CDRFields)
	codes := r.RerouteCauses.Codes()
	dst = binary.AppendUvarint(dst, uint64(len(codes)))
	for _, code := range codes {
		dst = binary.AppendUvarint(dst, uint64(code))
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Hops)))
	for _, h := range r.Hops {
		addr, _ := h.Addr.MarshalBinary() // never fails
		dst = octets.Append(append(octets.Append(dst, addr), byte(h.Transport)), h.Name)
	}
	return dst
}

// textsOf are the fields of a route that are a text, in the order of the form.
func textsOf(r *trunkgroup.CarrierRoute) [9]*string {
	return [9]*string{
		&r.CarrierID, &r.GatewayGroup, &r.NextHop, &r.RURI, &r.Destination, &r.TechPrefix, &r.NumberPolicy, &r.CallerID, &r.Currency,
	}
}

func appendPairs(dst []byte, list []trunkgroup.NameValue) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, p := range list {
		dst = octets.Append(octets.Append(dst, p.Name), p.Value)
	}
	return dst
}

// parseRouteSet reads what appendRouteSet wrote; its source is RoutesPeer. The error is
// errRouteSet.
func parseRouteSet(b []byte) (*trunkgroup.RouteSet, error) {
	r := octets.ReadStrict(b)
	if r.Octet() != routesForm {
		return nil, errRouteSet
	}
	set := &trunkgroup.RouteSet{Source: trunkgroup.RoutesPeer, Destination: r.Text(maxRouteText)}
	n := r.Length(1)
	if n > maxRoutes {
		return nil, errRouteSet
	}
	if n > 0 {
		set.Routes = make([]trunkgroup.CarrierRoute, n)
	}
	for i := range set.Routes {
		readRoute(&set.Routes[i], &r)
	}
	if !r.End() {
		return nil, errRouteSet
	}
	return set, nil
}

func readRoute(r *trunkgroup.CarrierRoute, from *octets.Reader) {
	flags := from.Int(routeRestricted | routeRated | routeOnwards)
	r.Restricted, r.Rated, r.RerouteAfterProgress = flags&routeRestricted != 0, flags&routeRated != 0, flags&routeOnwards != 0
	for _, s := range textsOf(r) {
		*s = from.Text(maxRouteText)
	}
	var rate uint64
	for range 8 {
		rate = rate<<8 | uint64(from.Octet())
	}
	if r.Rate = math.Float64frombits(rate); math.IsNaN(r.Rate) || math.IsInf(r.Rate, 0) {
		from.Fail()
	}
	r.BillingIncrement, r.MinDuration = uint32(from.Int(math.MaxUint32)), uint32(from.Int(math.MaxUint32))
	r.Timeout = from.Duration(time.Millisecond, maxRouteTime)
	r.Headers, r.CDRFields = readPairs(from), readPairs(from)
	r.RerouteCauses = readCauses(from)
	hops := from.Length(3)
	if hops > maxRouteHops {
		from.Fail()
		return
	}
	for range hops {
		r.Hops = append(r.Hops, readHop(from))
	}
}

func readCauses(from *octets.Reader) trunkgroup.CauseSet {
	n := from.Length(1)
	codes := make([]int, 0, n)
	for range n {
		codes = append(codes, from.Int(699))
	}
	set := trunkgroup.Causes(codes...)
	if !slices.Equal(set.Codes(), codes) && n > 0 { // out of bounds, out of order or twice
		from.Fail()
	}
	return set
}

func readHop(from *octets.Reader) (h trunkgroup.Hop) {
	addr := from.Octets(64)
	h.Transport = trunkgroup.Transport(from.Octet())
	h.Name = from.Text(maxRouteText)
	if h.Addr.UnmarshalBinary(addr) != nil || !h.Addr.IsValid() || h.Addr.Addr().Zone() != "" || !h.Transport.Dialled() {
		from.Fail()
	}
	return h
}

func readPairs(from *octets.Reader) (list []trunkgroup.NameValue) {
	n := from.Length(2)
	if n > maxRoutePairs {
		from.Fail()
		return nil
	}
	for range n {
		list = append(list, trunkgroup.NameValue{Name: from.Text(maxRouteText), Value: from.Text(maxRouteText)})
	}
	return list
}
