package trunkgroup

import (
	"maps"
	"strings"
	"testing"
)

// nestDocument is a group of one member and two groups.
func nestDocument(outer, a, b DistributionSpec) *Document {
	return &Document{
		Cluster: "test", Sites: []SiteSpec{{Name: "dallas", Peers: []string{"ashburn"}}, {Name: "ashburn"}},
		TrunkGroups: []GroupSpec{
			{Name: "all", Role: OriginationCustomer, Numbers: []string{"+12145550100"}, Distribution: outer, Members: []MemberSpec{
				{ID: "one", Group: "left"},
				{ID: "own", Site: "dallas", Address: "192.0.2.1"},
				{ID: "two", Group: "right"},
			}},
			{Name: "left", Role: OriginationCustomer, Distribution: a, Monitoring: MonitoringSpec{Profile: "peeredge"}, Members: []MemberSpec{
				{ID: "l0", Site: "dallas", Address: "192.0.2.10"},
				{ID: "l1", Site: "dallas", Address: "192.0.2.11"},
				{ID: "l2", Site: "ashburn", Address: "192.0.2.12"},
			}},
			{Name: "right", Role: OriginationCustomer, Distribution: b, Timers: TimersSpec{BTimer: Duration(1e9)}, Members: []MemberSpec{
				{ID: "r0", Site: "dallas", Address: "192.0.2.20"}, {ID: "r1", Site: "dallas", Address: "192.0.2.21"}, {ID: "r2", Site: "dallas", Address: "192.0.2.22"},
			}},
		},
	}
}

// turnsByGroup count the turns of each group.
type turnsByGroup map[string]uint64

func (t turnsByGroup) Turn(g *Group) uint64 { t[g.Name]++; return t[g.Name] - 1 }

// A group in a group takes one place, by the weight of that place, and orders its members
// by its own method and turns; candidates are those members, with their group's rules.
func TestNestedGroups(t *testing.T) {
	table := compile(t, nestDocument(DistributionSpec{Method: RoundRobin}, DistributionSpec{Method: RoundRobin}, DistributionSpec{Method: Failover}))
	g, v, turns := table.Group("all"), NewView(table), turnsByGroup{}
	var p Planner
	heads := make(map[string]int)
	for i := range uint64(600) {
		plan := p.Plan(nil, g, "dallas", v, Draw{Turn: turns.Turn(g), Turns: turns, Random: mix(i)})
		if len(plan) != 6 {
			t.Fatalf("%s", order(plan))
		}
		heads[plan[0].Member.ID]++
		for _, c := range plan {
			if c.Member.Nested != nil || c.Member.Index < 0 || (c.Outer == g) != (c.Member.Group != g) {
				t.Fatalf("%+v", c)
			}
		}
		if got := order(plan); !strings.Contains(got, "r0 r1 r2") {
			t.Fatalf("right goes in its own order: %s", got)
		}
	}
	if want := map[string]int{"l0": 100, "l1": 100, "own": 200, "r0": 200}; !maps.Equal(heads, want) {
		t.Errorf("first are %v, want %v", heads, want)
	}
}

// The place takes calls while one of its members does; its members that do not have their
// own causes. What is left has the calls by weight.
func TestNestedGroupsThatAreOut(t *testing.T) {
	d := nestDocument(DistributionSpec{Method: RelativeWeight}, DistributionSpec{}, DistributionSpec{})
	d.TrunkGroups[0].Members[0].Weight, d.TrunkGroups[0].Members[2].Weight = 4, 3
	table := compile(t, d)
	g, v := table.Group("all"), NewView(table)
	v.States[table.Member("left/l0").Index] = Down
	if n := firsts(g, v, 800); n["l1"] != 400 || n["own"] != 100 {
		t.Errorf("%v", n)
	}
	v.States[table.Member("left/l1").Index] = Draining
	if n := firsts(g, v, 800); n["own"] != 200 || n["l1"]+n["l0"] != 0 {
		t.Errorf("%v", n)
	}
	if got := order(Plan(nil, g, "dallas", v, Draw{}))[:20]; got != "l0!down l1!draining " {
		t.Errorf("%q", got)
	}
	if got := order(Plan(nil, g, "ashburn", v, Draw{})); got != "l2" {
		t.Errorf("in ashburn: %s", got)
	}
	if !g.Serves("ashburn") || len(g.At("ashburn")) != 0 {
		t.Error("it serves ashburn, with no member of its own")
	}
	if !v.Takes(g, "ashburn") {
		t.Error("calls to it are taken in ashburn")
	}
}

