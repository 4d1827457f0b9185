package b2bua

import (
	"bytes"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// outboundCalls returns a function that lets one call happen from INVITE to BYE, out to the first carrier:
// by rows of the plan, or by five routes that were decided on.
func outboundCalls(tb testing.TB, decided bool) func() {
	w := newWorldOf(tb, "dal-1", "dallas", carriers(func(d *trunkgroup.Document) {
		if !decided {
			d.RoutePlans[0] = trunkgroup.RoutePlanSpec{Name: "lcr", Routes: []trunkgroup.RouteSpec{{Prefix: "*", Providers: []string{a, b, c}}}}
		}
	}))
	set := &trunkgroup.RouteSet{Source: trunkgroup.RoutesCached, Routes: []trunkgroup.CarrierRoute{routeTo(a), routeTo(b), routeTo(c), routeTo(b), routeTo(c)}}
	w.routes = func(*RouteQuery) *trunkgroup.RouteSet { return set }
	caller, gateway := netip.MustParseAddrPort(customerAddr), netip.MustParseAddrPort(gatewayA)
	e := &sideEnv{world: w, caller: caller}
	w.s.env = e
	parse := func(raw []byte) *sip.Message {
		m, fault := sip.Parse(raw)
		if fault != nil {
			tb.Fatalf("%v\n%s", fault, raw)
		}
		return m
	}
	at := func(addr netip.AddrPort, raw []byte) {
		w.s.Receive(w.now, &Packet{Packet: transport.Packet{Message: parse(raw), Source: addr, Transport: trunkgroup.UDP}})
	}
	text := []byte(invite{called: "+13125550100", host: customerAddr, body: offer, callID: "call-XXXXXXXX", branch: "z9hG4bKXXXXXXXX"}.String())
	n := 0
	return func() {
		n++
		id := []byte(strconv.Itoa(10_000_000 + n))
		at(caller, bytes.ReplaceAll(text, []byte("XXXXXXXX"), id))
		inv := parse(bytes.Clone(e.out))
		at(gateway, []byte(reply(inv, 180, "callee", "")))
		at(gateway, []byte(reply(inv, 200, "callee", answerSDP, "Contact: <sip:gw@"+gatewayA+">\r\n")))
		ok := parse(bytes.Clone(e.back))
		at(caller, []byte(ackFor(ok, "z9hG4bKack"+string(id), "")))
		at(caller, []byte(inside(ok, "BYE", 2, "", "")))
		at(gateway, []byte(reply(parse(bytes.Clone(e.out)), 200, "callee", "")))
		if n%1000 == 0 {
			w.now = w.now.Add(33 * time.Second)
			w.s.Advance(w.now)
		}
	}
}

// sideEnv keeps the last bytes of each side and nothing else.
type sideEnv struct {
	*world
	caller    netip.AddrPort
	out, back []byte
}

func (e *sideEnv) Send(t transport.Target, b []byte, _ uint64) {
	if t.Addr == e.caller {
		e.back = b
	} else {
		e.out = b
	}
}
func (e *sideEnv) Share(Open)  {}
func (e *sideEnv) Count(Event) {}

// BenchmarkOutboundCall is a whole call to a carrier, by rows and by a decision of five routes that was
// known at once.
func BenchmarkOutboundCall(b *testing.B) {
	for name, decided := range map[string]bool{"rows": false, "routes": true} {
		b.Run(name, func(b *testing.B) {
			call := outboundCalls(b, decided)
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

// A decision of five routes costs a call some 11 allocations beside the 118 of one by rows: its far ends,
// targets and rules, and the shape of its INVITE.
func TestRoutesCostFewAllocations(t *testing.T) {
	rows, routes := outboundCalls(t, false), outboundCalls(t, true)
	plain, decided := testing.AllocsPerRun(200, rows), testing.AllocsPerRun(200, routes)
	t.Logf("by rows %v, by routes %v", plain, decided)
	if more := decided - plain; more > 12 {
		t.Errorf("a decision of five routes costs %v allocations", more)
	}
}
