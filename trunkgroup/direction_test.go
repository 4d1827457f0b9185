package trunkgroup

import (
	"strings"
	"testing"
)

// directions is a carrier with a member that calls, one that is called and one of both.
func directions() *Document {
	d := testDocument()
	d.TrunkGroups[2].Members = []MemberSpec{
		{ID: "in", Site: "dallas", Address: "192.0.2.1", Direction: DirectionIn},
		{ID: "out", Site: "dallas", Address: "192.0.2.2", Direction: DirectionOut},
		{ID: "both", Site: "dallas", Address: "192.0.2.3"},
	}
	return d
}

// Who calls and who is called are two things.
func TestDirectionOfAMember(t *testing.T) {
	table := compile(t, directions())
	g := table.Group("carrier-a")
	for addr, known := range map[string]bool{"192.0.2.1:5060": true, "192.0.2.2:5060": false, "192.0.2.3:5060": true} {
		m, ok := table.MatchSource(SourceKey{Source: addrPort(addr), Transport: UDP})
		if ok != known || known && m.Provider != g {
			t.Errorf("%s is known: %v", addr, ok)
		}
	}
	v := NewView(table)
	v.Panic["dallas"] = true
	for _, c := range Plan(nil, g, "dallas", v, Draw{}) {
		if c.Member.ID == "in" {
			t.Error("a member that only calls is in a try-order")
		}
	}
	if n := len(g.At("dallas")); n != 2 || table.Member("carrier-a/in") == nil {
		t.Errorf("%d members take calls in dallas", n)
	}
	d := directions()
	d.TrunkGroups[2].Members = d.TrunkGroups[2].Members[:1]
	table = compile(t, d)
	if v := NewView(table); v.Takes(table.Group("carrier-a"), "dallas") || v.States[table.Member("carrier-a/in").Index] != Active {
		t.Error("a carrier that only calls takes calls, or waits for a verdict")
	}
}

func TestDirectionFaults(t *testing.T) {
	for want, change := range map[string]func(g *GroupSpec){
		"members[0].direction: nobody is known by this member": func(g *GroupSpec) { g.Sources = []SourceSpec{{IP: "192.0.2.9"}} },
		"members[0].fqdn: nobody is known by a name":           func(g *GroupSpec) { g.Members[0].Address, g.Members[0].FQDN = "", "gw.example.net" },
		"members[0].weight: means nothing":                     func(g *GroupSpec) { g.Members[0].Weight = 2 },
		"members[0].priority: means nothing":                   func(g *GroupSpec) { g.Members[0].Priority = 2 },
		"members[0].last_resort: means nothing":                func(g *GroupSpec) { g.Members[0].LastResort = true },
		"members[0].limits: means nothing":                     func(g *GroupSpec) { g.Members[0].Limits.Calls = 2 },
		"members[0].direction: 9 is not a direction":           func(g *GroupSpec) { g.Members[0].Direction = 9 },
		"maintenance[0].members[0]: \"in\" takes no calls": func(g *GroupSpec) {
			g.Maintenance = []WindowSpec{{From: "00:00", To: "01:00", Members: []string{"in"}}}
		},
	} {
		d := directions()
		change(&d.TrunkGroups[2])
		if got := d.Validate(); len(got) != 1 || !strings.Contains(got.Error(), want) || got[0].Remedy == "" {
			t.Errorf("%s\nin %v", want, got)
		}
	}
	d := testDocument()
	d.TrunkGroups[0].Members[0].Direction = DirectionOut
	if got := d.Validate(); len(got) != 1 || !strings.Contains(got.Error(), "trunk_groups[0].members[0].direction: means nothing in a group of role") {
		t.Errorf("%v", got)
	}
	var x Direction
	for _, name := range DirectionNames() {
		if err := x.UnmarshalText([]byte(name)); err != nil || x.String() != name {
			t.Errorf("%s: %v %v", name, x, err)
		}
	}
	if x.UnmarshalText([]byte("up")) == nil || x.UnmarshalText(nil) != nil || x != DirectionBoth || Direction(7).String() != "invalid" {
		t.Error("a direction that is none, or none that is one")
	}
}

func TestExplainNamesMembersThatOnlyCall(t *testing.T) {
	table := compile(t, directions())
	e := Explain(table, NewView(table), Query{Site: "dallas", Realm: "sip.example.com", Username: "acme", Called: []byte("+13105550100")})
	if got := explained(e); !strings.Contains(got, "plan: carrier-a/in only calls (direction in) and is never called\n") {
		t.Errorf("%s", got)
	}
}
