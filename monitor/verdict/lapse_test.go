package verdict

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// TestLapsedRegistration: only a member that wants its registration is down without
// it, and says why and since when; an operator's word stands above that.
func TestLapsedRegistration(t *testing.T) {
	account := func(required bool) *trunkgroup.AccountSpec {
		return &trunkgroup.AccountSpec{AOR: "sip:a@carrier.example", Realm: "r", HA1MD5: strings.Repeat("0", 32), Register: true, Required: required}
	}
	table, err := trunkgroup.Compile(&trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{{Name: "carrier", Role: trunkgroup.PSTNProvider, Members: []trunkgroup.MemberSpec{
			{ID: "wants", Site: "dallas", Address: "192.0.2.10:5060", Account: account(true)},
			{ID: "has", Site: "dallas", Address: "192.0.2.11:5060", Account: account(false)},
			{ID: "none", Site: "dallas", Address: "192.0.2.12:5060"},
		}}},
	}, trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	in := Input{
		Now: since.Add(time.Minute), Table: table, Nodes: []Node{{Name: "dal-1", Site: "dallas"}},
		Carriers: func(*trunkgroup.Table) [][]netip.AddrPort { return [][]netip.AddrPort{nil, nil, nil} },
		Lapsed:   func(*trunkgroup.Member) (string, time.Time) { return "403 Forbidden", since },
	}
	b := Build(in)
	if s := b.Members[0]; s.State != trunkgroup.Down || s.Reason != "not registered at the carrier: 403 Forbidden" || !s.Since.Equal(since) {
		t.Errorf("%+v", s)
	}
	if b.Members[1].State != trunkgroup.Active || b.Members[2].State != trunkgroup.Active || len(b.View.Carriers) != 3 {
		t.Errorf("%+v", b.Members)
	}
	if l := b.View.Lapsed; len(l) != 3 || !l[0] || l[1] || l[2] || b.View.States[0] != trunkgroup.Down {
		t.Errorf("%v %v", l, b.View.States)
	}
	in.Lapsed = func(*trunkgroup.Member) (string, time.Time) { return "", time.Time{} }
	if b = Build(in); b.View.Lapsed != nil || b.Members[0].State != trunkgroup.Active {
		t.Errorf("%+v", b.Members[0])
	}
}
