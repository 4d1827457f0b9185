package b2bua

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const nextHop = "192.0.2.99:5080"

// hopTo is a route to a next hop of no group.
func hopTo(carrier, name string) trunkgroup.CarrierRoute {
	return trunkgroup.CarrierRoute{
		CarrierID: carrier, NextHop: "sip:" + nextHop,
		Hops: []trunkgroup.Hop{{Addr: netip.MustParseAddrPort(nextHop), Transport: trunkgroup.UDP, Name: name}},
	}
}

// S-071, S-083: a route may pin its next hop, and the Request-URI has its host.
func TestS071_S083_NextHop(t *testing.T) {
	for name, host := range map[string]string{"": nextHop, "gw.example.com": "gw.example.com:5080"} {
		w := decided(t, carriers(), routeTo(a), hopTo("wholesale", name))
		w.from(customerAddr, vendorCall())
		w.takes(gatewayA, 503)
		m := w.takes(nextHop, 200)
		if !strings.HasSuffix(string(m.RequestURI()), "@"+host) {
			t.Errorf("S-083: %s", m.RequestURI())
		}
		r := w.ends(200, "a 503")
		last := r.Attempts[1]
		if r.CarrierID != "wholesale" || last.Group != "" || last.Member == "" || last.CarrierID != "wholesale" || r.EgressMember != last.Member {
			t.Errorf("%+v", r)
		}
		for _, e := range w.events {
			if e.Kind == EventAttempt && e.Carrier == "wholesale" && e.Member != nil {
				t.Error("a name that somebody else chose is counted under")
			}
		}
	}
}

// A next hop that is not reached: no name of it is resolved.
func TestS043_S071_NextHopAway(t *testing.T) {
	away := hopTo("wholesale", "")
	away.Hops = nil
	w := decided(t, carriers(), away, routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayB, 200)
	if r := w.ends(200, "wholesale 503f"); r.Attempts[0].Cause != trunkgroup.CauseUnresolved {
		t.Errorf("%+v", r.Attempts[0])
	}
}

// S-072: an unknown group warns and leads to the next hop, else it is skipped at once; so does one that
// is no carrier's. S-071: the next hop stands in for a group that is down.
func TestS072_UnknownGroup(t *testing.T) {
	for group, cause := range map[string]string{"nobody": trunkgroup.CauseUnknownGroup, "acme-out": trunkgroup.CauseUnknownGroup, "carrier-a": "disabled"} {
		r := hopTo("wholesale", "")
		r.GatewayGroup = group
		w := decided(t, carriers(), r, routeTo(b))
		setDown(w, "carrier-a/a")
		w.from(customerAddr, vendorCall())
		w.takes(nextHop, 200)
		w.ends(200, "")
		warned := 0
		for _, e := range w.events {
			if e.Kind == EventRouteFault && e.Carrier == "wholesale" && e.Reason == trunkgroup.CauseUnknownGroup && e.Detail == group {
				warned++
			}
		}
		if (warned == 1) != (cause == trunkgroup.CauseUnknownGroup) {
			t.Errorf("%s: warned %d times", group, warned)
		}
		r.NextHop, r.Hops = "", nil
		w = decided(t, carriers(), r, routeTo(b))
		setDown(w, "carrier-a/a")
		w.from(customerAddr, vendorCall())
		w.takes(gatewayB, 200)
		rec := w.ends(200, "wholesale 503f")
		if rec.Attempts[0].Cause != cause || rec.Attempts[0].Group != group {
			t.Errorf("%s: %+v", group, rec.Attempts[0])
		}
	}
}

// S-070: "picks a healthy member by its algorithm" at dial time: not when the call began.
func TestS070_MemberOfTheInstant(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b), routeTo(c))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 100)
	setDown(w, "carrier-b/b")
	w.advance(6 * time.Second)
	w.cancelled(gatewayA)
	w.none(gatewayB, "INVITE")
	w.takes(gatewayC, 200)
	w.ends(200, "a 408, b 503f")

	w = decided(t, carriers(), routeTo(a), routeTo(b))
	setDown(w, "carrier-b/b")
	w.from(customerAddr, vendorCall())
	m := w.takes(gatewayA)
	setDown(w)
	w.says(gatewayA, m, 503)
	w.takes(gatewayB, 200)
	w.ends(200, "a 503")
}

// S-073: a group that comes while the call is under way is dialled, by routes that name it.
func TestS073_GroupOfANewRevision(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo("carrier-d"))
	w.from(customerAddr, vendorCall())
	m := w.takes(gatewayA)
	doc := carriers(func(d *trunkgroup.Document) {
		d.TrunkGroups = append(d.TrunkGroups, trunkgroup.GroupSpec{
			Name: "carrier-d", Role: trunkgroup.PSTNProvider, AdvanceOn: []int{486, 503}, Members: []trunkgroup.MemberSpec{{ID: "d", Site: "dallas", Address: gatewayA2}},
		})
	})
	table, err := trunkgroup.Compile(doc, trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 2})
	if err != nil {
		t.Fatal(err)
	}
	w.table, w.view = table, trunkgroup.NewView(table)
	w.says(gatewayA, m, 503)
	w.takes(gatewayA2, 486)
	w.ends(486, "a 503, d 486")
}