// The place is a place and nothing else: nobody probes, counts or lists it.
func TestNestedGroupsAreNoMembers(t *testing.T) {
	table := compile(t, nestDocument(DistributionSpec{}, DistributionSpec{}, DistributionSpec{}))
	g := table.Group("all")
	if len(g.Members) != 1 || len(g.At("dallas")) != 1 || len(table.Members()) != 7 || table.Member("all/one") != nil {
		t.Errorf("%d members, %d in all", len(g.Members), len(table.Members()))
	}
	for i, m := range table.Members() {
		if m.Index != i || m.Nested != nil {
			t.Errorf("%s at %d", m.Key, m.Index)
		}
	}
	nests := g.Nests()
	if len(nests) != 2 || nests[0].ID != "one" || nests[1].Nested != table.Group("right") {
		t.Errorf("%+v", nests)
	}
}

// A place that the document disables is out with all its members.
func TestNestedGroupDisabled(t *testing.T) {
	d := nestDocument(DistributionSpec{}, DistributionSpec{}, DistributionSpec{})
	d.TrunkGroups[0].Members[2].Disabled = true
	table := compile(t, d)
	got := order(Plan(nil, table.Group("all"), "dallas", NewView(table), Draw{}))
	if !strings.HasPrefix(got, "r0!disabled r1!disabled r2!disabled ") || strings.Count(got, " ") != 5 {
		t.Error(got)
	}
}

// Whoever goes by calls has the members of groups in it counted, and a call that stays
// with a far end finds it there.
func TestNestedGroupsAreCounted(t *testing.T) {
	d := nestDocument(DistributionSpec{Method: LeastSessions, SessionAffinityHeader: "X-Room-Id"}, DistributionSpec{Method: Hash, Key: "caller"}, DistributionSpec{})
	table := compile(t, d)
	g, v := table.Group("all"), NewView(table)
	if !table.Group("right").CountsSessions() || !g.NeedsTraits() || table.Group("right").NeedsTraits() {
		t.Error("right is counted, and left goes by the caller")
	}
	v.Sessions = counts{"left/l0": 2, "left/l1": 2, "all/own": 3, "right/r0": 1, "right/r1": 1}
	if got := order(Plan(nil, g, "dallas", v, Draw{})); !strings.HasPrefix(got, "r") || !strings.HasSuffix(got, "l0 l1") && !strings.HasSuffix(got, "l1 l0") {
		t.Error(got)
	}
	d1 := Draw{Affinity: 7, Remembered: FarEnd(table.Member("left/l1"), nil)}
	if got := order(Plan(nil, g, "dallas", v, d1)); !strings.HasPrefix(got, "l1 ") {
		t.Error(got)
	}
	if site := v.SiteOf(table, g, FarEnd(table.Member("left/l2"), nil)); site != "ashburn" {
		t.Errorf("l2 is in %q", site)
	}
}

