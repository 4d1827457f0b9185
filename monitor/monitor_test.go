package monitor

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// DEC-13: "Only nodes of a member's own site probe it", one node each, and all nodes of both sites agree on what it finds.
func TestDEC13_OneNodeProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 4, 5, nil), "dallas-1", "dallas-2", "ashburn-1")
		wait(9 * time.Second)
		c.set(func() { c.dead[addr("dallas", 1, 2)] = true })
		wait(10 * time.Second)
		one, two, ash := c.probes("dallas-1"), c.probes("dallas-2"), c.probes("ashburn-1")
		total := 0
		for _, byNode := range []map[string]int{one, two} {
			if len(byNode) == 0 {
				t.Error("a node of Dallas probes nothing")
			}
			for member, n := range byNode {
				if member[3:9] != "dallas" {
					t.Errorf("Dallas probes %s", member)
				}
				total += n
			}
		}
		// Twenty members twice; the dead one twice more at once, and five seconds after that.
		if total != 2*20+3 {
			t.Errorf("%d probes from Dallas", total)
		}
		for member := range ash {
			if member[3:10] != "ashburn" {
				t.Errorf("Ashburn probes %s", member)
			}
		}
		for _, n := range c.nodes {
			if got := n.state("g1/dallas-2"); got != "down" {
				t.Errorf("%s believes %s", n.name, got)
			}
			if got := n.state("g1/dallas-1"); got != "active" {
				t.Errorf("%s believes %s of a living member", n.name, got)
			}
			if got := n.history("g1/dallas-2"); !slices.Equal(got, []string{"unknown", "active", "trying", "down"}) {
				t.Errorf("%s: %v", n.name, got)
			}
		}
	})
}

// A killed far end is down on all nodes of both sites in the time that its profile gives, and back after its good answers.
func TestDEC16_AllNodesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 2, 2, nil), "dallas-1", "dallas-2", "ashburn-1", "ashburn-2")
		victim := addr("dallas", 1, 0)
		wait(5 * time.Second)
		c.set(func() { c.dead[victim] = true })
		expect := func(at time.Duration, state string) {
			t.Helper()
			wait(at - time.Since(c.start))
			for _, n := range c.nodes {
				if got := n.state("g1/dallas-0"); got != state {
					t.Errorf("at %v %s believes %s, want %s", at, n.name, got, state)
				}
			}
		}
		// Probed at 10, 11 and 12 s with 1 s patience each; 30 ms to the other nodes, boards at most 10 ms apart.
		expect(12900*time.Millisecond, "trying")
		expect(13050*time.Millisecond, "down")
		c.set(func() { c.dead[victim] = false })
		// While down every 5 s from the last probe on: 17 and 22 s, two good ones in a row.
		expect(22*time.Second, "probation")
		expect(22100*time.Millisecond, "active")
	})
}

// When a node dies its members move to a living one, which inherits what was known: no member is forgotten meanwhile.
func TestDEC13_TakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 4, 5, nil), "dallas-1", "dallas-2", "ashburn-1")
		wait(5 * time.Second)
		c.set(func() { c.dead[addr("dallas", 1, 2)] = true })
		wait(21 * time.Second)
		survivor := c.nodes[0]
		owner := verdict.Owner(survivor.nodes, "dallas", "g1/dallas-2")
		if owner == "dallas-1" {
			survivor = c.nodes[1]
		}
		c.set(func() { c.cut[owner] = true })
		c.probes(survivor.name)
		c.setLive(survivor.name, "ashburn-1")
		wait(500 * time.Millisecond)
		if got := c.probes(survivor.name); got["g1/dallas-2"] != 1 {
			t.Errorf("the survivor probes %v at once", got)
		}
		wait(time.Minute)
		for _, n := range []*testNode{survivor, c.nodes[2]} {
			if got := n.history("g1/dallas-2"); !slices.Equal(got, []string{"unknown", "active", "trying", "down"}) {
				t.Errorf("%s: %v", n.name, got)
			}
			for _, member := range []string{"g0/dallas-0", "g1/dallas-0", "g2/dallas-3", "g3/dallas-4"} {
				if got := n.history(member); !slices.Equal(got, []string{"unknown", "active"}) {
					t.Errorf("%s: %s went %v", n.name, member, got)
				}
			}
		}
	})
}

