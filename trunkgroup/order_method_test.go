package trunkgroup

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// orders plans in as many turns and returns the orders.
func orders(g *Group, v *View, turns uint64) (list []string) {
	for turn := range turns {
		list = append(list, order(Plan(nil, g, "dallas", v, Draw{Turn: turn, Random: turn})))
	}
	return list
}

// firsts counts who is first in as many turns.
func firsts(g *Group, v *View, turns uint64) map[string]int {
	var p Planner
	var buffer []Candidate
	n := make(map[string]int)
	for turn := range turns {
		var who string
		buffer, who = first(&p, buffer, g, v, Draw{Turn: turn, Random: mix(turn)})
		n[who]++
	}
	return n
}

// K-06: one turn after the other, in the order of the document, from any place; one that
// is down is left out and the others go round evenly.
func TestK06_RoundRobin(t *testing.T) {
	table := compile(t, poolDocument(RoundRobin, 1, 1, 1, 1))
	g, v := table.Group("pool"), NewView(table)
	want := []string{"m0 m1 m2 m3", "m1 m2 m3 m0", "m2 m3 m0 m1", "m3 m0 m1 m2", "m0 m1 m2 m3"}
	if got := orders(g, v, 5); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	v.States[1] = Down
	if got := firsts(g, v, 300); !maps.Equal(got, map[string]int{"m0": 100, "m2": 100, "m3": 100}) {
		t.Errorf("with m1 down: %v", got)
	}
}

// D2: the turns of several nodes, each with its own, are as even together as there are
// nodes, whatever their phases are; also for as many members as no node can know.
func TestD02_K06_TurnsOfSeveralNodesAreEven(t *testing.T) {
	for _, m := range []Method{RoundRobin, LoadBalance} {
		for members := 2; members <= 13; members++ {
			table := compile(t, poolDocument(m, slices.Repeat([]int{1}, members)...))
			g, v := table.Group("pool"), NewView(table)
			n := make([]int, members)
			const nodes, calls = 4, 2500
			for node := range uint64(nodes) {
				for turn := range calls + node*7 {
					n[Plan(nil, g, "dallas", v, Draw{Turn: turn + node*1_000_003})[0].Member.Index]++
				}
			}
			if slices.Max(n)-slices.Min(n) > nodes {
				t.Errorf("%s, %d members: %v", m, members, n)
			}
		}
	}
}

// K-20, algorithm 11: "1/2/1 = 25/50/25; third dies -> 33/67/0", exactly, without chance;
// and whoever is first fails, the others share its calls by weight.
func TestK20_RelativeWeight(t *testing.T) {
	table := compile(t, poolDocument(RelativeWeight, 1, 2, 1))
	g, v := table.Group("pool"), NewView(table)
	if got := firsts(g, v, 400); !maps.Equal(got, map[string]int{"m0": 100, "m1": 200, "m2": 100}) {
		t.Errorf("%v", got)
	}
	second := make(map[string]int)
	for _, o := range orders(g, v, 4*3*100) {
		if rest, ok := strings.CutPrefix(o, "m0 "); ok {
			second[rest[:2]]++
		}
	}
	if !maps.Equal(second, map[string]int{"m1": 200, "m2": 100}) {
		t.Errorf("behind m0: %v", second)
	}
	v.States[2] = Down
	if got := firsts(g, v, 300); !maps.Equal(got, map[string]int{"m0": 100, "m1": 200}) {
		t.Errorf("without the third: %v", got)
	}
}

// The turns of one member lie apart: of any ten in a row each has its share, give or take
// one and a half.
func TestRelativeWeightIsSmooth(t *testing.T) {
	weights := []int{50, 30, 15, 5}
	table := compile(t, poolDocument(RelativeWeight, weights...))
	g, v := table.Group("pool"), NewView(table)
	who := make([]int, 300)
	for turn := range who {
		who[turn] = Plan(nil, g, "dallas", v, Draw{Turn: uint64(turn)})[0].Member.Index
	}
	for at := range len(who) - 10 {
		for i, w := range weights {
			n := 0
			for _, m := range who[at : at+10] {
				if m == i {
					n++
				}
			}
			if got, want := float64(n), float64(w)/10; got < want-1.5 || got > want+1.5 {
				t.Fatalf("from turn %d m%d has %d of ten, its share is %.1f", at, i, n, want)
			}
		}
	}
}

// K-08: chance alone, weights say nothing.
func TestK08_Random(t *testing.T) {
	table := compile(t, poolDocument(Random, 1, 9, 100))
	g, v := table.Group("pool"), NewView(table)
	for m, n := range firsts(g, v, 30_000) {
		within3Sigma(t, m, n, 30_000, 1.0/3)
	}
}

// P-30, K-20 (9): weights are shares, within three sigma, also of a hundred members.
func TestP30_K20_WeightedIsByWeight(t *testing.T) {
	weights := make([]int, 100)
	total := 0
	for i := range weights {
		weights[i] = 1 + i*i%17
		total += weights[i]
	}
	table := compile(t, poolDocument(Weighted, weights...))
	got := firsts(table.Group("pool"), NewView(table), 100_000)
	chi := 0.0
	for i, w := range weights {
		want := 100_000 * float64(w) / float64(total)
		d := float64(got[fmt.Sprintf("m%d", i)]) - want
		chi += d * d / want
	}
	if chi > 142 { // 3 sigma of chi-square with 99 degrees of freedom
		t.Errorf("chi-square is %.0f", chi)
	}
}

