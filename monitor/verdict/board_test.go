package verdict

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// testTable: two sites; a customer with PBXs by address in both, a provider by name in Dallas, a provider that is not monitored.
func testTable(t *testing.T) *trunkgroup.Table {
	t.Helper()
	probed := trunkgroup.MonitoringSpec{Profile: "peeredge", Interval: trunkgroup.Duration(10 * time.Second)}
	table, err := trunkgroup.Compile(&trunkgroup.Document{
		Cluster: "test",
		Sites:   []trunkgroup.SiteSpec{{Name: "dallas", Peers: []string{"ashburn"}}, {Name: "ashburn", Peers: []string{"dallas"}}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{
				Name: "acme", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+12145550100"}, Monitoring: probed,
				Members: []trunkgroup.MemberSpec{
					{ID: "pbx-1", Site: "dallas", Address: "192.0.2.1:5060"},
					{ID: "pbx-2", Site: "dallas", Address: "192.0.2.2:5060"},
					{ID: "pbx-3", Site: "ashburn", Address: "192.0.2.3:5060"},
				},
			},
			{
				Name: "carrier", Role: trunkgroup.PSTNProvider, Monitoring: probed,
				Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.0/24"}},
				Members: []trunkgroup.MemberSpec{{ID: "gw", Site: "dallas", FQDN: "gw.carrier.example"}},
			},
			{
				Name: "quiet", Role: trunkgroup.PSTNProvider,
				Members: []trunkgroup.MemberSpec{{ID: "gw", Site: "ashburn", Address: "203.0.113.1:5060"}},
			},
		},
	}, trunkgroup.Version{Cluster: "test", Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

var gwAddrs = []netip.AddrPort{
	netip.MustParseAddrPort("198.51.100.1:5060"), netip.MustParseAddrPort("198.51.100.2:5060"), netip.MustParseAddrPort("198.51.100.3:5060"),
}

// scene is an input whose only Dallas node owns everything there.
func scene(t *testing.T) Input {
	return Input{
		Now: start, Table: testTable(t), Store: NewStore(), Knobs: NewKnobs(),
		Nodes: []Node{{"dal-1", "dallas"}, {"ash-1", "ashburn"}},
		Addrs: func(*trunkgroup.Member) []netip.AddrPort { return gwAddrs },
	}
}

func (in *Input) put(seq uint64, key Key, node string, state trunkgroup.State, outAge time.Duration) {
	in.Store.Put(in.Now, Record{Key: key, Node: node, Boot: 1, Seq: seq, State: state, OutAge: outAge, Age: outAge, Reason: state.String()})
}

func states(b *Board) (list []string) {
	for _, s := range b.View.States {
		list = append(list, s.String())
	}
	return list
}

func TestBoardBeforeAnyProbe(t *testing.T) {
	in := scene(t)
	b := Build(in)
	if got := states(b); !slices.Equal(got, []string{"unknown", "unknown", "unknown", "unknown", "active"}) {
		t.Errorf("states %v", got)
	}
	if !slices.Equal(b.View.Addrs[3], gwAddrs) || len(b.View.Addrs[0]) != 1 || !b.Until.IsZero() || len(b.View.Panic) != 0 {
		t.Errorf("view %+v, until %v", b.View, b.Until)
	}
	in.Addrs = nil
	b = Build(in)
	if len(b.View.Addrs[3]) != 0 || b.Members[3].Reason != "no address" {
		t.Errorf("unresolved: %+v", b.Members[3])
	}
}

func TestBoardFollowsTheOwner(t *testing.T) {
	in := scene(t)
	in.put(1, Key{Member: "acme/pbx-1"}, "dal-1", trunkgroup.Down, time.Second)
	in.put(2, Key{Member: "acme/pbx-2"}, "dal-1", trunkgroup.Active, 0)
	in.put(1, Key{Member: "acme/pbx-3"}, "ash-1", trunkgroup.Trying, 0)
	// An observer from the other site does not count while the owner speaks.
	in.put(9, Key{Member: "acme/pbx-1"}, "ash-1", trunkgroup.Active, 0)
	b := Build(in)
	if got := states(b); !slices.Equal(got, []string{"down", "active", "trying", "unknown", "active"}) {
		t.Errorf("states %v", got)
	}
	if s := b.Members[0]; s.Owner != "dal-1" || s.Targets[0].Observer != "dal-1" || !s.Targets[0].Out.Equal(start.Add(-time.Second)) {
		t.Errorf("status %+v", s)
	}
	if want := start.Add(22 * time.Second); !b.Until.Equal(want) {
		t.Errorf("until %v, want %v", b.Until, want)
	}
	in.Now = b.Until
	if got := states(Build(in)); !slices.Equal(got, []string{"unknown", "unknown", "unknown", "unknown", "active"}) {
		t.Errorf("states of old records %v", got)
	}
}

// DNS-01, DNS-03: each address has its own verdict; the member lives while one does, and calls go to the living ones in their order.
func TestDNS01_G05_DownPerAddress(t *testing.T) {
	in := scene(t)
	key := func(i int) Key { return Key{Member: "carrier/gw", Addr: gwAddrs[i]} }
	in.put(1, key(0), "dal-1", trunkgroup.Down, time.Second)
	in.put(2, key(1), "dal-1", trunkgroup.Active, 0)
	b := Build(in)
	if b.View.States[3] != trunkgroup.Active || !slices.Equal(b.View.Addrs[3], gwAddrs[1:]) {
		t.Errorf("one down: %v, %v", b.View.States[3], b.View.Addrs[3])
	}
	in.put(3, key(1), "dal-1", trunkgroup.Cooldown, time.Second)
	in.put(4, key(2), "dal-1", trunkgroup.Probation, time.Second)
	b = Build(in)
	if b.View.States[3] != trunkgroup.Cooldown || !slices.Equal(b.View.Addrs[3], gwAddrs) {
		t.Errorf("none selectable: %v, %v", b.View.States[3], b.View.Addrs[3])
	}
}

// DEC-12: in panic the verdicts are not believed, an operator's word is.
func TestDEC12_PanicInTheView(t *testing.T) {
	in := scene(t)
	in.put(1, Key{Member: "acme/pbx-1"}, "dal-1", trunkgroup.Down, 5*time.Second)
	in.put(2, Key{Member: "acme/pbx-2"}, "dal-1", trunkgroup.Probation, 3*time.Second)
	in.put(3, Key{Member: "carrier/gw", Addr: gwAddrs[0]}, "dal-1", trunkgroup.Down, 9*time.Second)
	in.put(4, Key{Member: "carrier/gw", Addr: gwAddrs[1]}, "dal-1", trunkgroup.Down, 5*time.Second)
	if b := Build(in); b.View.Panic["dallas"] {
		t.Error("panic while an address is unknown")
	}
	in.put(5, Key{Member: "carrier/gw", Addr: gwAddrs[2]}, "dal-1", trunkgroup.Down, 5*time.Second)
	in.Knobs.Set(start, "acme/pbx-2", trunkgroup.AdminDraining, "ann", "move", "dal-1", KnobLife)
	b := Build(in)
	if !b.View.Panic["dallas"] || b.View.Panic["ashburn"] {
		t.Fatalf("panic %v", b.View.Panic)
	}
	plan := trunkgroup.Plan(nil, b.Table.Group("acme"), "dallas", b.View, trunkgroup.Draw{})
	if len(plan) != 2 || plan[0].Cause != "draining" || !plan[1].Dialable || plan[1].Member.ID != "pbx-1" {
		t.Errorf("plan %+v", plan)
	}
	in.put(6, Key{Member: "acme/pbx-1"}, "dal-1", trunkgroup.Active, 0)
	if b := Build(in); b.View.Panic["dallas"] {
		t.Error("panic with a living member")
	}
}

func TestBoardOperator(t *testing.T) {
	in := scene(t)
	in.put(1, Key{Member: "acme/pbx-1"}, "dal-1", trunkgroup.Active, 0)
	in.Knobs.Set(start.Add(-time.Hour), "acme/pbx-1", trunkgroup.AdminDisabled, "ann", "broken card", "dal-1", KnobLife)
	in.Knobs.Set(start, "acme/pbx-2", trunkgroup.AdminUp, "ann", "fixed", "dal-1", KnobLife)
	b := Build(in)
	s := b.Members[0]
	if s.State != trunkgroup.Disabled || s.Reason != "broken card" || s.Knob.Author != "ann" || !s.Since.Equal(start.Add(-time.Hour)) {
		t.Errorf("%+v", s)
	}
	if s.Targets[0].State != trunkgroup.Active || b.Members[1].State != trunkgroup.Unknown || b.Members[1].Knob.Member != "" {
		t.Errorf("%+v, %+v", s.Targets, b.Members[1])
	}
	if want := start.Add(22 * time.Second); !b.Until.Equal(want) {
		t.Errorf("until %v", b.Until)
	}
}

// DEC-12: while isolated the last verdicts stand, marked suspect.
func TestDEC12_SuspectVerdicts(t *testing.T) {
	in := scene(t)
	key := Key{Member: "acme/pbx-1"}
	in.put(1, key, "dal-1", trunkgroup.Down, time.Second)
	in.Suspect = map[Key]Held{key: {Record{Key: key, Node: "dal-1", State: trunkgroup.Active}, start.Add(-time.Hour)}}
	b := Build(in)
	if s := b.Members[0]; s.State != trunkgroup.Active || !s.Targets[0].Suspect {
		t.Errorf("%+v", s)
	}
}