// A record that is not renewed stops to count after 2 x interval + timeout.
func TestDEC13_OldRecordsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 2, 1, nil), "dallas-1", "ashburn-1")
		wait(5 * time.Second)
		ash := c.nodes[1]
		if got := ash.state("g0/dallas-0"); got != "active" {
			t.Fatal(got)
		}
		c.set(func() { c.cut["dallas-1"] = true })
		wait(15 * time.Second)
		if got := ash.state("g0/dallas-0"); got != "active" {
			t.Errorf("after 20 s: %s", got)
		}
		wait(4 * time.Second)
		if got := ash.state("g0/dallas-0"); got != "unknown" {
			t.Errorf("after 24 s: %s", got)
		}
	})
}

// DEC-11: a call's evidence at a node that does not probe the member reaches the node that does, which probes at once.
func TestDEC11_EvidenceAtAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 2, nil)
		c := newCluster(t, table, "dallas-1", "dallas-2")
		wait(4 * time.Second)
		member := table.Member("g1/dallas-0")
		owner, other := c.nodes[0], c.nodes[1]
		if verdict.Owner(owner.nodes, "dallas", member.Key) != owner.name {
			owner, other = other, owner
		}
		c.probes(owner.name)
		other.Evidence(member, member.Addr, true, "")
		wait(time.Second)
		if got := c.probes(owner.name); len(got) != 0 {
			t.Errorf("good news cause probes: %v", got)
		}
		c.set(func() { c.code[member.Addr] = -1 })
		for range 100 {
			other.Evidence(member, member.Addr, false, "refused")
		}
		wait(200 * time.Millisecond)
		for _, n := range c.nodes {
			if got := n.state(member.Key); got != "down" {
				t.Errorf("%s believes %s 200 ms after a call was refused", n.name, got)
			}
		}
		other.RetryAfter(table.Member("g1/dallas-1"), addr("dallas", 1, 1), time.Minute)
		wait(200 * time.Millisecond)
		if got := other.state("g1/dallas-1"); got != "cooldown" {
			t.Errorf("after a Retry-After: %s", got)
		}
		if other.EvidenceLost() != 0 {
			t.Errorf("%d pieces of evidence lost", other.EvidenceLost())
		}
	})
}

// DEC-12: three groups silent at once, no peer node, no provider: the last verdicts stand as suspect, none is published.
func TestDEC12_IsolatedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 4, 2, nil), "dallas-1")
		n := c.nodes[0]
		c.set(func() { c.dead[addr("dallas", 3, 0)] = true })
		wait(35 * time.Second)
		c.set(func() { c.cut["dallas-1"] = true })
		wait(6500 * time.Millisecond)
		if since, lost := n.IsolatedSince(); !lost || since.After(time.Now()) || time.Since(since) > time.Minute {
			t.Errorf("isolated since %v, %v", since, lost)
		}
		if !n.Isolated() || !slices.Equal(n.isolated, []bool{true}) {
			t.Fatalf("isolated %v, told %v", n.Isolated(), n.isolated)
		}
		n.mu.Lock()
		published := n.published
		n.mu.Unlock()
		wait(time.Minute)
		n.mu.Lock()
		if n.published != published {
			t.Errorf("%d records were published while isolated", n.published-published)
		}
		n.mu.Unlock()
		if got := n.history("g1/dallas-0"); slices.Contains(got, "down") {
			t.Errorf("an isolated node believed %v", got)
		}
		if got := n.state("g3/dallas-0"); got != "down" {
			t.Errorf("what was down before is %s", got)
		}
		if b := n.Board(); !b.Members[b.Table.Member("g1/dallas-0").Index].Targets[0].Suspect {
			t.Error("the verdicts are not marked suspect")
		}
		c.set(func() { c.cut["dallas-1"] = false })
		wait(20 * time.Second)
		if n.Isolated() || n.state("g1/dallas-0") != "active" || n.state("g3/dallas-0") != "down" {
			t.Errorf("healed: %v, %s, %s", n.Isolated(), n.state("g1/dallas-0"), n.state("g3/dallas-0"))
		}
	})
}

