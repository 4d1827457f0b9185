package trunkgroup

import (
	"testing"
	"time"
)

// A member that starts slowly has the part of its share that its ramp says, with every
// method that chooses among equals, and the others have the rest evenly.
func TestSlowStart(t *testing.T) {
	const calls = 40_000
	eachMethod(func(m Method, spec *DistributionSpec) {
		if m == HashMod || m == Parallel || m == Failover || m == CallLoad || m == HashTo || m == HashSourceIP {
			return // of one key there is one place; of one order one first
		}
		d := poolDocument(m, 1, 1, 1, 1)
		d.TrunkGroups[0].Distribution = *spec
		d.TrunkGroups[0].Distribution.SlowStart = Duration(time.Minute)
		table := compile(t, d)
		g, v := table.Group("pool"), NewView(table)
		v.Ramps = []uint8{0, 25, 100, 0}
		n := make(map[string]int)
		var p Planner
		var buffer []Candidate
		for i := range uint64(calls) {
			x := traitsOf(i)
			x.AuthUser, x.From, x.RequestUser, x.Caller, x.Called = x.CallID, x.CallID, x.CallID, x.CallID, x.CallID
			x.From = append([]byte("sip:u@"), x.CallID...)
			var who string
			buffer, who = first(&p, buffer, g, v, Draw{Turn: i, Random: mix(i), Traits: x})
			n[who]++
		}
		share := 0.25 / 4 // of the calls that would be its own
		if m.Weighs() {
			share = 0.25 / 3.25 // of all weights
		}
		within3Sigma(t, m.String()+" slow", n["m1"], calls, share)
		within3Sigma(t, m.String()+" other", n["m2"], calls, (1-share)/3)
	})
}

// A ramp moves only the keys of the member that has it: they come to it as it grows, and
// none goes to and fro between others.
func TestD01_SlowStartMovesOnlyItsKeys(t *testing.T) {
	keys := keysOf(20_000)
	d := poolDocument(HashCallID, 3, 1, 2)
	d.TrunkGroups[0].Distribution.SlowStart = Duration(time.Minute)
	table := compile(t, d)
	g, v := table.Group("pool"), NewView(table)
	v.Ramps = make([]uint8, 3)
	v.States[0] = Down
	before := mapOf(g, v, keys)
	v.States[0] = Active
	for _, ramp := range []uint8{1, 10, 33, 70, 99, 100} {
		v.Ramps[0] = ramp
		now := mapOf(g, v, keys)
		for i := range keys {
			if now[i] != before[i] && now[i] != "m0" {
				t.Fatalf("at %d %%: key %d moved from %s to %s", ramp, i, before[i], now[i])
			}
		}
		r := float64(ramp) * 3 / 100
		within3Sigma(t, "m0", count(now)["m0"], len(keys), r/(r+3))
		before = now
	}
}

// With failover the primary gets its part of the calls, and is still there for the rest.
func TestSlowStartOfAPrimary(t *testing.T) {
	d := poolDocument(Failover, 1, 1)
	d.TrunkGroups[0].Distribution.SlowStart = Duration(time.Minute)
	table := compile(t, d)
	v := NewView(table)
	v.Ramps = []uint8{40, 0}
	n := firsts(table.Group("pool"), v, 20_000)
	within3Sigma(t, "m0", n["m0"], 20_000, 0.4)
	if got := len(Plan(nil, table.Group("pool"), "dallas", v, Draw{Random: 1})); got != 2 {
		t.Errorf("%d candidates", got)
	}
}

// nodes that count alike choose alike, also while somebody starts slowly.
func TestSlowStartOfCallsThatStayTogether(t *testing.T) {
	d := poolDocument(LoadBalance, 1, 1, 1)
	d.TrunkGroups[0].Distribution.SlowStart = Duration(time.Minute)
	table := compile(t, d)
	g, v := table.Group("pool"), NewView(table)
	v.Ramps = []uint8{10, 0, 0}
	slow := 0
	for value := uint64(1); value <= 10_000; value++ {
		one := order(Plan(nil, g, "dallas", v, Draw{Affinity: value, Random: value}))
		if other := order(Plan(nil, g, "dallas", v, Draw{Affinity: value, Turn: 9, Random: value * 77})); one != other {
			t.Fatalf("value %d: %s and %s", value, one, other)
		}
		if one[:2] == "m0" {
			slow++
		}
	}
	within3Sigma(t, "m0", slow, 10_000, 0.1/3)
}
