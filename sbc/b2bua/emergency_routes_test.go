package b2bua

import (
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// helpful is a document of two sites in which others decide about all calls of a customer,
// and in which credit must be had before they are dialled.
func helpful(d *trunkgroup.Document) {
	bothSites(d)
	d.TrunkGroups[0].Numbering = trunkgroup.NumberingSpec{Preserve: []string{"911"}}
	d.TrunkGroups[0].Charging = &trunkgroup.ChargingSpec{Online: true}
	d.RoutePlans[0].Decision.Timeout = trunkgroup.Duration(20 * time.Second)
}

// DEC-17: whoever decides about calls, and whoever charges for them, may be away, say no or
// know nothing of 911: an emergency call goes to the carriers of the document, here and then
// in the other site, and not much later. Other calls are refused.
func TestDEC17_EmergencyCallsNeedNobodysDecision(t *testing.T) {
	for name, tt := range map[string]struct {
		set  *trunkgroup.RouteSet
		wait time.Duration
		code string // of other calls
	}{
		"away":    {&trunkgroup.RouteSet{Absent: true}, 0, "SIP/2.0 503"},
		"rejects": {&trunkgroup.RouteSet{Reject: trunkgroup.Rejection{Code: 403}}, 0, "SIP/2.0 403"},
		"empty":   {&trunkgroup.RouteSet{}, 0, "SIP/2.0 404"},
		"silent":  {nil, emergencyPatience, ""},
	} {
		p := twoDecided(t, func() *trunkgroup.Document { return carriers(helpful) })
		w := p.dal
		w.charges.ticket = ChargeTicket{Key: 7, Online: "dal-1;1;3;x", Wait: 2 * time.Second} // that nobody ends
		w.routes = func(*RouteQuery) *trunkgroup.RouteSet { return tt.set }
		if tt.code != "" {
			w.from(customerAddr, vendorCall())
			w.take(customerAddr, tt.code)
			w.sent = nil
		}
		w.from(customerAddr, invite{called: "911", host: customerAddr, callID: "help", branch: "z9hG4bKhelp", body: offer}.String())
		if tt.wait > 0 {
			w.advance(tt.wait - time.Millisecond)
			w.none(gatewayA, "INVITE")
			w.advance(time.Millisecond)
		}
		w.takes(gatewayA, 503)
		w.takes(gatewayB, 503)
		w.takes(gatewayC, 503)
		p.exchange()
		p.ash.takes(gatewayAAsh, 503)
		p.exchange()
		m := p.ash.take(gatewayBAsh, "INVITE")
		p.ash.from(gatewayBAsh, reply(m, 200, "far", answerSDP, "Contact: <sip:gw@"+gatewayBAsh+">\r\n"))
		p.exchange()
		w.take(customerAddr, "SIP/2.0 200")
		if len(w.charges.begun) != 0 {
			t.Errorf("%s: charged: %+v", name, w.charges.begun)
		}
	}
}

// DEC-17: explain says of an emergency call that nobody has decided about what becomes of it.
func TestDEC17_ExplainOfEmergencyCalls(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", carriers(helpful))
	for called, code := range map[string]int{"911": 0, "+13125550100": 503} {
		e := trunkgroup.Explain(w.table, w.view, trunkgroup.Query{
			Site: "dallas", Source: trunkgroup.SourceKey{Source: netip.MustParseAddrPort(customerAddr), Transport: trunkgroup.UDP},
			Called: []byte(called), Routes: &trunkgroup.RouteSet{Absent: true}, NumberPolicy: number.Policy(),
		})
		if e.Code != code || (len(e.Order) == 3) != (code == 0) {
			t.Errorf("%s: %d, %+v", called, e.Code, e.Order)
		}
	}
}