// What a place may not say, and which groups may stand in a group.
func TestNestedGroupFaults(t *testing.T) {
	for want, change := range map[string]func(d *Document){
		"members[0].group: there is no trunk group":             func(d *Document) { d.TrunkGroups[0].Members[0].Group = "lift" },
		"members[0].group: is the group itself":                 func(d *Document) { d.TrunkGroups[0].Members[0].Group = "all" },
		"members[2].group: trunk group \"left\" has a place al": func(d *Document) { d.TrunkGroups[0].Members[2].Group = "left" },
		"has groups as members itself": func(d *Document) {
			d.TrunkGroups[1].Members = append(d.TrunkGroups[1].Members, MemberSpec{ID: "deep", Group: "right"})
		},
		"has role \"pstn-provider\"":                       func(d *Document) { d.TrunkGroups[1].Role = PSTNProvider },
		"the same far end as members[1]":                   func(d *Document) { d.TrunkGroups[2].Members[1].Address = "192.0.2.1:5060" },
		"members[2]: brings l0 of group right":             func(d *Document) { d.TrunkGroups[2].Members[0] = d.TrunkGroups[1].Members[0] },
		"members[0]: is the place of another group and":    func(d *Document) { d.TrunkGroups[0].Members[0].Site = "dallas" },
		"members[2]: is the place of another group and ha": func(d *Document) { d.TrunkGroups[0].Members[2].Limits.Calls = 3 },
		"members[2].weight: 70000 is out of range":         func(d *Document) { d.TrunkGroups[0].Members[2].Weight = 70000 },
		"members[2].id: \"one\" stands already":            func(d *Document) { d.TrunkGroups[0].Members[2].ID = "one" },
	} {
		d := nestDocument(DistributionSpec{}, DistributionSpec{}, DistributionSpec{})
		change(d)
		text := ""
		if err := d.Validate().Err(); err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if faults := nestDocument(DistributionSpec{}, DistributionSpec{}, DistributionSpec{}).Validate(); len(faults) > 0 {
		t.Error(faults)
	}
}

// Hash methods know the place by its own name: keys of a group that goes are shared by
// the others, and inside a group its own method decides.
func TestD01_NestedGroups(t *testing.T) {
	table := compile(t, nestDocument(DistributionSpec{Method: HashCallID}, DistributionSpec{Method: HashCallID}, DistributionSpec{Method: HashCallID}))
	g, v, keys := table.Group("all"), NewView(table), keysOf(6000)
	before := mapOf(g, v, keys)
	n := count(before)
	within3Sigma(t, "own", n["own"], len(keys), 1.0/3)
	within3Sigma(t, "l0", n["l0"], len(keys), 1.0/6)
	within3Sigma(t, "r2", n["r2"], len(keys), 1.0/9)
	v.States[table.Member("left/l0").Index] = Down
	for i, now := range mapOf(g, v, keys) {
		if now != before[i] && (before[i] != "l0" || now != "l1") {
			t.Fatalf("key %d moved from %s to %s", i, before[i], now)
		}
	}
}

// What may be chosen for a call changes with the members of a group in the group, with
// what is hashed, and with who is the last resort.
func TestRerunOfDistributions(t *testing.T) {
	ask := func(yield func(string, Query) bool) {
		yield("a call", Query{Site: "dallas", Source: SourceKey{Source: addrPort("203.0.113.1:5060"), Transport: UDP}, Called: []byte("+12145550100")})
	}
	document := func(change func(d *Document)) *Table {
		d := nestDocument(DistributionSpec{Method: Hash, Key: "from"}, DistributionSpec{}, DistributionSpec{})
		d.TrunkGroups = append(d.TrunkGroups, GroupSpec{Name: "carrier", Role: PSTNProvider, Sources: []SourceSpec{{IP: "203.0.113.1"}}})
		if change != nil {
			change(d)
		}
		return compile(t, d)
	}
	for name, change := range map[string]func(d *Document){
		"nothing":     nil,
		"address":     func(d *Document) { d.TrunkGroups[1].Members[0].Address = "192.0.2.77" },
		"key":         func(d *Document) { d.TrunkGroups[0].Distribution.Key = "to" },
		"user only":   func(d *Document) { d.TrunkGroups[0].Distribution.UserOnly = true },
		"last resort": func(d *Document) { d.TrunkGroups[0].Members[1].LastResort = true },
		"inner":       func(d *Document) { d.TrunkGroups[2].Distribution.Method = Random },
	} {
		if r := Rerun(document(nil), document(change), ask); r.Asked != 1 || (r.Different == 1) != (change != nil) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