// K-09: "80% A, 20% B, C if both fail"; K-20 (8): serial is the order of priorities.
func TestK09_K20_Tiers(t *testing.T) {
	eachMethod(func(m Method, spec *DistributionSpec) {
		d := poolDocument(m, 80, 20, 5, 7, 1)
		d.TrunkGroups[0].Distribution = *spec
		for i, p := range []int{1, 1, 2, 0, 2} {
			d.TrunkGroups[0].Members[i].Priority = p
		}
		table := compile(t, d)
		for turn := range uint64(40) {
			var tiers []int
			for _, c := range Plan(nil, table.Group("pool"), "dallas", NewView(table), Draw{Turn: turn, Random: turn, Traits: traitsOf(turn)}) {
				tiers = append(tiers, c.Member.Priority)
			}
			if !slices.Equal(tiers, []int{0, 1, 1, 2, 2}) {
				t.Errorf("%s: tiers %v", m, tiers)
			}
		}
	})
}

// K-21, use_default: the last resort comes after all tiers, whatever its priority.
func TestK21_LastResort(t *testing.T) {
	eachMethod(func(m Method, spec *DistributionSpec) {
		d := poolDocument(m, 1, 1, 1)
		d.TrunkGroups[0].Distribution = *spec
		d.TrunkGroups[0].Members[0].LastResort = true
		d.TrunkGroups[0].Members[2].Priority = 9
		table := compile(t, d)
		v := NewView(table)
		for turn := range uint64(20) {
			if got := order(Plan(nil, table.Group("pool"), "dallas", v, Draw{Turn: turn, Random: turn, Traits: traitsOf(turn)})); got != "m1 m2 m0" {
				t.Errorf("%s: %s", m, got)
			}
		}
		v.States[1], v.States[2] = Down, Draining
		if got := order(Plan(nil, table.Group("pool"), "dallas", v, Draw{})); got != "m1!down m2!draining m0" {
			t.Errorf("%s: %s", m, got)
		}
	})
}

// K-20 (10): the fewest calls first, in the order of the document among equals; whoever
// has as many as it may is left out, and no maxload is no limit (K pain 10).
func TestK20_CallLoad(t *testing.T) {
	d := poolDocument(CallLoad, 1, 1, 1, 1)
	d.TrunkGroups[0].Members[1].Limits.Calls = 3
	table := compile(t, d)
	g, v := table.Group("pool"), NewView(table)
	if !g.CountsSessions() {
		t.Error("its calls are not counted")
	}
	plan := func(d Draw) string { return order(Plan(nil, g, "dallas", v, d)) }
	for calls, want := range map[string]string{
		"0 0 0 0": "m0 m1 m2 m3", "2 1 1 0": "m3 m1 m2 m0", "5 2 2 5": "m1 m2 m0 m3", "5 3 5 5": "m1!capacity m0 m2 m3", "900 4 901 900": "m1!capacity m0 m3 m2",
	} {
		own := counts{}
		for i, n := range strings.Fields(calls) {
			fmt.Sscan(n, &i)
			own[fmt.Sprintf("pool/m%d", len(own))] = i
		}
		v.Sessions = own
		for turn := range uint64(3) {
			if got := plan(Draw{Turn: turn}); got != want {
				t.Errorf("%s: %s, want %s", calls, got, want)
			}
		}
	}
	v.Sessions = counts{"pool/m0": 900, "pool/m1": 4, "pool/m2": 901, "pool/m3": 900}
	if got := plan(Draw{Unbounded: true}); got != "m1 m0 m3 m2" {
		t.Errorf("a call without limits: %s", got)
	}
}

// The smallest part of its limit first; equals take turns.
func TestLeastBusy(t *testing.T) {
	d := poolDocument(LeastBusy, 1, 1, 1)
	d.TrunkGroups[0].Members[0].Limits.Calls = 100
	d.TrunkGroups[0].Members[1].Limits.Calls = 10
	table := compile(t, d)
	g, v := table.Group("pool"), NewView(table)
	v.Sessions = counts{"pool/m0": 20, "pool/m1": 3, "pool/m2": 500}
	if got := orders(g, v, 1); got[0] != "m2 m0 m1" {
		t.Errorf("%v", got)
	}
	v.Sessions = counts{"pool/m0": 40, "pool/m1": 4}
	if got := orders(g, v, 2); !slices.Equal(got, []string{"m2 m0 m1", "m2 m1 m0"}) {
		t.Errorf("%v", got)
	}
}

// K-20 (13), K-29: the fastest first; what is hardly slower takes turns with it, and who
// was never measured counts as the median.
func TestK20_K29_Latency(t *testing.T) {
	table := compile(t, poolDocument(Latency, 1, 1, 1, 1, 1))
	g, v := table.Group("pool"), NewView(table)
	if got := firsts(g, v, 100); len(got) != 5 {
		t.Errorf("nobody is measured: %v", got)
	}
	ms := time.Millisecond
	v.Latency = []time.Duration{80 * ms, 20 * ms, 0, 21 * ms, 40 * ms}
	if got := orders(g, v, 3); !slices.Equal(got, []string{"m1 m3 m2 m4 m0", "m3 m1 m4 m2 m0", "m1 m3 m2 m4 m0"}) {
		t.Errorf("%q", got)
	}
}

// P-30, K-20 (8, 12): serial and parallel go in the order of the document.
func TestP30_K20_FailoverAndParallel(t *testing.T) {
	for _, m := range []Method{Failover, Parallel} {
		table := compile(t, poolDocument(m, 1, 1, 1))
		for _, got := range orders(table.Group("pool"), NewView(table), 5) {
			if got != "m0 m1 m2" {
				t.Errorf("%s: %s", m, got)
			}
		}
	}
}
