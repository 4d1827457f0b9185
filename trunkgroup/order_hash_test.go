package trunkgroup

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// keysOf are Call-IDs of as many calls.
func keysOf(n int) []*Traits {
	list := make([]*Traits, n)
	for i := range list {
		list[i] = &Traits{CallID: fmt.Appendf(nil, "%d-%x@pbx.example.net", i, i*7919)}
	}
	return list
}

// first plans a call and returns who is dialled first, or "".
func first(p *Planner, buffer []Candidate, g *Group, v *View, d Draw) ([]Candidate, string) {
	buffer = p.Plan(buffer[:0], g, "dallas", v, d)
	for i := range buffer {
		if buffer[i].Dialable {
			return buffer, buffer[i].Member.ID
		}
	}
	return buffer, ""
}

// mapOf says where each key goes.
func mapOf(g *Group, v *View, keys []*Traits) []string {
	var p Planner
	var buffer []Candidate
	list := make([]string, len(keys))
	for i, k := range keys {
		buffer, list[i] = first(&p, buffer, g, v, Draw{Turn: uint64(i), Random: uint64(i), Traits: k})
	}
	return list
}

func count(list []string) map[string]int {
	n := make(map[string]int)
	for _, s := range list {
		n[s]++
	}
	return n
}

// D1: "100k keys, 6 members, remove one => moved keys = only the victim's (16.7% +-0.5),
// spread over the other five each +20% +-3 points; re-adding restores the exact original
// map". C2, K-10: so no neighbour gets double load.
func TestD01_K10_C02_OneThatGoesMovesItsOwnKeysOnly(t *testing.T) {
	keys := keysOf(100_000)
	table := compile(t, poolDocument(HashCallID, 1, 1, 1, 1, 1, 1))
	g, v := table.Group("pool"), NewView(table)
	before := mapOf(g, v, keys)
	v.States[2] = Down
	after := mapOf(g, v, keys)
	moved, gain := 0, make(map[string]int)
	for i := range keys {
		switch {
		case before[i] == after[i]:
		case before[i] != "m2":
			t.Fatalf("key %d moved from %s to %s", i, before[i], after[i])
		default:
			moved++
			gain[after[i]]++
		}
	}
	isAbout(t, "moved", float64(moved)/1000, 100.0/6, 0.5)
	load := count(before)
	for _, m := range []string{"m0", "m1", "m3", "m4", "m5"} {
		isAbout(t, m+" gains of the victim's keys, in percent", 100*float64(gain[m])/float64(moved), 20, 3)
		isAbout(t, m+" grows, in percent", 100*float64(gain[m])/float64(load[m]), 20, 3)
	}
	v.States[2] = Active
	if !slices.Equal(mapOf(g, v, keys), before) {
		t.Error("the map is another one when the member is back")
	}
}

func isAbout(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if got < want-by || got > want+by {
		t.Errorf("%s: %.2f, want %.2f +- %.2f", what, got, want, by)
	}
}

// D1: "identical map on every node": neither the order of the document nor addresses,
// indexes or other groups say where a key goes.
func TestD01_EqualMapsOnEveryNode(t *testing.T) {
	keys := keysOf(2000)
	for _, weights := range [][]int{{1, 1, 1, 1, 1}, {1, 5, 2, 9, 3}} {
		one := compile(t, poolDocument(HashCallID, weights...))
		d := poolDocument(HashCallID, weights...)
		slices.Reverse(d.TrunkGroups[0].Members)
		for i := range d.TrunkGroups[0].Members {
			d.TrunkGroups[0].Members[i].Address = fmt.Sprintf("198.51.100.%d:5070", i+1)
		}
		d.TrunkGroups = append([]GroupSpec{{Name: "other", Role: PSTNProvider, Members: []MemberSpec{{ID: "x", Site: "dallas", Address: "192.0.2.99"}}}}, d.TrunkGroups...)
		other := compile(t, d)
		a := mapOf(one.Group("pool"), NewView(one), keys)
		if b := mapOf(other.Group("pool"), NewView(other), keys); !slices.Equal(a, b) {
			t.Errorf("weights %v: two nodes have two maps", weights)
		}
	}
}

// D1: "weight w change moves only |delta share|".
func TestD01_AWeightMovesOnlyTheDifference(t *testing.T) {
	keys := keysOf(100_000)
	table := compile(t, poolDocument(Hash, 10, 10, 10, 10))
	g, v := table.Group("pool"), NewView(table)
	g.Key = KeyCallID
	before := mapOf(g, v, keys)
	v.Weigh(table.Member("pool/m1"), 20) // from 1/4 to 2/5
	after := mapOf(g, v, keys)
	moved := 0
	for i := range keys {
		if before[i] != after[i] {
			moved++
			if after[i] != "m1" {
				t.Fatalf("key %d moved from %s to %s", i, before[i], after[i])
			}
		}
	}
	isAbout(t, "moved, in percent", float64(moved)/1000, 40-25, 0.5)
	shares := count(after)
	isAbout(t, "m1, in percent", float64(shares["m1"])/1000, 40, 0.5)
	isAbout(t, "m0, in percent", float64(shares["m0"])/1000, 20, 0.5)
}

// The keys of one that goes are shared by the weights of those that stay, within three
// sigma; so are all keys.
func TestD01_SurvivorsShareByWeight(t *testing.T) {
	keys := keysOf(60_000)
	weights := []int{50, 30, 15, 5}
	table := compile(t, poolDocument(HashCallID, weights...))
	g, v := table.Group("pool"), NewView(table)
	before := mapOf(g, v, keys)
	v.States[0] = Draining
	after := mapOf(g, v, keys)
	gain, lost := make(map[string]int), 0
	for i := range keys {
		if before[i] == "m0" {
			gain[after[i]]++
			lost++
		} else if before[i] != after[i] {
			t.Fatalf("key %d moved", i)
		}
	}
	for i, w := range weights {
		m := fmt.Sprintf("m%d", i)
		within3Sigma(t, m, count(before)[m], len(keys), float64(w)/100)
		if i > 0 {
			within3Sigma(t, m+" of those of m0", gain[m], lost, float64(w)/50)
		}
	}
}

