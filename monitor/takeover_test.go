package monitor

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
)

// ownerOf returns the node that probes a member and another one of its site.
func (c *testCluster) ownerOf(member string) (owner, other *testNode) {
	owner, other = c.nodes[0], c.nodes[1]
	if verdict.Owner(owner.nodes, owner.site, member) != owner.name {
		owner, other = other, owner
	}
	return owner, other
}

// DEC-13: a prober that dies and is started again inherits what the survivor found until its own first result, and no reader goes back to
// what its old boot said.
func TestDEC13_ProberReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const member = "g1/dallas-2"
		table := tableOf(t, 4, 5, nil)
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		wait(5 * time.Second)
		owner, other := c.ownerOf(member)
		// It dies while the member lives, and the member dies afterwards.
		c.set(func() { c.cut[owner.name] = true })
		owner.Stop()
		c.setLive(other.name, "ashburn-1")
		wait(5 * time.Second)
		c.set(func() { c.dead[addr("dallas", 1, 2)] = true })
		wait(15 * time.Second)
		if got := other.state(member); got != "down" {
			t.Fatalf("the survivor believes %s", got)
		}
		// The same node under the next boot number.
		again := c.newNode(owner.name, func(cfg *Config) { cfg.Boot = 2 })
		c.nodes[slices.Index(c.nodes, owner)] = again
		c.set(func() { delete(c.cut, owner.name) })
		again.Start()
		defer again.Stop()
		// It hears what the others keep before it hears that all live, as a node that joins does.
		for _, n := range []*testNode{other, c.nodes[2]} {
			n.mu.Lock()
			n.boards = n.boards[len(n.boards)-1:]
			n.mu.Unlock()
		}
		again.SetTable(table)
		for key := range other.own {
			if held, _ := other.store.Choose(time.Now(), key, other.name, &table.Member(key.Member).Group.Monitoring); held != nil {
				again.Receive(other.name, VerdictPrefix+key.String(), held.Append(nil), time.Now())
			}
		}
		c.probes(again.name)
		c.setLive("dallas-1", "dallas-2", "ashburn-1")
		wait(200 * time.Millisecond)
		if got := again.state(member); got != "down" {
			t.Errorf("the newcomer believes %s before its first result, want what it inherited", got)
		}
		wait(30 * time.Second)
		if c.probes(again.name)[member] == 0 {
			t.Error("the newcomer does not probe its member")
		}
		for _, n := range []*testNode{again, other, c.nodes[2]} {
			if h := n.history(member); h[len(h)-1] != "down" || slices.Contains(h, "active") {
				t.Errorf("%s: %v, want no step back to what the old boot said", n.name, h)
			}
			b := n.Board()
			if target := b.Members[table.Member(member).Index].Targets[0]; target.Observer != again.name {
				t.Errorf("%s follows %s, want the owner", n.name, target.Observer)
			}
		}
	})
}

// DEC-13: while the nodes of a site do not see each other, both probe and publish; a reader follows the one that its own live set names, and
// makes no third verdict of the two.
func TestDEC13_TwoObserversAreNotMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const member = "g1/dallas-2"
		c := newCluster(t, tableOf(t, 2, 5, nil), "dallas-1", "dallas-2", "ashburn-1")
		wait(5 * time.Second)
		owner, other := c.ownerOf(member)
		// The two no longer see each other; Ashburn still sees both.
		owner.SetNodes([]verdict.Node{{Name: owner.name, Site: "dallas"}, {Name: "ashburn-1", Site: "ashburn"}})
		other.SetNodes([]verdict.Node{{Name: other.name, Site: "dallas"}, {Name: "ashburn-1", Site: "ashburn"}})
		c.probes(other.name)
		wait(11 * time.Second)
		if c.probes(other.name)[member] == 0 {
			t.Fatal("the second node does not probe what it believes to be its own")
		}
		// The owner cannot reach the member any more, the other node can.
		c.set(func() { c.deaf[owner.name] = addr("dallas", 1, 2) })
		wait(30 * time.Second)
		for node, want := range map[*testNode]string{owner: "down", other: "active", c.nodes[2]: "down"} {
			if got := node.state(member); got != want {
				t.Errorf("%s believes %s, want %s", node.name, got, want)
			}
		}
		// Ashburn loses the owner: it follows the other one at once.
		c.nodes[2].SetNodes([]verdict.Node{{Name: other.name, Site: "dallas"}, {Name: "ashburn-1", Site: "ashburn"}})
		wait(100 * time.Millisecond)
		if got := c.nodes[2].state(member); got != "active" {
			t.Errorf("after the loss of the owner Ashburn believes %s", got)
		}
	})
}

// DEC-12: what keeps a node from doubting itself, and what then makes it doubt.
func TestDEC12_WhatIsNoIsolation(t *testing.T) {
	kill := func(c *testCluster, groups ...int) {
		c.set(func() {
			for _, g := range groups {
				for i := range 2 {
					c.dead[addr("dallas", g, i)] = true
				}
			}
		})
	}
	t.Run("a provider answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, tableOf(t, 5, 2, nil), "dallas-1")
			wait(5 * time.Second)
			kill(c, 1, 2, 3, 4)
			wait(20 * time.Second)
			if n := c.nodes[0]; n.Isolated() || n.state("g1/dallas-0") != "down" {
				t.Errorf("isolated %v, %s", n.Isolated(), n.state("g1/dallas-0"))
			}
		})
	})
	t.Run("two groups only", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, tableOf(t, 2, 2, nil), "dallas-1")
			wait(5 * time.Second)
			kill(c, 0, 1)
			wait(20 * time.Second)
			// Two groups are too few for isolation and all of the site: a panic.
			if n := c.nodes[0]; n.Isolated() || !n.view().Panic["dallas"] {
				t.Errorf("isolated %v, panic %v", n.Isolated(), n.view().Panic)
			}
		})
	})
	t.Run("one after the other", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, tableOf(t, 4, 2, nil), "dallas-1")
			wait(5 * time.Second)
			for g := range 4 {
				kill(c, g)
				wait(25 * time.Second)
			}
			if n := c.nodes[0]; n.Isolated() || n.view().Panic["dallas"] || n.state("g1/dallas-0") != "down" {
				t.Errorf("isolated %v, panic %v, %s", n.Isolated(), n.view().Panic, n.state("g1/dallas-0"))
			}
		})
	})
	t.Run("a peer node answers, then no more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, tableOf(t, 4, 2, nil), "dallas-1", "ashburn-1")
			wait(5 * time.Second)
			kill(c, 0, 1, 2, 3)
			wait(12 * time.Second)
			n := c.nodes[0]
			if n.Isolated() {
				t.Fatal("isolated with a peer node that answers")
			}
			n.SetPeers(false)
			if !n.Isolated() {
				t.Error("not isolated with nobody left who answers")
			}
			n.SetPeers(true)
			if n.Isolated() {
				t.Error("isolated although a peer node answers again")
			}
		})
	})
}
