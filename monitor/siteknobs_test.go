package monitor

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-25: a site is drained by its own nodes, without a quorum; its members get no calls wherever they are looked at, and all of it ends.
func TestDEC25_DrainSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 2, nil)
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		wait(5 * time.Second)
		if _, err := c.nodes[2].DrainSite("dallas", true, "ann", ""); !errors.Is(err, ErrOtherSite) {
			t.Errorf("by another site: %v", err)
		}
		if _, err := c.nodes[0].DrainSite("houston", true, "ann", ""); !errors.Is(err, ErrNoSite) {
			t.Errorf("no such site: %v", err)
		}
		if _, err := c.nodes[0].DrainSite("dallas", true, "ann", "flood"); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		for _, n := range c.nodes {
			b := n.Board()
			if k := b.Drained["dallas"]; k.Author != "ann" || k.Reason != "flood" {
				t.Errorf("%s: %+v", n.name, k)
			}
			for _, s := range b.Members {
				want := trunkgroup.Active
				if s.Member.Site == "dallas" {
					want = trunkgroup.Draining
				}
				if s.State != want || n.view().States[s.Member.Index] != want {
					t.Errorf("%s: %s is %s, want %s", n.name, s.Member.Key, s.State, want)
				}
			}
			c.probes(n.name)
		}
		if _, err := c.nodes[2].DrainSite("ashburn", true, "ann", ""); !errors.Is(err, ErrLastSite) {
			t.Errorf("the last site: %v", err)
		}
		wait(9 * time.Minute)
		if _, err := c.nodes[1].Renew(verdict.DrainOf("dallas")); err != nil {
			t.Error(err)
		}
		wait(9 * time.Minute) // past the first life
		if n := c.nodes[2]; n.Board().Drained["dallas"].Author != "ann" || n.state("g1/dallas-0") != "draining" {
			t.Error("a renewed word ended")
		}
		wait(2 * time.Minute)
		for _, n := range c.nodes {
			if len(n.Board().Drained) != 0 || n.state("g1/dallas-0") != "active" {
				t.Errorf("%s: drained past its life", n.name)
			}
		}
		if _, err := c.nodes[0].Renew(verdict.DrainOf("dallas")); !errors.Is(err, ErrNoKnob) {
			t.Errorf("nothing to renew: %v", err)
		}
	})
}

// A site whose peer cannot be reached is not drained: nobody would take its calls.
func TestDrainSiteWantsAPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 1, 1, nil), "dallas-1", "ashburn-1")
		c.setLive("dallas-1")
		if _, err := c.nodes[0].DrainSite("dallas", true, "ann", ""); !errors.Is(err, ErrLastSite) {
			t.Errorf("%v", err)
		}
		if _, err := c.nodes[0].DrainSite("dallas", false, "ann", ""); err != nil {
			t.Errorf("an undrain is always possible: %v", err)
		}
	})
}