// Whoever goes and whatever the weights are: the others' keys stay, in all places.
func TestD01_OrdersStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "members")
		weights := rapid.SliceOfN(rapid.IntRange(1, 65535), n, n).Draw(t, "weights")
		table, err := Compile(poolDocument(HashCallID, weights...), Version{})
		if err != nil {
			t.Fatal(err)
		}
		g, v := table.Group("pool"), NewView(table)
		d := Draw{Traits: &Traits{CallID: []byte(rapid.StringN(1, 20, -1).Draw(t, "call"))}}
		all := Plan(nil, g, "dallas", v, d)
		gone := rapid.IntRange(0, n-1).Draw(t, "gone")
		v.States[gone] = Down
		rest := Plan(nil, g, "dallas", v, d)[1:]
		all = slices.DeleteFunc(all, func(c Candidate) bool { return c.Member.Index == gone })
		if order(all) != order(rest) {
			t.Fatalf("with m%d: %s, without: %s", gone, order(all), order(rest))
		}
	})
}

// K-03, K-04, K-05, K-20: each method goes by its own key of a call and by nothing else;
// K-07: a call without a digest user takes its turn.
func TestK03_K04_K05_K07_K20_EachMethodHasItsKey(t *testing.T) {
	for m := HashCallID; m <= HashCalled; m++ {
		table := compile(t, poolDocument(m, 1, 1, 1, 1, 1, 1, 1))
		g, v := table.Group("pool"), NewView(table)
		if g.Key != m.keyOf() || !g.NeedsTraits() {
			t.Errorf("%s goes by %s", m, g.Key)
		}
		plan := func(x *Traits, turn uint64) string {
			return order(Plan(nil, g, "dallas", v, Draw{Turn: turn, Random: turn, Traits: x}))
		}
		one := traitsOf(1)
		same := *traitsOf(2)
		switch m {
		case HashCallID:
			same.CallID = one.CallID
		case HashFrom:
			same.From = one.From
		case HashRequestUser:
			same.RequestUser = one.RequestUser
		case HashAuthUser:
			same.AuthUser = one.AuthUser
		case HashCaller:
			same.Caller = one.Caller
		case HashCalled:
			same.Called = one.Called
		}
		if plan(one, 1) != plan(&same, 2) {
			t.Errorf("%s: one key, two orders", m)
		}
		different := false
		for i := range uint64(50) {
			x := traitsOf(i)
			x.To = fmt.Appendf(nil, "sip:%d@sbc.example.com", i)
			x.Source = addrPort(fmt.Sprintf("203.0.113.%d:5060", i+1)).Addr()
			different = different || plan(x, 0) != plan(one, 0)
		}
		if !different {
			t.Errorf("%s: all keys have one order", m)
		}
		seen := make(map[string]bool)
		for turn := range uint64(7) {
			_, who := first(new(Planner), nil, g, v, Draw{Turn: turn, Traits: &Traits{}})
			seen[who] = true
		}
		if len(seen) != 7 {
			t.Errorf("%s: calls without a key go to %d of 7 in 7 turns", m, len(seen))
		}
	}
}

// Score is what the order goes by: whoever has the lowest is first.
func TestK27_ScoreIsTheOrder(t *testing.T) {
	for _, weights := range [][]int{{1, 1, 1, 1}, {4, 1, 7, 2}} {
		table := compile(t, poolDocument(HashCallID, weights...))
		g, v := table.Group("pool"), NewView(table)
		for _, k := range keysOf(500) {
			key, _ := g.KeyHash(k)
			plan := Plan(nil, g, "dallas", v, Draw{Traits: k})
			for i := 1; i < len(plan); i++ {
				if v.Score(plan[i-1].Member, nil, key) > v.Score(plan[i].Member, nil, key) {
					t.Fatalf("%s: %s has a higher score than %s", order(plan), plan[i-1].Member.ID, plan[i].Member.ID)
				}
			}
		}
	}
}

// C-02: Kamailio takes the hash modulo all members, those that are down too, and walks on
// to the next one: all calls of one that is down go to its neighbour. Its set is its list
// from the end.
func TestC02_K10_HashModWalks(t *testing.T) {
	table := compile(t, poolDocument(HashMod, 1, 1, 1, 1))
	g, v := table.Group("pool"), NewView(table)
	if g.Key != KeyCallID {
		t.Fatalf("it goes by %s", g.Key)
	}
	for _, k := range keysOf(200) {
		n := int(KamailioHash(k.CallID, nil) % 4)
		want := make([]string, 4)
		for i := range want {
			want[i] = fmt.Sprintf("m%d", 3-(n+i)%4)
		}
		for down := -1; down < 4; down++ {
			for i := range v.States {
				v.States[i] = Active
			}
			left := want
			if down >= 0 {
				v.States[down] = Down
				left = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == fmt.Sprintf("m%d", down) })
			}
			var got []string
			for _, c := range Plan(nil, g, "dallas", v, Draw{Traits: k}) {
				if c.Dialable {
					got = append(got, c.Member.ID)
				}
			}
			if !slices.Equal(got, left) {
				t.Fatalf("%s with m%d down: %v, want %v", k.CallID, down, got, left)
			}
		}
	}
}