// max_members: so many of a route's group, each once, before the next route; not more when the states
// change meanwhile. A group that has no other gets no entry for one.
func TestS070_MaxMembers(t *testing.T) {
	two := func(d *trunkgroup.Document) {
		d.RoutePlans[0].MaxMembers = 2
		d.TrunkGroups[1].Members = append(d.TrunkGroups[1].Members,
			trunkgroup.MemberSpec{ID: "a2", Site: "dallas", Address: gatewayA2}, trunkgroup.MemberSpec{ID: "a3", Site: "dallas", Address: gatewayAAsh})
	}
	for _, change := range []bool{false, true} {
		w := decided(t, carriers(two), routeTo(a), routeTo(b))
		w.from(customerAddr, vendorCall())
		m := w.takes(gatewayA)
		if change {
			setDown(w, "carrier-a/a2")
		}
		w.says(gatewayA, m, 503)
		second := gatewayA2
		if change {
			second = gatewayAAsh
		}
		w.takes(second, 500)
		w.takes(gatewayB, 486)
		w.ends(486, "a 503, a 500, b 486")
	}
	w := decided(t, carriers(two), routeTo(a), routeTo(b))
	setDown(w, "carrier-a/a2", "carrier-a/a3")
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 503)
	w.takes(gatewayB, 486)
	w.ends(486, "a 503, b 486")
}

// A carrier whose calls have done too badly is not dialled, but by an emergency call (DEC-17).
func TestS070_BarredCarrier(t *testing.T) {
	for called, barred := range map[string]bool{"+13125550100": true, "911": false} {
		doc := carriers(func(d *trunkgroup.Document) { d.TrunkGroups[0].Numbering.Preserve = []string{"911"} })
		w := decided(t, doc, routeTo(a), routeTo(b))
		w.view.BarredCarriers = map[string]string{"@lcr/carrier-a": "asr 3 %"}
		w.from(customerAddr, invite{called: called, host: customerAddr, body: offer}.String())
		if barred {
			w.takes(gatewayB, 200)
			if r := w.ends(200, "a 503f"); r.Attempts[0].Cause != trunkgroup.CauseQuality {
				t.Errorf("%+v", r.Attempts[0])
			}
			continue
		}
		w.takes(gatewayA, 200)
		w.ends(200, "")
	}
}

// The limits of a carrier hold for its routes: one that is full is skipped at once.
func TestS043_CarrierIsFull(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	full := w.limits.Meter(groupKey(limit.Calls, a))
	full.SetShare(0)
	w.from(customerAddr, vendorCall())
	w.step(func() { // nobody has anything to give
		for ref := range w.s.waits {
			w.s.Admitted(w.now, ref, false)
		}
	})
	w.takes(gatewayB, 486)
	if r := w.ends(486, "a 503f, b 486"); r.Attempts[0].Cause != attemptCapacity {
		t.Errorf("%+v", r.Attempts[0])
	}
}

// S-015, S-050, S-100: the record has the carrier that answered, its price and its fields, and no other's.
func TestS015_S050_S100_RecordOfTheWinner(t *testing.T) {
	first, second := routeTo(a), routeTo(b)
	first.Rate, first.Rated, first.CDRFields = 0.9, true, []trunkgroup.NameValue{{Name: "deck", Value: "7"}}
	second.Rate, second.Rated, second.Currency, second.BillingIncrement, second.MinDuration = 0.0042, true, "USD", 6, 30
	second.CDRFields = []trunkgroup.NameValue{{Name: "account", Value: "42"}}
	w := decided(t, carriers(), first, second)
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 503)
	w.takes(gatewayB, 200)
	r := w.ends(200, "a 503")
	if r.CarrierID != b || r.Rate != 0.0042 || !r.Rated || r.Currency != "USD" || r.BillingIncrement != 6 || r.MinDuration != 30 ||
		len(r.Fields) != 1 || r.Fields[0].Name != "account" || len(w.records) != 1 {
		t.Errorf("%+v", r)
	}
	w = decided(t, carriers(), first, second)
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 486)
	if r := w.ends(486, "a 486"); r.CarrierID != a || len(r.Fields) != 0 {
		t.Errorf("of a call that nobody answered: %+v", r)
	}
}

// S-054: an unsupported Require is refused before anybody is asked or dialled.
func TestS054_RequireBeforeAnything(t *testing.T) {
	w := decided(t, carriers(), routeTo(a))
	w.from(customerAddr, invite{called: "+13125550100", host: customerAddr, body: offer, lines: "Require: 100rel\r\n"}.String())
	if m := w.take(customerAddr, "SIP/2.0 420"); string(m.Header(sip.Unsupported)) != "100rel" {
		t.Errorf("%s", m.Raw())
	}
	w.none(gatewayA, "INVITE")
}
