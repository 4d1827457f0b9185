//go:build e2e

package e2e

import (
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/wan"
)

// TestFailureMode12_PoorWAN hands calls off over a link with a round trip of 150 ms and 5 %
// loss: no node and no member is thought dead, and every call is answered once. A
// lost segment may cost so much time that the second node is asked (DEC-07).
func TestFailureMode12_PoorWAN(t *testing.T) {
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
