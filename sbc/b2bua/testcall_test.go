package b2bua

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// A test call that is handed over is a test at the peer site too: in its record, and in
// what is judged by calls.
func TestD07_TestCallIsMarkedAtThePeerSite(t *testing.T) {
	for _, test := range []bool{true, false} {
		p := newTwoSites(t)
		setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
		if text := (invite{body: offer}).String(); test {
			m, fault := sip.Parse([]byte(text))
			if fault != nil {
				t.Fatal(fault)
			}
			who := trunkgroup.SourceMatch{Provider: p.dal.table.Group("carrier-a")}
			p.dal.s.Test(p.dal.now, &TestCall{Message: m, Source: netip.MustParseAddrPort(carrierAddr), Transport: trunkgroup.UDP, Who: who})
		} else {
			p.dal.from(carrierAddr, text)
		}
		p.exchange()
		b := p.ash.take(ashPBX, "INVITE")
		if strings.Contains(string(b.Raw()), "test=1") {
			t.Error("the mark leaked to the customer")
		}
		p.ash.from(ashPBX, reply(b, 486, "x", ""))
		p.exchange()
		if len(p.dal.records) != 1 || len(p.ash.records) != 1 {
			t.Fatalf("%d records at the origin, %d at the peer", len(p.dal.records), len(p.ash.records))
		}
		if r := p.ash.records[0]; r.Test != test || r.Kind != "handoff" || r.CallID != p.dal.records[0].CallID {
			t.Errorf("test %v: the peer's record says %v (%s)", test, r.Test, r.Kind)
		}
		if r := p.dal.records[0]; r.Test != test || !r.HandedOff {
			t.Errorf("test %v: the origin's record says %v", test, r.Test)
		}
		if counted := p.ash.saw(EventAttempt); counted == test {
			t.Errorf("test %v: attempt counted %v", test, counted)
		}
	}
}
