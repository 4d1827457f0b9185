//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
)

// TestMonitoringSeesDeathAndReturn: a killed PBX goes down on all nodes of both
// sites, gets no calls, and comes back after two good answers (DEC-16). The exact
// times are tested in virtual time; here a generous ceiling holds.
func TestMonitoringSeesDeathAndReturn(t *testing.T) {
	w := theWorld(t)
	const victim = "acme-in/dal-1"
	t.Cleanup(func() { w.settled(t) })
	begin := time.Now()
	w.kill(t, victim)
	w.everywhere(t, "down", victim)
	t.Logf("down on all nodes after %v", time.Since(begin).Round(time.Millisecond))

	begin = time.Now()
	for range 4 {
		pstnCall(t, w.Node(lab.Dallas1), acmeNumber, peer.Complete(0))
	}
	if got := w.farEnds["acme-in/dal-2"].since(t, begin); len(got) != 4 {
		t.Errorf("the living PBX of the site got %d of 4 calls", len(got))
	}

	begin = time.Now()
	if err := w.farEnds[victim].start(answers()); err != nil {
		t.Fatal(err)
	}
	w.everywhere(t, "active", victim)
	t.Logf("active on all nodes after %v", time.Since(begin).Round(time.Millisecond))
	if n := len(peer.Received(messages(t, w.farEnds[victim].sipp), "OPTIONS")); n < 2 {
		t.Errorf("active after %d good answers, want two", n)
	}
}

// TestMonitoringCountsMissesNotCalls: a PBX that refuses calls with 503 and
// answers OPTIONS stays active (DEC-11).
func TestMonitoringCountsMissesNotCalls(t *testing.T) {
	w := theWorld(t)
	t.Cleanup(func() { w.settled(t) })
	w.play(t, rejects(503), acmeMembers[lab.Dallas]...)
	w.settled(t)
	for range 4 {
		pstnCall(t, w.Node(lab.Dallas1), acmeNumber, peer.Complete(0)) // answered in Ashburn
	}
	w.everywhere(t, "active", acmeMembers[lab.Dallas]...)
}
