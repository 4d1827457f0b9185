package monitor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// A member that was down has a tenth of its share when it comes back, and all of it when slow_start is over; one that was never down begins
// with all of it, and so does one that an operator took out and put back.
func TestSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 2, func(d *trunkgroup.Document) {
			d.TrunkGroups[1].Distribution.SlowStart = trunkgroup.Duration(90 * time.Second)
		})
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		ramp := func(n *testNode, member string) int {
			if v := n.view(); v.Ramps != nil {
				return int(v.Ramps[table.Member(member).Index])
			}
			return 0
		}
		wait(15 * time.Second)
		if _, err := c.nodes[0].SetState("g1/dallas-1", trunkgroup.AdminDraining, "ann", ""); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		if _, err := c.nodes[0].SetState("g1/dallas-1", trunkgroup.AdminUp, "ann", ""); err != nil {
			t.Fatal(err)
		}
		for g := range 2 {
			c.set(func() { c.dead[addr("dallas", g, 0)] = true })
		}
		wait(30 * time.Second)
		for _, n := range c.nodes {
			if v := n.view(); v.Ramps != nil {
				t.Errorf("%s: shares %v before anybody came back", n.name, v.Ramps)
			}
		}
		for g := range 2 {
			c.set(func() { c.dead[addr("dallas", g, 0)] = false })
		}
		for c.nodes[0].state("g1/dallas-0") != "active" {
			wait(100 * time.Millisecond)
		}
		wait(500 * time.Millisecond)
		for _, n := range c.nodes {
			if got := ramp(n, "g1/dallas-0"); got != 10 {
				t.Errorf("%s: the share is %d %% at first", n.name, got)
			}
			if ramp(n, "g1/dallas-1") != 0 || ramp(n, "g0/dallas-0") != 0 {
				t.Errorf("%s: who was not down, or is of another group, starts slowly", n.name)
			}
			if s := n.Board().Members[table.Member("g1/dallas-0").Index]; s.Ramp != 10 {
				t.Errorf("%s: people are shown %d %%", n.name, s.Ramp)
			}
		}
		n := c.nodes[0]
		n.mu.Lock()
		before := len(n.boards)
		n.mu.Unlock()
		last := 10
		for range 8 {
			wait(10 * time.Second)
			got := ramp(n, "g1/dallas-0")
			if got < last+9 || got > last+11 {
				t.Errorf("from %d %% to %d %% in ten of ninety seconds", last, got)
			}
			last = got
		}
		wait(12 * time.Second)
		if v := n.view(); v.Ramps != nil {
			t.Errorf("shares %v when all have theirs", v.Ramps)
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if made := len(n.boards) - before; made > 100 {
			t.Errorf("%d boards in 92 seconds", made)
		}
	})
}

// K-29: latencies are known at all nodes, calls by latency are planned anew only when one has changed.
func TestK29_LatencyAtAllNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 1, func(d *trunkgroup.Document) { d.TrunkGroups[1].Distribution.Method = trunkgroup.Latency })
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		wait(30 * time.Second)
		boards := make([]int, len(c.nodes))
		for i, n := range c.nodes {
			if got := n.view().Latency[table.Member("g1/dallas-0").Index]; got != delay {
				t.Errorf("%s: %s", n.name, got)
			}
			boards[i] = len(n.boards)
		}
		wait(time.Minute)
		for i, n := range c.nodes {
			if made := len(n.boards) - boards[i]; made != 0 {
				t.Errorf("%s: %d boards though nothing changed", n.name, made)
			}
		}
	})
}
