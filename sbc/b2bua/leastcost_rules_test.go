package b2bua

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// S-001: the order is the server's. Prices are passed on, never compared.
func TestS001_PricesDecideNothing(t *testing.T) {
	dear, cheap := routeTo(a), routeTo(b)
	dear.Rate, dear.Rated, cheap.Rate, cheap.Rated = 9, true, 0.001, true
	w := decided(t, carriers(), dear, cheap)
	w.from(customerAddr, vendorCall())
	w.none(gatewayB, "INVITE")
	w.takes(gatewayA, 200)
	if r := w.ends(200, ""); r.CarrierID != a || !r.Rated || r.Rate != 9 {
		t.Errorf("%+v", r)
	}
}

// S-002, S-004, S-006: both dialogs are ours, and the caller's stays what it is whichever carrier rings
// and whichever answers.
func TestS002_S004_S006_BothDialogsAreOurs(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	first := w.takes(gatewayA, 183)
	ringing := w.take(customerAddr, "SIP/2.0 183")
	w.says(gatewayA, first, 503)
	second := w.takes(gatewayB, 200)
	final := w.take(customerAddr, "SIP/2.0 200")
	for _, m := range []*sip.Message{first, second} {
		if raw := string(m.Raw()); strings.Count(raw, "\r\nVia:") != 1 || strings.Contains(raw, "Record-Route") || strings.Contains(raw, string(final.CallID())) {
			t.Errorf("S-002: passed on by a proxy:\n%s", raw)
		}
	}
	if !bytes.Equal(ringing.CallID(), final.CallID()) || !bytes.Equal(ringing.FromTag(), final.FromTag()) || !bytes.Equal(ringing.ToTag(), final.ToTag()) {
		t.Errorf("S-004:\n%s\n%s", ringing.Raw(), final.Raw())
	}
	w.from(customerAddr, ackFor(final, "z9hG4bKack", ""))
	w.from(gatewayB, calleeRequest(second, "far", "BYE", 1, "", ""))
	w.take(gatewayB, "SIP/2.0 200")
	bye := w.take(customerAddr, "BYE")
	if !bytes.Equal(bye.CallID(), final.CallID()) || !bytes.Equal(bye.FromTag(), final.ToTag()) {
		t.Errorf("S-006: a BYE of another dialog:\n%s", bye.Raw())
	}
	w.none(gatewayA, "BYE")
	w.from(customerAddr, reply(bye, 200, "", ""))
	w.quiet()
}

// S-031: silence leads on only when 408 is in the route's causes; S-040: else it ends the sequence with a
// 503 of our own.
func TestS031_S040_SilenceThatLeadsNowhere(t *testing.T) {
	for _, on := range []bool{true, false} {
		r := causes(a, 503)
		if on {
			r = causes(a, 408)
		}
		w := decided(t, carriers(), r, routeTo(b))
		w.from(customerAddr, vendorCall())
		w.takes(gatewayA, 100)
		w.advance(6 * time.Second)
		w.cancelled(gatewayA)
		if on {
			w.takes(gatewayB, 200)
			w.ends(200, "a 408")
			continue
		}
		w.none(gatewayB, "INVITE")
		w.ends(503, "a 408")
	}
}

// S-037: nobody tells the caller of a failure while there is somebody left. S-047: what failed, oldest
// first, and nothing else.
func TestS037_S047_NothingIsToldBeforeTheLast(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), causes(b, 404), routeTo(c))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 500)
	w.takes(gatewayB, 404)
	for _, x := range w.sent {
		if x.dest() == customerAddr && x.m.Status() >= 200 {
			t.Errorf("S-037: told %d", x.m.Status())
		}
	}
	w.takes(gatewayC, 200)
	w.ends(200, "a 500, b 404")

	w = decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 200)
	w.ends(200, "")
}

// S-060: progress is 101 to 199, and 100 is none.
func TestS060_WhatProgressIs(t *testing.T) {
	for _, code := range []int{100, 101, 180, 181, 182, 183, 199} {
		w := decided(t, carriers(), routeTo(a), routeTo(b))
		w.from(customerAddr, vendorCall())
		m := w.takes(gatewayA, 100)
		w.advance(5 * time.Second)
		w.says(gatewayA, m, code)
		w.advance(time.Second)
		if moved := w.find(gatewayB, "INVITE") != nil; moved != (code == 100) {
			t.Errorf("%d at 5 s of 6: the next carrier has the call: %v", code, moved)
		}
	}
}

// G-07: a probe over TLS asks for the name that is configured, else for the member's own.
func TestG07_ProbeNamesTheHost(t *testing.T) {
	for _, tt := range []struct{ fqdn, name, want string }{
		{"gw.example.com", "", "gw.example.com"},
		{"gw.example.com", "sbc.example.com", "sbc.example.com"},
	} {
		doc := document()
		m := &doc.TrunkGroups[2].Members[0]
		m.Address, m.FQDN, m.ServerName, m.Transport = "", tt.fqdn, tt.name, trunkgroup.TLS
		doc.TrunkGroups[2].Sources = []trunkgroup.SourceSpec{{IP: "192.0.2.10", Transport: trunkgroup.TLS}}
		w := newWorldOf(t, "dal-1", "dallas", doc)
		w.s.cfg.Listeners = append(w.s.cfg.Listeners, Listener{Transport: trunkgroup.TLS, Advertise: "203.0.113.1:5061"})
		addr := netip.MustParseAddrPort("192.0.2.10:5061")
		w.step(func() {
			w.s.Ping(w.now, PingOrder{Token: 1, Candidate: trunkgroup.Candidate{Member: w.table.Member("carrier-a/dal"), Addr: addr, Dialable: true}})
		})
		if len(w.sent) != 1 || w.sent[0].to.ServerName != tt.want || w.sent[0].to.Addr != addr {
			t.Errorf("%+v: %+v", tt, w.sent)
		}
	}
}
