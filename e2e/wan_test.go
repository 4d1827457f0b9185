//go:build e2e

package e2e

import (
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/wan"
)

// TestPoorWAN hands calls off over a link with a round trip of 150 ms and 5 %
// loss: no node and no member is thought dead, and every call is answered once. A
// lost segment may cost so much time that the second node is asked (DEC-07).
func TestPoorWAN(t *testing.T) {
	w := theWorld(t)
	link, _ := theLab(t).WAN(lab.Dallas, lab.Ashburn)
	link.Shape(wan.Both, func(s *wan.Shape) { s.Delay, s.Jitter, s.Loss = 75*time.Millisecond, 5*time.Millisecond, 0.05 })
	t.Cleanup(func() {
		link.Shape(wan.Both, func(s *wan.Shape) { s.Delay, s.Jitter, s.Loss = lab.WANDelay, 0, 0 })
		w.settled(t)
	})
	betaPBXs(t, lab.Ashburn, answers())
	for i := range 10 {
		n := w.SBCs()[i%2]
		tap := tapWAN(t)
		sent := pstnCall(t, n, betaNumber, peer.Complete(0))
		answeredThere(t, n, sent)
		asked := map[netip.Addr]int{}
		for _, invite := range tap.invites(t, lab.Dallas, lab.Ashburn) {
			asked[invite.To.Addr()]++
			if asked[invite.To.Addr()] > 1 {
				t.Errorf("%v was asked twice", invite.To.Addr())
			}
		}
		if len(asked) == 0 {
			t.Error("no INVITE was seen on the WAN")
		}
	}
	w.settled(t)
}

// TestHandoffIntoACutFailsFast: with the link down in one direction or both, a
// call that nobody of the site can take gets its 503 soon, not after timers.
func TestHandoffIntoACutFailsFast(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	link, there := theLab(t).WAN(lab.Dallas, lab.Ashburn)
	t.Cleanup(func() {
		link.Heal(wan.Both)
		w.settled(t)
	})
	betaPBXs(t, lab.Ashburn, answers())
	for name, d := range map[string]wan.Direction{"there": there, "back": wan.Both &^ there, "both ways": wan.Both} {
		t.Run(name, func(t *testing.T) {
			link.Cut(d)
			t.Cleanup(func() { link.Heal(wan.Both) })
			// The first call may meet the cut before the nodes know of it.
			begin := time.Now()
			pstnCall(t, n, betaNumber, peer.Fails(503))
			first := time.Since(begin)
			begin = time.Now()
			pstnCall(t, n, betaNumber, peer.Fails(503))
			second := time.Since(begin)
			t.Logf("503 after %v, then after %v", first.Round(time.Millisecond), second.Round(time.Millisecond))
			if first > maxPDD || second > 10*time.Second {
				t.Errorf("503 after %v and %v", first, second)
			}
		})
	}
}

// TestPausedNode stops a node's process for a while, as a hypervisor does: the
// other node of its site takes calls meanwhile, and the paused one works on.
func TestPausedNode(t *testing.T) {
	w := theWorld(t)
	paused, other := w.Node(lab.Dallas2), w.Node(lab.Dallas1)
	pid := paused.Pid()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn := func() {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(goOn)
	for end := time.Now().Add(6 * time.Second); time.Now().Before(end); {
		pstnCall(t, other, acmeNumber, peer.Complete(200*time.Millisecond))
	}
	goOn()
	w.settled(t)
	for _, n := range w.SBCs() {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
	}
}
