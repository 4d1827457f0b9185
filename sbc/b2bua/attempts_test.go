package b2bua

import (
	"fmt"
	"testing"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-06 for a group of any size: the list of what the peer tried must arrive.
func TestDEC06_AttemptsOfAVeryLargeGroup(t *testing.T) {
	doc := document()
	var keys []string
	for i := range 2000 {
		for _, site := range []string{"dallas", "ashburn"} {
			id := fmt.Sprintf("a-member-with-a-long-name-%s-%d", site, i)
			doc.TrunkGroups[0].Members = append(doc.TrunkGroups[0].Members, trunkgroup.MemberSpec{ID: id, Site: site, Address: fmt.Sprintf("198.18.%d.%d:5060", i/250, i%250+1)})
			keys = append(keys, "acme-in/"+id)
		}
	}
	for i := range doc.TrunkGroups[0].Members {
		doc.TrunkGroups[0].Members[i].Address = fmt.Sprintf("198.18.%d.%d:5060", i/250, i%250+1)
	}
	p := &twoSites{dal: newWorldOf(t, "dal-1", "dallas", doc), ash: newWorldOf(t, "ash-1", "ashburn", doc)}
	p.dal.peers = []geo.PeerNode{{Name: "ash-1", Site: "ashburn", Fresh: true}}
	keys = append(keys, "acme-in/dal-1", "acme-in/dal-2", "acme-in/ash-1")
	setDown(p.dal, keys...)
	setDown(p.ash, keys...)
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 503")
	if n := len(p.dal.records[0].Attempts); n < 2003 {
		t.Errorf("%d attempts on record", n)
	}
	if n := len(p.ash.records[0].Attempts); n != 2001 {
		t.Errorf("%d attempts on the peer's record", n)
	}
}

// Of a list that is too long, what was dialled and the last one are told.
func TestDEC06_AttemptsThatAreTold(t *testing.T) {
	var list []hunt.Attempt
	for i := range 500 {
		list = append(list, hunt.Attempt{Target: i, Dialed: i%7 == 0})
	}
	got := fitting(list)
	if len(got) != maxTold || got[len(got)-1].Target != 499 {
		t.Fatalf("%d are told, the last is %+v", len(got), got[len(got)-1])
	}
	for _, a := range got[:len(got)-1] {
		if !a.Dialed {
			t.Errorf("told: %+v", a)
		}
	}
	if got := fitting(list[:maxTold]); len(got) != maxTold {
		t.Errorf("%d of a short list", len(got))
	}
}
