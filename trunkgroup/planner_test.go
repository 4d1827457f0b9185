package trunkgroup

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anyDocument draws a group with members of all kinds, in which others may stand.
func anyDocument(t *rapid.T) *Document {
	method := func(label string) (s DistributionSpec) {
		s.Method = rapid.SampledFrom(methodsThatNest()).Draw(t, label)
		if s.Method == Hash || s.Method == HashMod {
			s.Key = rapid.SampledFrom([]string{"call-id", "from", "caller", "header:X-Room"}).Draw(t, "key")
		}
		if s.Method != HashMod && rapid.Bool().Draw(t, "slow") {
			s.SlowStart = Duration(time.Minute)
		}
		return s
	}
	host := 0
	member := func(id string) MemberSpec {
		host++
		return MemberSpec{
			ID: id, Site: rapid.SampledFrom([]string{"dallas", "dallas", "dallas", "ashburn"}).Draw(t, "site"),
			Address: fmt.Sprintf("10.1.%d.%d:5060", host/200, host%200+1), Weight: rapid.IntRange(1, 65535).Draw(t, "weight"),
			Priority: rapid.IntRange(0, 2).Draw(t, "priority"), LastResort: rapid.IntRange(0, 5).Draw(t, "last") == 0,
			Disabled: rapid.IntRange(0, 9).Draw(t, "disabled") == 0, Limits: LimitsSpec{Calls: rapid.IntRange(0, 5).Draw(t, "limit")},
		}
	}
	group := func(name string, most int) GroupSpec {
		g := GroupSpec{Name: name, Role: OriginationCustomer, Distribution: method(name + " method")}
		if rapid.Bool().Draw(t, "probed") {
			g.Monitoring.Profile = "peeredge"
		}
		for i := range rapid.IntRange(1, most).Draw(t, name+" members") {
			g.Members = append(g.Members, member(fmt.Sprintf("m%d", i)))
		}
		return g
	}
	d := &Document{Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}, {Name: "ashburn"}}}
	g := group("pool", 90)
	for i := range rapid.IntRange(0, 3).Draw(t, "groups") {
		in := group(fmt.Sprintf("in%d", i), 8)
		d.TrunkGroups = append(d.TrunkGroups, in)
		at := rapid.IntRange(0, len(g.Members)).Draw(t, "at")
		g.Members = slices.Insert(g.Members, at, MemberSpec{ID: in.Name, Group: in.Name, Weight: i, Disabled: i == 2})
	}
	if rapid.Bool().Draw(t, "registers") {
		g.Members = append(g.Members, MemberSpec{ID: "conf", Registration: &RegistrationSpec{AOR: roomsAOR, Users: []string{"rooms"}}})
		g.Credentials = []CredentialSpec{{Username: "rooms", Realm: "sip.local", HA1MD5: "0123456789abcdef0123456789abcdef"}}
	}
	d.TrunkGroups = append(d.TrunkGroups, g)
	return d
}

func methodsThatNest() (list []Method) {
	for m := LoadBalance; m < Parallel; m++ {
		list = append(list, m)
	}
	return list
}

// anyView draws what a node knows.
func anyView(t *rapid.T, table *Table) *View {
	v := NewView(table)
	n := len(v.States)
	v.Ramps, v.Latency, v.Barred = make([]uint8, n), make([]time.Duration, n), make([]string, n)
	own := counts{}
	for i, m := range table.Members() {
		if rapid.IntRange(0, 2).Draw(t, "odd") > 0 {
			own[m.Key] = i % 7
			continue
		}
		v.States[i] = rapid.SampledFrom(States()).Draw(t, "state")
		v.Ramps[i] = rapid.Uint8Range(0, 120).Draw(t, "ramp")
		v.Latency[i] = time.Duration(rapid.IntRange(-1, 300).Draw(t, "latency")) * time.Millisecond
		v.Barred[i] = rapid.SampledFrom([]string{"", "", "quality"}).Draw(t, "barred")
		own[m.Key] = rapid.IntRange(0, 9).Draw(t, "calls")
		if rapid.Bool().Draw(t, "weighed") {
			v.Weigh(m, rapid.IntRange(0, 65535).Draw(t, "knob"))
		}
		switch rapid.IntRange(0, 4).Draw(t, "addresses") {
		case 0:
			v.Addrs[i] = nil
		case 1:
			v.Addrs[i] = append([]netip.AddrPort{addrPort("203.0.113.200:5060")}, v.Addrs[i]...)
		}
	}
	v.Sessions = own
	v.Panic["dallas"] = rapid.Bool().Draw(t, "panic")
	book := book{list: map[string][]*Binding{}, cause: map[string]string{"r1": "node_down"}}
	for i := range rapid.IntRange(0, 4).Draw(t, "bindings") {
		b := room(fmt.Sprintf("r%d", i), i-1)
		b.User, b.Q = "rooms", rapid.SampledFrom([]int{1000, 500}).Draw(t, "q")
		b.Site = rapid.SampledFrom([]string{"dallas", "ashburn"}).Draw(t, "of")
		book.list[roomsAOR] = append(book.list[roomsAOR], b)
	}
	v.Registry = book
	return v
}

