package trunkgroup

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// order writes a plan as "m0! m2 m1": with ! for what is not dialled.
func order(candidates []Candidate) string {
	var words []string
	for _, c := range candidates {
		word := c.Member.ID
		if !c.Dialable {
			word += "!" + c.Cause
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// "round-robin: call 1 -> first, call 2 -> second, wraps after last". The
// rest of the order moves too, so that a silent member's calls spread.
func TestPlanLoadBalance(t *testing.T) {
	table := compile(t, poolDocument(LoadBalance, 1, 1, 1))
	v, g := NewView(table), table.Group("pool")
	for turn, want := range []string{"m0 m1 m2", "m1 m2 m0", "m2 m0 m1", "m0 m2 m1", "m1 m0 m2", "m2 m1 m0", "m0 m1 m2"} {
		if got := order(Plan(nil, g, "dallas", v, Draw{Turn: uint64(turn)})); got != want {
			t.Errorf("turn %d: %s, want %s", turn, got, want)
		}
	}
	v.States[1] = Down
	for turn, want := range []string{"m1!down m0 m2", "m1!down m2 m0", "m1!down m0 m2"} {
		if got := order(Plan(nil, g, "dallas", v, Draw{Turn: uint64(turn)})); got != want {
			t.Errorf("turn %d with m1 down: %s, want %s", turn, got, want)
		}
	}
}

// P-30: "Failover (priority, lower first)"; then document order.
func TestPlanFailover(t *testing.T) {
	d := poolDocument(Failover, 1, 1, 1, 1)
	for i, p := range []int{7, 3, 7, 0} {
		d.TrunkGroups[0].Members[i].Priority = p
	}
	table := compile(t, d)
	v, g := NewView(table), table.Group("pool")
	for turn := range uint64(3) {
		if got := order(Plan(nil, g, "dallas", v, Draw{Turn: turn, Random: turn})); got != "m3 m1 m0 m2" {
			t.Errorf("turn %d: %s", turn, got)
		}
	}
}

// K-09: "80 % A, 20 % B, C if both fail": lower tiers stand behind.
func TestPlanWeightedTiers(t *testing.T) {
	d := poolDocument(Weighted, 80, 20, 100)
	d.TrunkGroups[0].Members[2].Priority = 1
	table := compile(t, d)
	v, g := NewView(table), table.Group("pool")
	for seed := range uint64(100) {
		if got := order(Plan(nil, g, "dallas", v, Draw{Random: seed})); got != "m0 m1 m2" && got != "m1 m0 m2" {
			t.Fatalf("seed %d: %s", seed, got)
		}
	}
}

// The share of each member at each place is its weight among those left, within
// three sigma.
func TestPlanWeightsWithin3Sigma(t *testing.T) {
	const calls = 60000
	weights := []int{50, 30, 15, 5}
	table := compile(t, poolDocument(Weighted, weights...))
	v, g := NewView(table), table.Group("pool")
	v.States[3] = Down // the others share what is left: 50, 30, 15 of 95
	first, second := make([]int, 4), make([]int, 4)
	var buffer []Candidate
	for seed := range uint64(calls) {
		buffer = Plan(buffer[:0], g, "dallas", v, Draw{Random: seed})
		first[buffer[1].Member.Index]++
		if buffer[1].Member.Index == 0 {
			second[buffer[2].Member.Index]++
		}
	}
	for i, w := range weights[:3] {
		within3Sigma(t, fmt.Sprintf("m%d first", i), first[i], calls, float64(w)/95)
	}
	within3Sigma(t, "m1 second after m0", second[1], first[0], 30.0/45)
	if first[3] != 0 || second[3] != 0 {
		t.Error("a member that is down was drawn")
	}
}

func within3Sigma(t *testing.T, what string, got, n int, p float64) {
	t.Helper()
	want, sigma := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	if math.Abs(float64(got)-want) > 3*sigma {
		t.Errorf("%s: %d, want %.0f +- %.0f", what, got, want, 3*sigma)
	}
}

// Each member is first, and each stands at each other place, equally often.
func TestPlanLoadBalanceEven(t *testing.T) {
	table := compile(t, poolDocument(LoadBalance, 1, 1, 1, 1, 1))
	v, g := NewView(table), table.Group("pool")
	places := make(map[[2]int]int)
	for turn := range uint64(5 * 4 * 10) {
		for place, c := range Plan(nil, g, "dallas", v, Draw{Turn: turn}) {
			places[[2]int{place, c.Member.Index}]++
		}
	}
	for at, n := range places {
		if n != 40 {
			t.Errorf("m%d stands at place %d %d times, want 40", at[1], at[0], n)
		}
	}
}

// DEC-12: "distribution ignores probe verdicts (admin states still hold)".
// P-08: "Trunk Monitoring not configured on the group -> all members are
// active".
func TestK15_PlanStates(t *testing.T) {
	states := []State{Active, Down, Probation, Cooldown, Draining, Disabled, Unknown, Trying}
	for _, c := range []struct {
		name      string
		monitored bool
		panicking bool
		want      string
	}{
		{"DEC12 calm", true, false, "m1!down m2!down m3!cooldown m4!draining m5!disabled m0 m6 m7"},
		{"DEC12 panic", true, true, "m4!draining m5!disabled m0 m1 m2 m3 m6 m7"},
		{"P08 not monitored", false, false, "m4!draining m5!disabled m0 m1 m2 m3 m6 m7"},
	} {
		d := poolDocument(Failover, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
		d.TrunkGroups[0].Members[8].Disabled = true
		d.TrunkGroups[0].Members[9].Address, d.TrunkGroups[0].Members[9].FQDN = "", "gw.example.com"
		if !c.monitored {
			d.TrunkGroups[0].Monitoring = MonitoringSpec{}
		}
		table := compile(t, d)
		v, g := NewView(table), table.Group("pool")
		copy(v.States, states)
		v.Panic["dallas"] = c.panicking
		want := strings.Replace(c.want, "m0", "m8!disabled m9!unresolved m0", 1)
		if got := order(Plan(nil, g, "dallas", v, Draw{})); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

func TestNewView(t *testing.T) {
	d := testDocument()
	d.TrunkGroups[0].Members[1].Disabled = true
	table := compile(t, d)
	v := NewView(table)
	for key, want := range map[string]State{"acme-in/d1": Unknown, "acme-in/d2": Disabled, "carrier-a/d": Active} {
		if got := v.States[table.Member(key).Index]; got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if v.Addrs[table.Member("carrier-b/d").Index] != nil {
		t.Error("a name is resolved before anybody asked")
	}
}

// A member by name yields one candidate per address, side by side.
func TestPlanAddresses(t *testing.T) {
	table := compile(t, testDocument())
	v, g := NewView(table), table.Group("carrier-b")
	if got := order(Plan(nil, g, "dallas", v, Draw{})); got != "d!unresolved" {
		t.Errorf("unresolved: %s", got)
	}
	v.Addrs[g.Members[0].Index] = []netip.AddrPort{addrPort("192.0.2.20:5060"), addrPort("192.0.2.21:5060")}
	got := Plan(nil, g, "dallas", v, Draw{})
	if len(got) != 2 || got[0].Addr != addrPort("192.0.2.20:5060") || got[1].Addr != addrPort("192.0.2.21:5060") || !got[1].Dialable {
		t.Errorf("candidates %+v", got)
	}
	if got := Plan(nil, g, "ashburn", v, Draw{}); got != nil {
		t.Errorf("carrier-b stands in dallas only: %+v", got)
	}
}

// "order is a permutation of the active members": whatever the states, weights,
// priorities and the draw are, each member stands there exactly once, those
// that get no call first, and priorities never fall.
func TestPlanIsPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		method := rapid.SampledFrom([]Method{LoadBalance, Weighted, Failover, LeastSessions}).Draw(t, "method")
		n := rapid.IntRange(1, 80).Draw(t, "members")
		weights := rapid.SliceOfN(rapid.IntRange(1, 65535), n, n).Draw(t, "weights")
		d := poolDocument(method, weights...)
		for i := range n {
			d.TrunkGroups[0].Members[i].Priority = rapid.IntRange(0, 3).Draw(t, "priority")
		}
		table, err := Compile(d, Version{})
		if err != nil {
			t.Fatal(err)
		}
		v, g := NewView(table), table.Group("pool")
		for i := range n {
			v.States[i] = rapid.SampledFrom(States()).Draw(t, "state")
		}
		v.Panic["dallas"] = rapid.Bool().Draw(t, "panic")
		draw := Draw{Turn: rapid.Uint64().Draw(t, "turn"), Random: rapid.Uint64().Draw(t, "random")}
		plan := Plan(nil, g, "dallas", v, draw)
		seen := make(map[*Member]bool)
		priority, dialing := -1, false
		for _, c := range plan {
			if seen[c.Member] {
				t.Fatalf("%s stands twice in %s", c.Member.ID, order(plan))
			}
			seen[c.Member] = true
			if c.Dialable != c.Addr.IsValid() || c.Dialable != (c.Cause == "") {
				t.Fatalf("candidate %+v", c)
			}
			if !c.Dialable {
				if dialing {
					t.Fatalf("not dialable behind dialable: %s", order(plan))
				}
				continue
			}
			if !dialing {
				dialing, priority = true, c.Member.Priority
			}
			if c.Member.Priority < priority {
				t.Fatalf("priority falls: %s", order(plan))
			}
			priority = c.Member.Priority
			if s := v.States[c.Member.Index]; !s.Selectable() && !(v.Panic["dallas"] && !s.Administrative()) {
				t.Fatalf("%s is %s and dialled", c.Member.ID, s)
			}
		}
		if len(seen) != n {
			t.Fatalf("%d of %d members in %s", len(seen), n, order(plan))
		}
		if again := order(Plan(nil, g, "dallas", v, draw)); again != order(plan) {
			t.Fatalf("the same draw gives %s and %s", order(plan), again)
		}
	})
}

func TestPlanAllocates(t *testing.T) {
	for _, method := range []Method{LoadBalance, Weighted, Failover, LeastSessions} {
		table := compile(t, poolDocument(method, 1, 2, 3, 4, 5, 6, 7, 8))
		v, g := NewView(table), table.Group("pool")
		buffer := make([]Candidate, 0, 8)
		if n := testing.AllocsPerRun(100, func() { Plan(buffer, g, "dallas", v, Draw{Turn: 3, Random: 5}) }); n != 0 {
			t.Errorf("%s: %v allocations", method, n)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	for _, method := range []Method{LoadBalance, Weighted, Failover, LeastSessions} {
		table := compile(b, poolDocument(method, 1, 2, 3, 4, 5, 6, 7, 8))
		v, g := NewView(table), table.Group("pool")
		buffer := make([]Candidate, 0, 8)
		b.Run(method.String(), func(b *testing.B) {
			b.ReportAllocs()
			var i uint64
			for b.Loop() {
				i++
				Plan(buffer, g, "dallas", v, Draw{Turn: i, Random: i})
			}
		})
	}
}

// DEC-25: an operator's weight takes the place of the document's, without allocation.
func TestDEC25_ViewWeights(t *testing.T) {
	table := compile(t, poolDocument(Weighted, 1, 1))
	v := NewView(table)
	v.Weigh(table.Member("pool/m1"), 9)
	first := 0
	var buffer [8]Candidate
	for i := range uint64(10_000) {
		if Plan(buffer[:0], table.Group("pool"), "dallas", v, Draw{Random: i})[0].Member.ID == "m1" {
			first++
		}
	}
	if first < 8800 || first > 9200 {
		t.Errorf("m1 is first in %d of 10000, want 9000", first)
	}
	if got := testing.AllocsPerRun(100, func() { Plan(buffer[:0], table.Group("pool"), "dallas", v, Draw{Random: 7}) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
