package monitor

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// K-27: a node that is started again while probes are paused goes on with what the others keep, although it has its targets before it hears of
// anybody; it says nothing of what it does not know.
func TestK27_RestartInAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const member = "g1/dallas-0"
		table := tableOf(t, 3, 2, nil)
		c := newCluster(t, table, "dallas-1", "dallas-2", "ashburn-1")
		c.set(func() { c.dead[addr("dallas", 1, 0)] = true })
		wait(20 * time.Second)
		owner, other := c.ownerOf(member)
		if _, err := other.PauseProbes("dallas", true, "ann", "x"); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		owner.Stop()
		c.setLive(other.name, "ashburn-1")
		wait(30 * time.Second)
		again := c.newNode(owner.name, func(cfg *Config) { cfg.Boot = 2 })
		c.nodes[slices.Index(c.nodes, owner)] = again
		again.Start()
		defer again.Stop()
		again.SetTable(table)
		wait(300 * time.Millisecond)
		// The state of the others comes with the first exchange, its age with it.
		other.mu.Lock()
		seen := len(other.boards)
		other.mu.Unlock()
		for _, n := range []*testNode{other, c.nodes[2]} {
			n.Monitor.mu.Lock()
			for key, own := range n.own {
				if own.last != nil {
					c.carry(n.name, again.name, func() { again.Receive(n.name, VerdictPrefix+key.String(), own.last.Append(nil), own.at) })
				}
			}
			knob, _ := n.knobs.Of(time.Now(), verdict.PauseOf("dallas"))
			payload := knob.Append(nil, time.Now())
			n.Monitor.mu.Unlock()
			again.Receive(n.name, KnobPrefix+knob.Member, payload, time.Now())
		}
		c.setLive("dallas-1", "dallas-2", "ashburn-1")
		wait(5 * time.Minute)
		for _, n := range []*testNode{again, other, c.nodes[2]} {
			if got := n.state(member); got != "down" {
				t.Errorf("%s believes %s", n.name, got)
			}
		}
		if h := other.history(member); slices.Contains(h[min(seen, len(h)-1):], "unknown") {
			t.Errorf("%s forgot what it knew: %v", other.name, h)
		}
	})
}

// DEC-12, DEC-13: what a node hears when it joins was said before: an operator's word ends when it ends at the others, and an old record is no
// verdict.
func TestDEC13_OldNewsAreOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 2, nil)
		c := newCluster(t, table, "dallas-1")
		n := c.nodes[0]
		said := time.Now()
		knob := verdict.Knob{Member: "g1/dallas-0", State: trunkgroup.AdminDraining, Author: "ann", Reason: "x", Version: 7, Node: "ashburn-1", Set: said, Expires: said.Add(8 * time.Minute)}
		payload := knob.Append(nil, said)
		record := verdict.Record{Key: verdict.Key{Member: "g1/ashburn-0"}, Node: "ashburn-1", Boot: 1, Seq: 1, State: trunkgroup.Down, Age: time.Second, Reason: "refused"}
		wait(5 * time.Minute)
		n.Receive("ashburn-1", KnobPrefix+knob.Member, payload, said)
		n.Receive("ashburn-1", VerdictPrefix+record.Key.String(), record.Append(nil), said)
		wait(time.Second)
		if got := n.state("g1/ashburn-0"); got != "unknown" {
			t.Errorf("a verdict of five minutes ago makes a member %s", got)
		}
		if got := n.state("g1/dallas-0"); got != "draining" {
			t.Errorf("the member is %s", got)
		}
		wait(3*time.Minute + time.Second)
		if got := n.state("g1/dallas-0"); got == "draining" {
			t.Errorf("the word holds %v, which was said for 8 minutes", time.Since(said))
		}
	})
}
