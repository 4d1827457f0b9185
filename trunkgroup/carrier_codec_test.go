package trunkgroup

import (
	"reflect"
	"testing"
	"time"
)

// fullRoute says everything that a route can say.
func fullRoute() CarrierRoute {
	return CarrierRoute{
		CarrierID: "carrier-a", GatewayGroup: "carrier-a", NextHop: "sip:gw.example.com;transport=tls", RURI: "sip:x@gw.example.com",
		Hops: []Hop{
			{Addr: addrPort("192.0.2.1:5061"), Transport: TLS, Name: "gw.example.com"}, {Addr: addrPort("[2001:db8::1]:5060"), Transport: UDP},
		},
		Destination: "+442079460000", TechPrefix: "1010288", NumberPolicy: "plain", CallerID: "+13105550100", Restricted: true,
		Rate: 0.0042, Rated: true, Currency: "USD", BillingIncrement: 6, MinDuration: 30, Timeout: 6 * time.Second, RerouteAfterProgress: true,
		Headers: []NameValue{{"X-Account", "42"}}, CDRFields: []NameValue{{"deck", "gold"}, {"margin", ""}}, RerouteCauses: Causes(404, 503),
	}
}

// DEC-07: the hand-off carries the remaining decision.
func TestDEC07_RoutesCross(t *testing.T) {
	for _, set := range []*RouteSet{
		{Source: RoutesPeer}, {Source: RoutesPeer, Destination: "+1", Routes: []CarrierRoute{fullRoute(), {}, {NextHop: "192.0.2.1"}}},
	} {
		got, err := ParseRouteSet(AppendRouteSet(nil, set))
		if err != nil || !reflect.DeepEqual(got, set) {
			t.Errorf("%v\ngot  %+v\nwant %+v", err, got, set)
		}
	}
	b := AppendRouteSet(nil, &RouteSet{Routes: []CarrierRoute{fullRoute()}})
	for n := range b {
		if _, err := ParseRouteSet(b[:n]); err == nil {
			t.Errorf("%d of %d octets are read", n, len(b))
		}
	}
	if _, err := ParseRouteSet(append(b, 0)); err == nil {
		t.Error("more than a set is read")
	}
}

// FuzzRouteSet: what a node tells is read without harm, and what is read comes back.
func FuzzRouteSet(f *testing.F) {
	f.Add(AppendRouteSet(nil, &RouteSet{Destination: "+1", Routes: []CarrierRoute{fullRoute(), {}}}))
	f.Add([]byte{routesForm, 0, 0})
	f.Add([]byte{routesForm, 0, 255, 255, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		set, err := ParseRouteSet(b)
		if err != nil {
			return
		}
		again, err := ParseRouteSet(AppendRouteSet(nil, set))
		if err != nil || !reflect.DeepEqual(again, set) {
			t.Fatalf("%v\n%+v\n%+v", err, set, again)
		}
	})
}
