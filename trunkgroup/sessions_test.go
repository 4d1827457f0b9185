package trunkgroup

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// counts are sessions by far end.
type counts map[string]int

func (c counts) Sessions(m *Member, b *Binding) int { return c[FarEnd(m, b)] }

// book is a registry: who is registered, at which site, and who cannot be
// reached, by ID.
type book struct {
	list  map[string][]*Binding
	cause map[string]string
}

func (r book) Bindings(aor string) []*Binding        { return r.list[aor] }
func (r book) Reach(b *Binding) (site, cause string) { return b.Site, r.cause[b.ID] }

const roomsAOR = "sip:conference@sip.local"

// roomsDocument is one group with a member that registers and one by address.
func roomsDocument(d DistributionSpec) *Document {
	doc := registrationDocument()
	doc.TrunkGroups = append(doc.TrunkGroups, GroupSpec{
		Name: "rooms", Role: OriginationCustomer, Customer: "initech", Distribution: d, Numbers: []string{"+13035550177"},
		Members: []MemberSpec{{ID: "conf", Registration: &RegistrationSpec{AOR: roomsAOR, Users: []string{"initech"}}}},
	})
	return doc
}

func room(id string, sessions int) *Binding {
	return &Binding{AOR: roomsAOR, ID: id, Site: "dallas", Addr: addrPort("198.51.100.9:5060"), Q: maxQ, Sessions: sessions, Reach: ReachAny}
}

