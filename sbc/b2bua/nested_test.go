package b2bua

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/sessions"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// nestedCarriers routes the customer to a group in which the carrier stands.
func nestedCarriers() *trunkgroup.Document {
	doc := document()
	doc.TrunkGroups = append(doc.TrunkGroups, trunkgroup.GroupSpec{
		Name: "carriers", Role: trunkgroup.PSTNProvider, Members: []trunkgroup.MemberSpec{{ID: "a", Group: "carrier-a"}},
	})
	doc.TrunkGroups[1].RoutePlan = "all"
	doc.RoutePlans = []trunkgroup.RoutePlanSpec{{Name: "all", Routes: []trunkgroup.RouteSpec{{Prefix: "*", Providers: []string{"carriers"}}}}}
	return doc
}

// DEC-10: an attempt at a member of a group in a group counts for both groups.
func TestDEC10_LimitOfAGroupWithGroups(t *testing.T) {
	for _, full := range []string{"", "carriers", "carrier-a"} {
		w := newWorldOf(t, "dal-1", "dallas", nestedCarriers())
		if full != "" {
			m := w.limits.Meter(groupKey(limit.Calls, full))
			m.SetShare(0)
			m.SetFull(w.now.Add(time.Second))
		}
		w.from(pbx1Addr, invite{called: "+13105550100", host: pbx1Addr, body: offer}.String())
		if full != "" {
			w.none(carrierAddr, "INVITE")
			if a := w.records[0].Attempts; len(a) == 0 || a[0].Cause != attemptCapacity {
				t.Errorf("%s is full: %+v", full, a)
			}
			continue
		}
		w.take(carrierAddr, "INVITE")
		for _, name := range []string{"carriers", "carrier-a"} {
			if _, used := w.limits.Meter(groupKey(limit.Calls, name)).Read(); used != 1 {
				t.Errorf("%s: %d in use", name, used)
			}
		}
	}
}

// who answered is remembered, also a member of a group that stands in the group.
func TestR25_AffinityOfAGroupWithGroups(t *testing.T) {
	doc := document()
	doc.TrunkGroups[0].Members = []trunkgroup.MemberSpec{{ID: "far", Group: "farm"}}
	doc.TrunkGroups = append(doc.TrunkGroups, trunkgroup.GroupSpec{
		Name: "farm", Role: trunkgroup.OriginationCustomer, Distribution: trunkgroup.DistributionSpec{Method: trunkgroup.Failover},
		Members: []trunkgroup.MemberSpec{{ID: "one", Site: "dallas", Address: pbx1Addr}, {ID: "two", Site: "dallas", Address: pbx2Addr}},
	})
	w := newWorldOf(t, "dal-1", "dallas", doc)
	memory := sessions.NewMemory()
	w.s.cfg.Sessions = counted{w.seats, memory}
	w.view.Sessions = w.seats
	w.from(carrierAddr, invite{lines: "X-Room-Id: 7\r\n", body: offer}.String())
	addr, other := pbx1Addr, pbx2Addr
	b := w.find(addr, "INVITE")
	if b == nil {
		addr, other = other, addr
		b = w.take(addr, "INVITE")
	}
	w.from(addr, reply(b, 503, "x", ""))
	b = w.take(other, "INVITE")
	w.from(other, reply(b, 200, "callee", answerSDP, "Contact: <sip:x@"+other+">\r\n"))
	key, _ := Affinity(w.s.seed, w.table.Group("acme-in"), []byte("7"))
	want := "farm/one"
	if other == pbx2Addr {
		want = "farm/two"
	}
	if got := memory.Remembered(w.now, key); got != want {
		t.Errorf("remembered %q, want %q", got, want)
	}
}
