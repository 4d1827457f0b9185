package trunkgroup

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Of a tier too large to be ordered to the last, the first places are those of the whole
// order, and all others stand behind.
func TestLargeTiersAreExactInFront(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(sorted+1, 400).Draw(t, "members")
		spread := rapid.IntRange(1, 500).Draw(t, "spread")
		method := rapid.SampledFrom([]Method{HashCallID, LeastSessions, CallLoad, Latency, HashMod}).Draw(t, "method")
		d := crowd(&DistributionSpec{Method: method}, 1, n)
		if method == HashMod {
			d.TrunkGroups[0].Distribution.Key = "call-id"
		}
		for i := range d.TrunkGroups[0].Members {
			d.TrunkGroups[0].Members[i].Limits.Calls = 0
		}
		table, err := Compile(d, Version{})
		if err != nil {
			t.Fatal(err)
		}
		g, v, own := table.Group("g0"), NewView(table), counts{}
		v.Latency = make([]time.Duration, n)
		for i, m := range g.Members {
			own[m.Key] = int(mix(uint64(i)) % uint64(spread))
			v.Latency[i] = time.Duration(100+own[m.Key]) * time.Millisecond
		}
		v.Sessions = own
		x := traitsOf(rapid.Uint64Range(0, 1000).Draw(t, "call"))
		plan := Plan(nil, g, "dallas", v, Draw{Turn: rapid.Uint64().Draw(t, "turn"), Traits: x})
		rank := func(m *Member) uint64 {
			switch method {
			case HashCallID:
				key, _ := g.KeyHash(x)
				return v.Score(m, nil, key)
			case Latency:
				if l := uint64(v.Latency[m.Index]); l > uint64(fastest(v.Latency))*11/10 {
					return l
				}
				return 0
			case HashMod:
				start := uint64(KamailioHash(x.CallID, nil)) % uint64(n)
				return (uint64(n-1-m.Index) + uint64(n) - start) % uint64(n)
			}
			return uint64(own[m.Key])
		}
		whole := slices.Clone(g.Members)
		slices.SortStableFunc(whole, func(a, b *Member) int { return cmp.Compare(rank(a), rank(b)) })
		for i := range exact {
			if got, want := rank(plan[i].Member), rank(whole[i]); got != want {
				t.Fatalf("place %d has rank %d, want %d", i, got, want)
			}
		}
		if len(plan) != n {
			t.Fatalf("%d of %d", len(plan), n)
		}
	})
}

func fastest(list []time.Duration) time.Duration { return slices.Min(list) }

// D2, R-26: whatever happens to members between calls, while nothing happens each has its
// turn: of as many calls in a row as there are members each has one.
func TestD02_R26_TurnsWhileStatesChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 90).Draw(t, "members")
		method := rapid.SampledFrom([]Method{RoundRobin, LoadBalance}).Draw(t, "method")
		table, err := Compile(poolDocument(method, slices.Repeat([]int{1}, n)...), Version{})
		if err != nil {
			t.Fatal(err)
		}
		g, v := table.Group("pool"), NewView(table)
		turn := rapid.Uint64().Draw(t, "turn")
		var p Planner
		var buffer []Candidate
		for range 4 {
			up := 0
			for i := range v.States {
				v.States[i] = rapid.SampledFrom([]State{Active, Active, Down, Draining}).Draw(t, "state")
				if v.States[i] == Active {
					up++
				}
			}
			seen := make(map[string]int)
			turn -= turn % 7 // other nodes have taken some
			for range up {
				var who string
				buffer, who = first(&p, buffer, g, v, Draw{Turn: turn})
				seen[who]++
				turn++
			}
			if len(seen) != up && turn > uint64(up) {
				t.Fatalf("%d of %d have had a turn", len(seen), up)
			}
		}
	})
}
