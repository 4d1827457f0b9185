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

// TestMonitoringReadsTheAnswer: any final but 408 and 503 means alive (DEC-16), in
// both directions; a PBX that takes calls and answers OPTIONS with 503 is down.
func TestMonitoringReadsTheAnswer(t *testing.T) {
	w := theWorld(t)
	const victim = "acme-in/ash-2"
	t.Cleanup(func() { w.settled(t) })
	play := func(options int) {
		t.Helper()
		if err := w.farEnds[victim].start(peer.CalleeOptions("options", options, peer.Accept(), peer.UntilBye())); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := w.farEnds[victim].start(answers()); err != nil {
			t.Error(err)
		}
	})
	for _, tc := range []struct {
		options int
		state   string
	}{{503, "down"}, {405, "active"}, {0, "down"}, {404, "active"}} {
		play(tc.options)
		w.everywhere(t, tc.state, victim)
	}
}

// TestOperatorTakesAMemberOut: a member that an operator disables gets no call
// in its site, and gets calls again when it is active.
func TestOperatorTakesAMemberOut(t *testing.T) {
	w := theWorld(t)
	n, other := w.Node(lab.Ashburn1), w.Node(lab.Ashburn2)
	const victim = "acme-in/ash-1"
	set := func(state string) {
		t.Helper()
		if _, err := n.Command("member", "set-state", victim, state, "--reason", "end-to-end test"); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		set("active")
		w.settled(t)
	})
	set("disabled")
	w.everywhere(t, "disabled", victim)
	begin := time.Now()
	for range 4 {
		pstnCall(t, other, acmeNumber, peer.Complete(0))
	}
	if got := w.farEnds[victim].since(t, begin); len(got) != 0 {
		t.Errorf("the disabled member got %d calls", len(got))
	}
	set("active")
	w.everywhere(t, "active", victim)
	for range 2 {
		pstnCall(t, other, acmeNumber, peer.Complete(0))
	}
	if got := w.farEnds[victim].since(t, begin); len(got) != 1 {
		t.Errorf("the member got %d of 2 calls after it was active again", len(got))
	}
}