// ids writes a plan with bindings by ID: "a b!node_down".
func ids(plan []Candidate) string {
	var parts []string
	for _, c := range plan {
		s := c.Member.ID
		if c.Binding != nil {
			s = c.Binding.ID
		}
		if c.Cause != "" {
			s += "!" + c.Cause
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func roomsView(t testing.TB, table *Table, own counts, list ...*Binding) *View {
	t.Helper()
	v := NewView(table)
	v.Sessions, v.Registry = own, book{list: map[string][]*Binding{roomsAOR: list}}
	return v
}

// by what we count, by what was reported (unknown first), or by
// the larger one.
func TestR06_R07_LeastSessions(t *testing.T) {
	for _, c := range []struct {
		source SessionSource
		want   string
	}{
		{SessionsOwn, "b c a"},
		{SessionsReported, "c b a"}, // c did not tell
		{SessionsMax, "c b a"},
		{0, "c b a"},
	} {
		table := compile(t, roomsDocument(DistributionSpec{Method: LeastSessions, Sessions: c.source}))
		m := table.Member("rooms/conf")
		a, b, cc := room("a", 5), room("b", 4), room("c", -1)
		v := roomsView(t, table, counts{FarEnd(m, a): 9, FarEnd(m, b): 1, FarEnd(m, cc): 2}, a, b, cc)
		if got := ids(Plan(nil, m.Group, "dallas", v, Draw{})); got != c.want {
			t.Errorf("sessions: %s: %s, want %s", c.source, got, c.want)
		}
	}
}

// R-08 for members by address; equals take turns, and only equals.
func TestR06_LeastSessionsOfMembersByAddress(t *testing.T) {
	table := compile(t, poolDocument(LeastSessions, 1, 1, 1, 1))
	v, g := NewView(table), table.Group("pool")
	v.Sessions = counts{"pool/m0": 2, "pool/m1": 1, "pool/m2": 1, "pool/m3": 7}
	for turn, want := range []string{"m1 m2 m0 m3", "m2 m1 m0 m3", "m1 m2 m0 m3"} {
		if got := order(Plan(nil, g, "dallas", v, Draw{Turn: uint64(turn)})); got != want {
			t.Errorf("turn %d: %s, want %s", turn, got, want)
		}
	}
}

// the remembered far end first; a value that nobody knows by
// sessions, among equals by the value; without a value the group's own method.
func TestR10_R11_R12_R13_Affinity(t *testing.T) {
	table := compile(t, roomsDocument(DistributionSpec{Method: LoadBalance, SessionAffinityHeader: "X-Room-Id"}))
	m := table.Member("rooms/conf")
	a, b, c := room("a", -1), room("b", -1), room("c", -1)
	own := counts{FarEnd(m, a): 3}
	v := roomsView(t, table, own, a, b, c)
	plan := func(d Draw) string { return ids(Plan(nil, m.Group, "dallas", v, d)) }
	if got := plan(Draw{Turn: 0}); got != "a b c" {
		t.Errorf("R-13: no value, and not by turns: %s", got)
	}
	firsts := map[string]int{}
	for value := uint64(1); value <= 200; value++ {
		got := plan(Draw{Turn: value, Affinity: value})
		if got != plan(Draw{Turn: value * 7, Affinity: value}) {
			t.Fatal("the turn decides for a value")
		}
		if strings.HasPrefix(got, "a") {
			t.Fatalf("R-12: a has most calls and is first: %s", got)
		}
		firsts[got[:1]]++
	}
	if firsts["b"] < 70 || firsts["c"] < 70 {
		t.Errorf("values do not spread: %v", firsts)
	}
	if got := plan(Draw{Affinity: 1, Remembered: FarEnd(m, a)}); !strings.HasPrefix(got, "a ") {
		t.Errorf("R-11: not where it was: %s", got)
	}
	v.Registry = book{list: map[string][]*Binding{roomsAOR: {a, b, c}}, cause: map[string]string{"a": CauseFlowGone}}
	if got := plan(Draw{Affinity: 1, Remembered: FarEnd(m, a)}); !strings.HasPrefix(got, "a!flow_gone ") {
		t.Errorf("R-25: %s", got)
	}
	if got, want := plan(Draw{Affinity: 1, Remembered: "rooms/conf"}), plan(Draw{Affinity: 1}); got != want {
		t.Errorf("what is not there changes the order: %s, want %s", got, want)
	}
}

// Two nodes that count alike choose alike, and with a far end less nobody else's
// values move.
func TestAffinityMovesOnlyWhoMust(t *testing.T) {
	table := compile(t, roomsDocument(DistributionSpec{SessionAffinityHeader: "X-Room-Id"}))
	m := table.Member("rooms/conf")
	a, b, c := room("a", -1), room("b", -1), room("c", -1)
	all, less := roomsView(t, table, nil, a, b, c), roomsView(t, table, nil, b, a)
	for value := uint64(1); value <= 500; value++ {
		was := Plan(nil, m.Group, "dallas", all, Draw{Affinity: value})[0].Binding
		now := Plan(nil, m.Group, "dallas", less, Draw{Affinity: value})[0].Binding
		if was != c && was != now {
			t.Fatalf("value %d moved from %s to %s", value, was.ID, now.ID)
		}
	}
}

// Preference stands above turns, also over two members of one priority.
func TestBindingsByPreference(t *testing.T) {
	table := compile(t, roomsDocument(DistributionSpec{}))
	m := table.Member("rooms/conf")
	a, b, c := room("a", -1), room("b", -1), room("c", -1)
	a.Q = 500
	v := roomsView(t, table, nil, a, b, c)
	for turn, want := range []string{"b c a", "c b a"} {
		if got := ids(Plan(nil, m.Group, "dallas", v, Draw{Turn: uint64(turn)})); got != want {
			t.Errorf("turn %d: %s, want %s", turn, got, want)
		}
	}
}

// the round robin goes on over bindings that come and go: each call gets
// one that is there, and while nothing changes nobody is passed over.
func TestR26_RoundRobinOverChangingBindings(t *testing.T) {
	table := compile(t, roomsDocument(DistributionSpec{Method: LoadBalance}))
	g := table.Group("rooms")
	rapid.Check(t, func(t *rapid.T) {
		turn := rapid.Uint64().Draw(t, "turn")
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			n := rapid.IntRange(0, 9).Draw(t, "bindings")
			var list []*Binding
			for i := range n {
				list = append(list, room(fmt.Sprint(i), -1))
			}
			v := NewView(table)
			v.Registry = book{list: map[string][]*Binding{roomsAOR: list}}
			seen := map[string]bool{}
			for range n {
				plan := Plan(nil, g, "dallas", v, Draw{Turn: turn})
				turn++
				if len(plan) != n || !plan[0].Dialable {
					t.Fatalf("%d bindings give %s", n, ids(plan))
				}
				seen[plan[0].Binding.ID] = true
			}
			// From 2^64-1 the turn goes to 0, which is no multiple of every n.
			if len(seen) != n && turn >= uint64(n) {
				t.Fatalf("of %d bindings only %d were first in as many calls", n, len(seen))
			}
			if n == 0 {
				plan := Plan(nil, g, "dallas", v, Draw{Turn: turn})
				if len(plan) != 1 || plan[0].Cause != CauseUnregistered {
					t.Fatalf("nobody is registered: %s", ids(plan))
				}
			}
		}
	})
}

// whatever is remembered, who cannot be reached is never dialled, each far
// end stands there once, and the remembered one is first when it can be dialled.
func TestR25_AffinityNeverReturnsADeadOne(t *testing.T) {
	table := compile(t, roomsDocument(DistributionSpec{Method: Weighted, SessionAffinityHeader: "X-Room-Id"}))
	m := table.Member("rooms/conf")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "bindings")
		r := book{list: map[string][]*Binding{}, cause: map[string]string{}}
		own := counts{}
		for i := range n {
			b := room(fmt.Sprint(i), rapid.IntRange(-1, 3).Draw(t, "reported"))
			b.Q = rapid.SampledFrom([]int{0, 500, 1000}).Draw(t, "q")
			own[FarEnd(m, b)] = rapid.IntRange(0, 3).Draw(t, "own")
			if rapid.Bool().Draw(t, "dead") {
				r.cause[b.ID] = CauseNodeDown
			}
			r.list[roomsAOR] = append(r.list[roomsAOR], b)
		}
		remembered := fmt.Sprint(rapid.IntRange(-1, n).Draw(t, "remembered"))
		v := NewView(table)
		v.Registry, v.Sessions = r, own
		plan := Plan(nil, m.Group, "dallas", v, Draw{Affinity: rapid.Uint64Min(1).Draw(t, "value"), Remembered: m.Key + "\x00" + remembered})
		seen, first := map[string]bool{}, ""
		for _, c := range plan {
			if seen[c.Binding.ID] {
				t.Fatalf("%s stands twice: %s", c.Binding.ID, ids(plan))
			}
			seen[c.Binding.ID] = true
			if c.Dialable != (r.cause[c.Binding.ID] == "") {
				t.Fatalf("%s: %s", c.Binding.ID, ids(plan))
			}
			if c.Dialable && first == "" {
				first = c.Binding.ID
			}
		}
		alive := seen[remembered] && r.cause[remembered] == ""
		if len(seen) != n || alive && first != remembered {
			t.Fatalf("remembered %s, got %s", remembered, ids(plan))
		}
	})
}