// DEC-25: a weight holds beside a state, on all nodes and over a restart, and is taken back by 0.
func TestDEC25_Weight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 2, func(d *trunkgroup.Document) { d.TrunkGroups[1].Distribution.Method = trunkgroup.Weighted })
		c := newCluster(t, table, "dallas-1", "ashburn-1")
		wait(5 * time.Second)
		file := filepath.Join(t.TempDir(), "knobs.json")
		n := c.newNode("dallas-2", func(cfg *Config) { cfg.KnobFile = file })
		c.nodes = append(c.nodes, n)
		c.setLive("dallas-1", "ashburn-1", "dallas-2")
		n.Start()
		n.SetTable(table)
		wait(5 * time.Second)
		for _, x := range []struct {
			member string
			weight int
			want   error
		}{{"g1/ashburn-0", 5, ErrOtherSite}, {"g1/x", 5, ErrNoMember}, {"g0/dallas-0", 5, ErrWeight}, {"g1/dallas-0", -1, ErrWeight}, {"g1/dallas-0", 9e6, ErrWeight}} {
			if _, err := n.SetWeight(x.member, x.weight, "ann", ""); !errors.Is(err, x.want) {
				t.Errorf("%s %d: %v, want %v", x.member, x.weight, err, x.want)
			}
		}
		if _, err := n.SetWeight("g1/dallas-0", 5, "ann", "half broken"); err != nil {
			t.Fatal(err)
		}
		if _, err := n.SetState("g1/dallas-0", trunkgroup.AdminDraining, "bob", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := n.SetState("g1/dallas-0", trunkgroup.AdminUp, "bob", ""); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		index := table.Member("g1/dallas-0").Index
		for _, n := range c.nodes {
			if v := n.view(); v.Weights == nil || v.Weights[index] != 5 || v.States[index] != trunkgroup.Active {
				t.Errorf("%s: %v", n.name, v.Weights)
			}
		}
		n.Stop()
		wait(0)
		again := c.newNode("dallas-2", func(cfg *Config) { cfg.KnobFile = file })
		c.nodes[2] = again
		c.setLive("dallas-1", "ashburn-1", "dallas-2")
		again.Start()
		defer again.Stop()
		again.SetTable(table)
		if v := again.view(); v.Weights == nil || v.Weights[index] != 5 {
			t.Errorf("after a restart: %v", v.Weights)
		}
		if k := again.Knobs(); len(k) != 1 || k[0].Member != verdict.WeightOf("g1/dallas-0") || k[0].Weight != 5 || k[0].Author != "ann" {
			t.Errorf("%+v", k)
		}
		if _, err := again.SetWeight("g1/dallas-0", 0, "ann", ""); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		for _, n := range c.nodes {
			if v := n.view(); v.Weights != nil {
				t.Errorf("%s: taken back, and %v", n.name, v.Weights)
			}
		}
	})
}

// D6: a reload resets no health. Members that are the same after it keep their state, since when, and their failed probes; what an operator
// said of them stays; nobody is probed again at once.
func TestD6_ReloadKeepsHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 2, nil)
		c := newCluster(t, table, "dallas-1")
		n := c.nodes[0]
		c.set(func() { c.dead[addr("dallas", 1, 0)] = true })
		wait(40 * time.Second)
		if _, err := n.SetState("g1/dallas-1", trunkgroup.AdminDraining, "ann", "move"); err != nil {
			t.Fatal(err)
		}
		if got := n.state("g1/dallas-0"); got != "down" {
			t.Fatalf("before: %s", got)
		}
		before := n.Board()
		c.probes("dallas-1")
		for i := range 5 {
			// Another group before them, so that every index moves; a timer; a number.
			n.SetTable(tableOf(t, 2, 2, func(d *trunkgroup.Document) {
				extra := trunkgroup.GroupSpec{Name: "new", Role: trunkgroup.PSTNProvider, Members: []trunkgroup.MemberSpec{{ID: "x", Site: "dallas", Address: "192.0.2.200:5060"}}}
				d.TrunkGroups = slices.Insert(d.TrunkGroups, i%2, extra)
				d.TrunkGroups[len(d.TrunkGroups)-1].Timers.Ring = trunkgroup.Duration(time.Duration(20+i) * time.Second)
			}))
			after := n.Board()
			for _, s := range before.Members {
				now := after.Members[after.Table.Member(s.Member.Key).Index]
				if now.State != s.State || !now.Since.Equal(s.Since) || now.Reason != s.Reason || now.Knob != s.Knob || len(now.Targets) != len(s.Targets) ||
					now.Targets[0].Changes != s.Targets[0].Changes || !now.Targets[0].Probed.Equal(s.Targets[0].Probed) {
					t.Errorf("%s was %+v and is %+v", s.Member.Key, s, now)
				}
			}
		}
		synctest.Wait()
		if got := c.probes("dallas-1"); len(got) != 0 {
			t.Errorf("a reload probed %v at once", got)
		}
		wait(20 * time.Second)
		if got := n.state("g1/dallas-0"); got != "down" {
			t.Errorf("after: %s", got)
		}
	})
}