func anyDraw(t *rapid.T) Draw {
	d := Draw{Turn: rapid.Uint64().Draw(t, "turn"), Random: rapid.Uint64().Draw(t, "random"), Unbounded: rapid.Bool().Draw(t, "unbounded")}
	if rapid.Bool().Draw(t, "traits") {
		d.Traits = traitsOf(rapid.Uint64Range(0, 99).Draw(t, "call"))
	}
	if rapid.IntRange(0, 3).Draw(t, "sticks") == 0 {
		d.Affinity = rapid.Uint64Min(1).Draw(t, "affinity")
	}
	return d
}

// An order is a permutation of the active list: whatever the document, the states, knobs,
// ramps and bindings are and whatever the call brings, each far end of the site stands there
// once, those that get no call first and with their cause, and tiers in order.
func TestPlannerPermutes(t *testing.T) {
	var p Planner // with whatever the cases before left in it
	rapid.Check(t, func(t *rapid.T) {
		table, err := Compile(anyDocument(t), Version{})
		if err != nil {
			t.Fatal(err)
		}
		g, v, d := table.Group("pool"), anyView(t, table), anyDraw(t)
		plan := p.Plan(nil, g, "dallas", v, d)
		if fresh := Plan(nil, g, "dallas", v, d); !slices.Equal(fresh, plan) {
			t.Fatalf("a new memory plans %s, a used one %s", order(fresh), order(plan))
		}
		got := make(map[string]int)
		dialing := false
		for _, c := range plan {
			got[FarEnd(c.Member, c.Binding)+" "+c.Addr.String()]++
			if c.Dialable != c.Addr.IsValid() || c.Dialable != (c.Cause == "") || dialing && !c.Dialable {
				t.Fatalf("%+v in %s", c, order(plan))
			}
			dialing = c.Dialable
		}
		for key, n := range got {
			if n != 1 {
				t.Fatalf("%s stands %d times in %s", key, n, order(plan))
			}
		}
		checkWhole(t, g, v, plan)
		checkTiers(t, plan)
	})
}

// checkWhole sees that every member of the site is there, and dialable when it takes calls.
func checkWhole(t *rapid.T, g *Group, v *View, plan []Candidate) {
	want := slices.Clone(g.At("dallas"))
	out := make(map[*Member]bool)
	for _, n := range g.Nests() {
		want = append(want, n.Nested.At("dallas")...)
		for _, m := range n.Nested.At("dallas") {
			out[m] = n.Disabled
		}
	}
	for _, m := range want {
		i := slices.IndexFunc(plan, func(c Candidate) bool { return c.Member == m })
		switch {
		case m.Registration != nil:
		case i < 0:
			t.Fatalf("%s is not in %s", m.Key, order(plan))
		case plan[i].Dialable != (v.dialable(m, v.Panic["dallas"]) == "" && !out[m]) && plan[i].Cause != CauseCapacity:
			t.Fatalf("%s: dialable %t, cause %q, state %s", m.Key, plan[i].Dialable, plan[i].Cause, v.States[m.Index])
		}
	}
}

// checkTiers sees that tiers of the group's own members never fall.
func checkTiers(t *rapid.T, plan []Candidate) {
	var last *Member
	for _, c := range plan {
		if !c.Dialable || c.Outer != nil {
			continue
		}
		if last != nil && c.Member.tier(last) < 0 {
			t.Fatalf("%s behind %s in %s", c.Member.ID, last.ID, order(plan))
		}
		last = c.Member
	}
}

// A planner that has seen a group allocates nothing for it, with every method, of a
// thousand members too, nor with groups in groups.
func TestPlannerAllocatesNothing(t *testing.T) {
	check := func(what string, table *Table, g *Group) {
		v := NewView(table)
		v.Sessions, v.Latency, v.Ramps = busy{}, make([]time.Duration, len(v.States)), make([]uint8, len(v.States))
		for i := range v.States {
			v.Latency[i], v.Ramps[i] = time.Duration(i%40)*time.Millisecond, uint8(i%3*40)
			if i%9 == 0 {
				v.States[i] = Down
			}
		}
		var p Planner
		var dst []Candidate
		traits := traitsOf(3)
		turns := turnsByGroup{}
		turn := uint64(0)
		plan := func() {
			turn += 12345
			dst = p.Plan(dst[:0], g, "dallas", v, Draw{Turn: turn, Random: turn, Traits: traits, Turns: turns})
		}
		plan()
		p.spare = slices.Grow(p.spare, 1100) // as long as the longest turn
		if n := testing.AllocsPerRun(50, plan); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
	eachMethod(func(m Method, spec *DistributionSpec) {
		for _, members := range []int{4, 63, 1000} {
			s := *spec
			if m != HashMod && m != Parallel {
				s.SlowStart = Duration(time.Minute)
			}
			table := compile(t, crowd(&s, 1, members))
			check(fmt.Sprintf("%s of %d", m, members), table, table.Group("g0"))
		}
		if m != Parallel {
			table := compile(t, nestDocument(*spec, *spec, *spec))
			check(m.String()+" of groups", table, table.Group("all"))
		}
	})
}
