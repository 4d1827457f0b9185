package b2bua

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// fullRoute says everything that a route can say.
func fullRoute() trunkgroup.CarrierRoute {
	return trunkgroup.CarrierRoute{
		CarrierID: "carrier-a", GatewayGroup: "carrier-a", NextHop: "sip:gw.example.com;transport=tls", RURI: "sip:x@gw.example.com",
		Hops: []trunkgroup.Hop{
			{Addr: netip.MustParseAddrPort("192.0.2.1:5061"), Transport: trunkgroup.TLS, Name: "gw.example.com"}, {Addr: netip.MustParseAddrPort("[2001:db8::1]:5060"), Transport: trunkgroup.UDP},
		},
		Destination: "+442079460000", TechPrefix: "1010288", NumberPolicy: "plain", CallerID: "+13105550100", Restricted: true,
		Rate: 0.0042, Rated: true, Currency: "USD", BillingIncrement: 6, MinDuration: 30, Timeout: 6 * time.Second, RerouteAfterProgress: true,
		Headers: []trunkgroup.NameValue{{Name: "X-Account", Value: "42"}}, CDRFields: []trunkgroup.NameValue{{Name: "deck", Value: "gold"}, {Name: "margin"}}, RerouteCauses: trunkgroup.Causes(404, 503),
	}
}

// DEC-07: the hand-off carries the remaining decision.
func TestDEC07_RoutesCross(t *testing.T) {
	for _, set := range []*trunkgroup.RouteSet{
		{Source: trunkgroup.RoutesPeer}, {Source: trunkgroup.RoutesPeer, Destination: "+1", Routes: []trunkgroup.CarrierRoute{fullRoute(), {}, {NextHop: "192.0.2.1"}}},
	} {
		got, err := parseRouteSet(appendRouteSet(nil, set))
		if err != nil || !reflect.DeepEqual(got, set) {
			t.Errorf("%v\ngot  %+v\nwant %+v", err, got, set)
		}
	}
	b := appendRouteSet(nil, &trunkgroup.RouteSet{Routes: []trunkgroup.CarrierRoute{fullRoute()}})
	for n := range b {
		if _, err := parseRouteSet(b[:n]); err == nil {
			t.Errorf("%d of %d octets are read", n, len(b))
		}
	}
	if _, err := parseRouteSet(append(b, 0)); err == nil {
		t.Error("more than a set is read")
	}
}

// FuzzRouteSet: what a node tells is read without harm, and what is read comes back.
func FuzzRouteSet(f *testing.F) {
	f.Add(appendRouteSet(nil, &trunkgroup.RouteSet{Destination: "+1", Routes: []trunkgroup.CarrierRoute{fullRoute(), {}}}))
	f.Add([]byte{routesForm, 0, 0})
	f.Add([]byte{routesForm, 0, 255, 255, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		set, err := parseRouteSet(b)
		if err != nil {
			return
		}
		again, err := parseRouteSet(appendRouteSet(nil, set))
		if err != nil || !reflect.DeepEqual(again, set) {
			t.Fatalf("%v\n%+v\n%+v", err, set, again)
		}
	})
}
