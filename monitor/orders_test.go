package monitor

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// K-27, C4: "inactive" with probes is down until they are good, whichever node is told; the word ends then, at all nodes, and counts as no flap.
func TestK27_InactiveUntilProbesAreGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 2, nil)
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		wait(15 * time.Second)
		const member = "g1/dallas-0"
		_, other := c.ownerOf(member)
		if _, err := other.SetState(member, trunkgroup.AdminInactive, "ann", "looks odd"); err != nil {
			t.Fatal(err)
		}
		if got := other.state(member); got != "down" {
			t.Errorf("at once it is %s", got)
		}
		wait(time.Second)
		for _, n := range c.nodes {
			s := n.Board().Members[table.Member(member).Index]
			if s.State != trunkgroup.Down || s.Knob.Author != "ann" || s.Reason != "by an operator, until it answers probes: looks odd" {
				t.Errorf("%s: %s: %s", n.name, s.State, s.Reason)
			}
		}
		c.set(func() { c.dead[addr("dallas", 1, 0)] = true })
		wait(30 * time.Second)
		if got := other.state(member); got != "down" {
			t.Errorf("without good probes it is %s", got)
		}
		c.set(func() { c.dead[addr("dallas", 1, 0)] = false })
		wait(15 * time.Second)
		for _, n := range c.nodes {
			s := n.Board().Members[table.Member(member).Index]
			if s.State != trunkgroup.Active || s.Knob.Member != "" || n.state(member) != "active" || len(n.Knobs()) != 0 {
				t.Errorf("%s: %s: %s, knobs %v", n.name, s.State, s.Reason, n.Knobs())
			}
			if s.Targets[0].Flaps != 0 {
				t.Errorf("%s: %d flaps by an operator's word", n.name, s.Targets[0].Flaps)
			}
		}
	})
}

// The word holds when the node dies that should have carried it out, over a restart, and in panic.
func TestK27_InactiveOutlivesItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 1, nil)
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		wait(15 * time.Second)
		const member = "g1/dallas-0"
		owner, other := c.ownerOf(member)
		c.set(func() { c.cut[owner.name] = true })
		if _, err := other.SetState(member, trunkgroup.AdminInactive, "ann", ""); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		c.setLive(other.name, "ashburn-1")
		wait(2 * time.Second)
		for _, n := range []*testNode{other, c.nodes[2]} {
			if got := n.state(member); got != "down" && got != "probation" {
				t.Errorf("%s: %s", n.name, got)
			}
		}
		wait(20 * time.Second)
		for _, n := range []*testNode{other, c.nodes[2]} {
			if got := n.state(member); got != "active" || len(n.Knobs()) != 0 {
				t.Errorf("%s: %s after good probes, knobs %v", n.name, got, n.Knobs())
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 1, nil)
		c := newCluster(t, table, "ashburn-1")
		file := filepath.Join(t.TempDir(), "knobs.json")
		for range 2 {
			n := c.newNode("dallas-1", func(cfg *Config) { cfg.KnobFile = file })
			n.Start()
			n.SetTable(table)
			if len(n.Knobs()) == 0 {
				if _, err := n.SetState("g1/dallas-0", trunkgroup.AdminInactive, "ann", ""); err != nil {
					t.Fatal(err)
				}
			}
			if k := n.Knobs(); len(k) != 1 || k[0].State != trunkgroup.AdminInactive || n.state("g1/dallas-0") != "down" {
				t.Errorf("%v, %s", k, n.state("g1/dallas-0"))
			}
			n.Stop()
		}
	})
}

// K-27, C4: "trying" gives calls and probes at once, from zero failures; all members of a group are set by one order, and what makes no sense is
// refused.
func TestC04_TryingAndBulk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 3, func(d *trunkgroup.Document) {
			d.TrunkGroups[0].Monitoring = trunkgroup.MonitoringSpec{}
		})
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		c.set(func() { c.dead[addr("dallas", 1, 0)] = true })
		wait(20 * time.Second)
		owner, other := c.ownerOf("g1/dallas-0")
		c.probes(owner.name)
		if _, err := other.SetState("g1/dallas-0", trunkgroup.AdminTrying, "ann", ""); err != nil {
			t.Fatal(err)
		}
		wait(500 * time.Millisecond)
		if got := other.state("g1/dallas-0"); got != "trying" {
			t.Errorf("it is %s", got)
		}
		if n := c.probes(owner.name)["g1/dallas-0"]; n != 1 {
			t.Errorf("%d probes at once", n)
		}
		wait(5 * time.Second)
		if got := other.state("g1/dallas-0"); got != "down" {
			t.Errorf("after a cycle of failed probes it is %s", got)
		}
		list, err := other.SetStates("g1", trunkgroup.AdminDraining, "ann", "move")
		if err != nil || len(list) != 3 {
			t.Errorf("%v, %v", list, err)
		}
		wait(time.Second)
		for _, n := range c.nodes {
			if n.state("g1/dallas-2") != "draining" || n.state("g1/ashburn-2") != "active" || n.state("g0/dallas-2") != "active" {
				t.Errorf("%s: %s %s %s", n.name, n.state("g1/dallas-2"), n.state("g1/ashburn-2"), n.state("g0/dallas-2"))
			}
		}
		if list, err := other.SetStates("", trunkgroup.AdminUp, "ann", ""); err != nil || len(list) != 6 {
			t.Errorf("all of the site: %v, %v", list, err)
		}
		for _, x := range []struct {
			err  error
			want error
		}{
			{second(other.SetState("g0/dallas-0", trunkgroup.AdminInactive, "ann", "")), ErrNotProbed},
			{second(other.SetState("g0/dallas-0", trunkgroup.AdminTrying, "ann", "")), ErrNotProbed},
			{second(other.SetStates("g0", trunkgroup.AdminInactive, "ann", "")), ErrNotProbed},
			{second(other.SetStates("g7", trunkgroup.AdminUp, "ann", "")), ErrNoMember},
		} {
			if !errors.Is(x.err, x.want) {
				t.Errorf("%v, want %v", x.err, x.want)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