func TestLeastSessionsAllocates(t *testing.T) {
	table := compile(t, roomsDocument(DistributionSpec{Method: LeastSessions, SessionAffinityHeader: "X-Room-Id"}))
	m := table.Member("rooms/conf")
	list := make([]*Binding, 20)
	for i := range list {
		list[i] = room(fmt.Sprint(i), i%3)
	}
	v := roomsView(t, table, nil, list...)
	v.Sessions = fixed(2)
	buffer, remembered := make([]Candidate, 0, 32), FarEnd(m, list[7])
	for name, d := range map[string]Draw{"least-sessions": {Turn: 3}, "affinity": {Affinity: 5}, "remembered": {Affinity: 5, Remembered: remembered}} {
		if n := testing.AllocsPerRun(100, func() { Plan(buffer, m.Group, "dallas", v, d) }); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

// fixed counts the same for everybody.
type fixed int

func (f fixed) Sessions(*Member, *Binding) int { return int(f) }

func BenchmarkPlanBindings(b *testing.B) {
	table := compile(b, roomsDocument(DistributionSpec{Method: LeastSessions, SessionAffinityHeader: "X-Room-Id"}))
	m := table.Member("rooms/conf")
	list := make([]*Binding, 20)
	for i := range list {
		list[i] = room(fmt.Sprint(i), i%3)
	}
	v := roomsView(b, table, nil, list...)
	v.Sessions = fixed(2)
	buffer := make([]Candidate, 0, 32)
	for name, d := range map[string]Draw{"least-sessions": {Turn: 3}, "affinity": {Affinity: 5}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Plan(buffer, m.Group, "dallas", v, d)
			}
		})
	}
}

// What explain says of counts, contacts and of a room that is at the peer site.
func TestExplainSessionsAndAffinity(t *testing.T) {
	table := compile(t, roomsDocument(DistributionSpec{Method: LeastSessions, SessionAffinityHeader: "X-Room-Id"}))
	m := table.Member("rooms/conf")
	a, b := room("a", 5), room("b", -1)
	a.Contact = "sip:conf@10.0.0.7"
	far := room("far", 0)
	far.Site = "ashburn"
	v := roomsView(t, table, counts{FarEnd(m, b): 2}, a, b, far)
	remembered := FarEnd(m, a)
	q := Query{
		Site: "dallas", Realm: "SIP.local", Username: "initech", Called: []byte(roomsAOR), Affinity: "7",
		Sticks: func(g *Group, value string) (uint64, string) {
			if g != m.Group || value != "7" {
				t.Errorf("asked of %q in %s", value, g.Name)
			}
			return 9, remembered
		},
	}
	e := Explain(table, v, q)
	if len(e.Order) != 2 || e.Order[0].Contact != a.Contact || *e.Order[0].Sessions != 5 || *e.Order[1].Sessions != 2 || e.Order[0].Site != "dallas" {
		t.Errorf("%+v", e.Order)
	}
	if got := explained(e); !strings.Contains(got, "whom the value of X-Room-Id was sent to: 2 to dial") {
		t.Errorf("%s", got)
	}
	remembered = FarEnd(m, far)
	if got := explained(Explain(table, v, q)); !strings.Contains(got, "which takes the calls of ashburn: that site is asked first") {
		t.Errorf("%s", got)
	}
	q.Affinity = ""
	if got := explained(Explain(table, v, q)); !strings.Contains(got, "by least-sessions, without X-Room-Id: 2 to dial") {
		t.Errorf("%s", got)
	}
}