// DEC-12: with a peer node that answers the verdicts are believed, and most members of the site going down together is a panic.
func TestDEC12_PanicNotIsolation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 4, 2, nil), "dallas-1", "ashburn-1")
		wait(5 * time.Second)
		c.set(func() {
			for g := range 4 {
				for i := range 2 {
					c.dead[addr("dallas", g, i)] = true
				}
			}
		})
		wait(15 * time.Second)
		for _, n := range c.nodes {
			if n.Isolated() {
				t.Errorf("%s is isolated", n.name)
			}
			if v := n.view(); !v.Panic["dallas"] || v.Panic["ashburn"] {
				t.Errorf("%s: panic %v", n.name, v.Panic)
			}
			if got := n.state("g1/dallas-0"); got != "down" {
				t.Errorf("%s believes %s", n.name, got)
			}
		}
		c.set(func() { clear(c.dead) })
		wait(15 * time.Second)
		if c.nodes[1].view().Panic["dallas"] {
			t.Error("panic after the heal")
		}
	})
}

// A reload resets no health, also for members that moved in the document.
func TestReloadKeepsHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 2, 2, nil), "dallas-1", "ashburn-1")
		c.set(func() { c.dead[addr("dallas", 1, 0)] = true })
		wait(14 * time.Second)
		second := tableOf(t, 3, 2, func(d *trunkgroup.Document) {
			slices.Reverse(d.TrunkGroups)
			slices.Reverse(d.TrunkGroups[1].Members)
		})
		for _, n := range c.nodes {
			b := n.SetTable(second)
			if b.Table != second || len(b.View.States) != len(second.Members()) {
				t.Fatal("the board is not of the new table")
			}
			if got := n.state("g1/dallas-0"); got != "down" {
				t.Errorf("%s: %s right after the reload", n.name, got)
			}
			if got := n.state("g0/ashburn-1"); got != "active" {
				t.Errorf("%s: %s of a living member right after the reload", n.name, got)
			}
		}
		wait(5 * time.Second)
		if got := c.nodes[1].state("g2/dallas-0"); got != "active" {
			t.Errorf("a new member is %s", got)
		}
	})
}

// DNS-03: each address of a member by name is probed; one that leaves the name is not, and nothing else changes.
func TestDNS03_EachAddressIsProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 1, 1, func(d *trunkgroup.Document) {
			m := &d.TrunkGroups[0].Members[0]
			m.Address, m.FQDN = "", "gw.example.com"
			d.TrunkGroups[0].Sources = []trunkgroup.SourceSpec{{IP: "10.0.0.0/8"}}
		})
		c := newCluster(t, table, "dallas-1")
		n := c.nodes[0]
		wait(time.Second)
		if got := len(n.view().Addrs[0]); got != 0 {
			t.Errorf("%d addresses before the name is resolved", got)
		}
		three := []netip.AddrPort{addr("dallas", 0, 1), addr("dallas", 0, 2), addr("dallas", 0, 3)}
		c.set(func() { c.dead[three[1]] = true })
		n.mu.Lock()
		n.addrs = three
		n.mu.Unlock()
		n.Resolved()
		wait(5 * time.Second)
		if v := n.view(); v.States[0] != trunkgroup.Active || !slices.Equal(v.Addrs[0], []netip.AddrPort{three[0], three[2]}) {
			t.Errorf("%v %v", v.States[0], v.Addrs[0])
		}
		n.mu.Lock()
		n.addrs = three[:2]
		n.mu.Unlock()
		n.Resolved()
		wait(time.Second)
		if v := n.view(); !slices.Equal(v.Addrs[0], three[:1]) {
			t.Errorf("%v", v.Addrs[0])
		}
	})
}

// An operator's word spreads to all nodes, survives the node where it was said and a restart, and ends after its life.
func TestDEC25_OperatorsWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 2, nil)
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		wait(5 * time.Second)
		if _, err := c.nodes[0].SetState("g1/nobody", trunkgroup.AdminDisabled, "ann", ""); !errors.Is(err, ErrNoMember) {
			t.Errorf("unknown member: %v", err)
		}
		if _, err := c.nodes[2].SetState("g1/dallas-0", trunkgroup.AdminDisabled, "ann", ""); !errors.Is(err, ErrOtherSite) {
			t.Errorf("a member of another site: %v", err)
		}
		knob, err := c.nodes[1].SetState("g1/dallas-0", trunkgroup.AdminDisabled, "ann", "ticket 7")
		if err != nil || knob.Version != 1 || c.nodes[1].state("g1/dallas-0") != "disabled" {
			t.Fatalf("%+v, %v", knob, err)
		}
		wait(time.Second)
		for _, n := range c.nodes {
			if got := n.state("g1/dallas-0"); got != "disabled" {
				t.Errorf("%s: %s", n.name, got)
			}
		}
		for _, n := range c.nodes {
			c.probes(n.name)
		}
		// The node where it was said dies; a new one learns the word from the others.
		c.set(func() { c.cut["dallas-2"] = true })
		c.nodes = append(c.nodes, c.newNode("dallas-3", nil))
		late := c.nodes[3]
		c.setLive("dallas-1", "ashburn-1", "dallas-3")
		late.Start()
		defer late.Stop()
		late.SetTable(table)
		wait(2 * time.Minute)
		if got := late.state("g1/dallas-0"); got != "disabled" {
			t.Errorf("a late node: %s", got)
		}
		wait(10 * time.Minute)
		for _, n := range []*testNode{c.nodes[0], c.nodes[2], late} {
			if got := n.state("g1/dallas-0"); got != "active" {
				t.Errorf("%s: %s after its life", n.name, got)
			}
		}
	})
}

func TestKnobsOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "knobs.json")
		keep := func(c *Config) { c.KnobFile = file }
		table := tableOf(t, 2, 1, nil)
		c := newCluster(t, table)
		open := func() *testNode {
			n := c.newNode("dallas-1", keep)
			n.Start()
			n.SetTable(table)
			return n
		}
		n := open()
		if _, err := n.SetState("g1/dallas-0", trunkgroup.AdminDraining, "ann", "move"); err != nil {
			t.Fatal(err)
		}
		n.Stop()
		n = open()
		if got := n.state("g1/dallas-0"); got != "draining" {
			t.Errorf("after a restart: %s", got)
		}
		if _, err := n.SetState("g1/dallas-0", trunkgroup.AdminUp, "ann", "done"); err != nil {
			t.Fatal(err)
		}
		n.Stop()
		n = open()
		wait(time.Second)
		if got := n.state("g1/dallas-0"); got != "active" {
			t.Errorf("taken back: %s", got)
		}
		n.Stop()
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		n = open()
		n.Stop()
		if _, err := os.Stat(file + ".damaged"); err != nil {
			t.Errorf("a damaged file is not kept: %v", err)
		}
	})
}

// What other nodes publish is read with care.
func TestReceiveRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 2, 1, nil), "ashburn-1")
		n := c.nodes[0]
		wait(time.Second)
		r := verdict.Record{Key: verdict.Key{Member: "g1/dallas-0"}, Node: "dallas-1", Boot: 1, Seq: 1, State: trunkgroup.Down}
		n.Receive("dallas-2", VerdictPrefix+"g1/dallas-0", r.Append(nil), time.Now()) // speaks for another
		n.Receive("dallas-1", VerdictPrefix+"g1/dallas-0", []byte("junk"), time.Now())
		n.Receive("dallas-1", "other/thing", r.Append(nil), time.Now())
		n.Receive("ashburn-1", VerdictPrefix+"g1/dallas-0", r.Append(nil), time.Now())
		n.Receive("dallas-1", KnobPrefix+"g1/dallas-0", []byte("junk"), time.Now())
		n.Frame("dallas-1", []byte("junk"))
		gone := r
		gone.Key.Member = "gone/member"
		n.Receive("dallas-1", VerdictPrefix+"gone/member", gone.Append(nil), time.Now())
		wait(2 * time.Second)
		if got := n.state("g1/dallas-0"); got != "unknown" {
			t.Errorf("believed %s", got)
		}
		n.Receive("dallas-1", VerdictPrefix+"g1/dallas-0", r.Append(nil), time.Now())
		wait(2 * time.Second)
		if got := n.state("g1/dallas-0"); got != "down" {
			t.Errorf("believed %s", got)
		}
	})
}

// The good news of ordinary calls cost a load and no allocation.
func BenchmarkEvidenceOK(b *testing.B) {
	m := &Monitor{evidence: make(chan observation, 1)}
	d := &trunkgroup.Document{
		Cluster: "bench", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{{
			Name: "g", Role: trunkgroup.PSTNProvider, Monitoring: trunkgroup.MonitoringSpec{Profile: "peeredge"},
			Members: []trunkgroup.MemberSpec{{ID: "m", Site: "dallas", Address: "10.0.0.1:5060"}},
		}},
	}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	m.flags.Store(newFlags(table))
	member := table.Members()[0]
	b.ReportAllocs()
	for b.Loop() {
		m.Evidence(member, member.Addr, true, "")
	}
}
