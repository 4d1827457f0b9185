package trunkgroup

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
)

// ErrRouteSet is a route set that cannot be read.
var ErrRouteSet = errors.New("malformed routes")

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

// AppendRouteSet appends the routes of a set, with what holds for all of them, in the form
// in which nodes tell each other of them (DEC-07). How they came about is not told.
func AppendRouteSet(dst []byte, set *RouteSet) []byte {
	dst = append(dst, routesForm)
	dst = octets.Append(dst, set.Destination)
	dst = binary.AppendUvarint(dst, uint64(len(set.Routes)))
	for i := range set.Routes {
		dst = set.Routes[i].append(dst)
	}
	return dst
}

func (r *CarrierRoute) append(dst []byte) []byte {
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
	for _, s := range r.texts() {
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

// texts are the fields of a route that are a text, in the order of the form.
func (r *CarrierRoute) texts() [9]*string {
	return [9]*string{
		&r.CarrierID, &r.GatewayGroup, &r.NextHop, &r.RURI, &r.Destination, &r.TechPrefix, &r.NumberPolicy, &r.CallerID, &r.Currency,
	}
}

func appendPairs(dst []byte, list []NameValue) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, p := range list {
		dst = octets.Append(octets.Append(dst, p.Name), p.Value)
	}
	return dst
}

// ParseRouteSet reads what AppendRouteSet wrote; its source is RoutesPeer. The error is
// ErrRouteSet.
func ParseRouteSet(b []byte) (*RouteSet, error) {
	r := octets.ReadStrict(b)
	if r.Octet() != routesForm {
		return nil, ErrRouteSet
	}
	set := &RouteSet{Source: RoutesPeer, Destination: r.Text(maxRouteText)}
	n := r.Length(1)
	if n > maxRoutes {
		return nil, ErrRouteSet
	}
	if n > 0 {
		set.Routes = make([]CarrierRoute, n)
	}
	for i := range set.Routes {
		set.Routes[i].read(&r)
	}
	if !r.End() {
		return nil, ErrRouteSet
	}
	return set, nil
}

func (r *CarrierRoute) read(from *octets.Reader) {
	flags := from.Int(routeRestricted | routeRated | routeOnwards)
	r.Restricted, r.Rated, r.RerouteAfterProgress = flags&routeRestricted != 0, flags&routeRated != 0, flags&routeOnwards != 0
	for _, s := range r.texts() {
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
	for range from.Length(1) {
		code, before := from.Int(causeMax), r.RerouteCauses
		if r.RerouteCauses = before.with(code); r.RerouteCauses == before { // none, or twice
			from.Fail()
		}
	}
	hops := from.Length(3)
	if hops > maxRouteHops {
		from.Fail()
		return
	}
	for range hops {
		r.Hops = append(r.Hops, readHop(from))
	}
}

func readHop(from *octets.Reader) (h Hop) {
	addr := from.Octets(64)
	h.Transport = Transport(from.Octet())
	h.Name = from.Text(maxRouteText)
	if h.Addr.UnmarshalBinary(addr) != nil || !h.Addr.IsValid() || h.Addr.Addr().Zone() != "" || !h.Transport.Dialled() {
		from.Fail()
	}
	return h
}

func readPairs(from *octets.Reader) (list []NameValue) {
	n := from.Length(2)
	if n > maxRoutePairs {
		from.Fail()
		return nil
	}
	for range n {
		list = append(list, NameValue{from.Text(maxRouteText), from.Text(maxRouteText)})
	}
	return list
}

// with returns the set with one code more; codes outside of 200 to 699 are ignored.
func (s CauseSet) with(code int) CauseSet {
	more := Causes(code)
	for i := range s.bits {
		s.bits[i] |= more.bits[i]
	}
	return s
}
