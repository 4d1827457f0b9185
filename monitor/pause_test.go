package monitor

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// K-27: "ping_active 0/1 (global pause)". No probe is sent by any node of the site, states stand still at all nodes for as long as it lasts, also
// when the node that had probed a member is lost, and all goes on when it ends.
func TestK27_PausedProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 3, 2, nil)
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		c.set(func() { c.dead[addr("dallas", 1, 0)] = true })
		wait(20 * time.Second)
		if _, err := c.nodes[2].PauseProbes("dallas", true, "ann", ""); !errors.Is(err, ErrOtherSite) {
			t.Errorf("by another site: %v", err)
		}
		if _, err := c.nodes[0].PauseProbes("dallas", true, "ann", "new firewall"); err != nil {
			t.Fatal(err)
		}
		wait(2 * time.Second)
		owner, other := c.ownerOf("g1/dallas-0")
		for _, n := range c.nodes {
			c.probes(n.name)
		}
		// The living dies and the dead comes back: nobody hears of it. A call that fails changes nothing either.
		c.set(func() { c.dead[addr("dallas", 1, 0)], c.dead[addr("dallas", 2, 0)] = false, true })
		still := func(nodes ...*testNode) {
			t.Helper()
			for _, n := range nodes {
				if down, up := n.state("g1/dallas-0"), n.state("g2/dallas-0"); down != "down" || up != "active" {
					t.Errorf("after %s %s believes %s and %s", time.Since(c.start), n.name, down, up)
				}
				if k := n.Board().Paused["dallas"]; k.Author != "ann" || k.Reason != "new firewall" {
					t.Errorf("%s: %+v", n.name, k)
				}
			}
		}
		other.Evidence(table.Member("g2/dallas-0"), addr("dallas", 2, 0), false, "refused")
		wait(3 * time.Minute)
		still(c.nodes...)
		c.set(func() { c.cut[owner.name] = true })
		c.setLive(other.name, "ashburn-1")
		wait(3 * time.Minute)
		still(other, c.nodes[2])
		if n := c.probes(other.name); len(n) != 0 {
			t.Errorf("probes while they are paused: %v", n)
		}
		if n := c.probes("ashburn-1"); len(n) != 6 {
			t.Errorf("the other site probes %v", n)
		}
		if _, err := other.PauseProbes("dallas", false, "ann", ""); err != nil {
			t.Fatal(err)
		}
		wait(25 * time.Second)
		for _, n := range []*testNode{other, c.nodes[2]} {
			if back, gone := n.state("g1/dallas-0"), n.state("g2/dallas-0"); back != "active" || gone != "down" || len(n.Board().Paused) != 0 {
				t.Errorf("%s believes %s and %s after the pause", n.name, back, gone)
			}
			for _, s := range n.history("g1/dallas-0") {
				if s == "unknown" && n.history("g1/dallas-0")[0] != s {
					t.Errorf("%s forgot what it knew: %v", n.name, n.history("g1/dallas-0"))
				}
			}
		}
	})
}

// A pause holds over a restart and ends by itself.
func TestK27_PauseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 1, 2, nil)
		c := newCluster(t, table, "ashburn-1")
		file := filepath.Join(t.TempDir(), "knobs.json")
		start := func() *testNode {
			n := c.newNode("dallas-1", func(cfg *Config) { cfg.KnobFile = file })
			n.Start()
			n.SetTable(table)
			return n
		}
		n := start()
		if _, err := n.PauseProbes("dallas", true, "ann", "x"); err != nil {
			t.Fatal(err)
		}
		n.Stop()
		c.probes("dallas-1")
		n = start()
		defer n.Stop()
		wait(9 * time.Minute)
		if sent := c.probes("dallas-1"); len(sent) != 0 || n.state("g0/dallas-0") != trunkgroup.Unknown.String() {
			t.Errorf("probes %v, state %s", sent, n.state("g0/dallas-0"))
		}
		wait(2 * time.Minute) // past the life of a knob in these tests
		if sent := c.probes("dallas-1"); len(sent) != 2 || n.state("g0/dallas-0") != "active" {
			t.Errorf("probes %v, state %s", sent, n.state("g0/dallas-0"))
		}
	})
}
