package monitor

import (
	"testing"
	"testing/synctest"
	"time"
)

// DEC-25: a site that is drained takes its own calls while no other site does: both
// were drained at one moment behind each other's back, or the other one is gone. When
// another one takes calls again the operator's word holds again.
func TestDEC25_DrainedSiteThatIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, tableOf(t, 2, 2, nil), "dallas-1", "ashburn-1")
		dallas, ashburn := c.nodes[0], c.nodes[1]
		wait(5 * time.Second)
		expect := func(when, dallasState, ashburnState string, nodes ...*testNode) {
			t.Helper()
			wait(2 * time.Second)
			for _, n := range nodes {
				if d, a := n.state("g1/dallas-0"), n.state("g1/ashburn-0"); d != dallasState || a != ashburnState {
					t.Errorf("%s: to %s dallas is %s and ashburn %s", when, n.name, d, a)
				}
			}
		}
		if _, err := dallas.DrainSite("dallas", true, "ann", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := ashburn.DrainSite("ashburn", true, "bob", ""); err != nil {
			t.Fatal("the word of the other site came at once:", err)
		}
		expect("both drained", "active", "active", dallas, ashburn)
		if b := dallas.Board(); len(b.Drained) != 0 || b.Needed["dallas"].Author != "ann" || b.Needed["ashburn"].Author != "bob" {
			t.Errorf("drained %v, needed %v", b.Drained, b.Needed)
		}
		if _, err := ashburn.DrainSite("ashburn", false, "bob", ""); err != nil {
			t.Fatal(err)
		}
		expect("one taken back", "draining", "active", dallas, ashburn)
		c.setLive("dallas-1")
		wait(2 * time.Second)
		if s := dallas.state("g1/dallas-0"); s != "active" {
			t.Errorf("without the other site the members are %s", s)
		}
		c.setLive("dallas-1", "ashburn-1")
		expect("healed", "draining", "active", dallas, ashburn)
	})
}
