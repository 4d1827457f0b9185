//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/lab/wan"
)

// nodeList is what `tandem node list` says, as far as the tests read it.
type nodeList struct {
	Quorum bool   `json:"quorum"`
	Leader string `json:"leader"`
	Nodes  []struct {
		Name string `json:"name"`
		Up   bool   `json:"up"`
		Self bool   `json:"self"`
		Raft string `json:"raft"`
	} `json:"nodes"`
}

// nodesOf asks a node for its view of the cluster.
func nodesOf(n *tandem.Node) (nodeList, error) {
	var list nodeList
	out, err := n.Command("node", "list", "-o", "json")
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	return list, err
}

// sees waits until a node holds others to be up or lost.
func sees(t testing.TB, n *tandem.Node, up bool, others ...*tandem.Node) {
	t.Helper()
	eventually(t, 20*time.Second, fmt.Sprintf("%s sees the others up=%v", n.Name, up), func() error {
		m, err := n.Metrics()
		if err != nil {
			return err
		}
		for _, o := range others {
			if got := m.Sum("tandem_interconnect_peer_up", "peer="+o.Name) == 1; got != up {
				return fmt.Errorf("%s is up=%v", o.Name, got)
			}
		}
		return nil
	})
}

// TestFailureMode01_PartitionBothSitesAlive cuts the link between the sites; the
// witness is reachable from both. Each site routes by itself, a hand-off fails
// soon, and after the heal the configuration is equal, changed or not meanwhile.
func TestFailureMode01_PartitionBothSitesAlive(t *testing.T) {
	w := theWorld(t)
	link, _ := theLab(t).WAN(lab.Dallas, lab.Ashburn)
	t.Cleanup(func() {
		link.Heal(wan.Both)
		w.restoreDocument(t)
		w.settled(t)
	})
	old, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	near := w.Node(lab.Dallas1)
	if lab.NodeSite(lab.Place(w.leader(t))) == lab.Ashburn {
		near = w.Node(lab.Ashburn1)
	}
	link.Cut(wan.Both)
	for _, n := range w.SBCs() {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
	}
	sees(t, w.Node(lab.Dallas1), false, w.Node(lab.Ashburn1), w.Node(lab.Ashburn2))
	sees(t, w.Node(lab.Ashburn1), false, w.Node(lab.Dallas1), w.Node(lab.Dallas2))
	for _, n := range []*tandem.Node{w.Node(lab.Dallas1), w.Node(lab.Ashburn1)} {
		// Nobody answers at beta-in: two refusals, no hand-off, no wait.
		begin := time.Now()
		pstnCall(t, n, betaNumber, peer.Fails(503))
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("503 of %s after %v, although it knows the peer site away", n.Name, d)
		}
	}
	// A site and the witness are a majority: the leader's side takes a change.
	const number = "+19725550170"
	eventually(t, time.Minute, "a change where the leader can be reached", func() error { return apply(near, withNumber(number)) })
	link.Heal(wan.Both)
	w.equalTables(t, old)
	for _, n := range w.SBCs() {
		pstnCall(t, n, number, peer.Complete(0))
	}
}

// saysReadOnly waits until a node without quorum tells so, on its API and on its
// metrics page.
func saysReadOnly(t testing.TB, n *tandem.Node) {
	t.Helper()
	eventually(t, 30*time.Second, n.Name+" says that configuration is read-only", func() error {
		list, err := nodesOf(n)
		if err != nil {
			return err
		}
		m, err := n.Metrics()
		if err != nil {
			return err
		}
		if leader := m.Sum("tandem_raft_has_leader"); list.Quorum || leader != 0 {
			return fmt.Errorf("quorum %v, tandem_raft_has_leader %v", list.Quorum, leader)
		}
		return nil
	})
}

// TestFailureMode03_SplitBrainConfig: a site is cut off from the other one and from
// the witness. Calls go on in both; changes are taken where the majority is and
// nowhere else, and the cut site says that it is read-only; a node of it that is
// killed and started again routes at once; after the heal all tables are equal.
func TestFailureMode03_SplitBrainConfig(t *testing.T) {
	w := theWorld(t)
	l := theLab(t)
	w.settled(t)
	t.Cleanup(func() {
		l.HealSite(lab.Ashburn)
		w.restoreDocument(t)
		w.settled(t)
	})
	old, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	l.CutSite(lab.Ashburn)
	for _, n := range w.SBCs() {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
	}
	// Leadership may have to move to the side of the majority first.
	const number = "+19725550150"
	eventually(t, time.Minute, "a change on the majority's side", func() error {
		return apply(w.Node(lab.Dallas1), withNumber(number))
	})
	pstnCall(t, w.Node(lab.Dallas2), number, peer.Complete(0))
	if err := apply(w.Node(lab.Ashburn1), withNumber("+19725550151")); err == nil {
		t.Error("the cut site took a change without a majority")
	}
	saysReadOnly(t, w.Node(lab.Ashburn1))
	pstnCall(t, w.Node(lab.Ashburn1), number, peer.Fails(404))

	n := w.Node(lab.Ashburn2)
	n.Kill()
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "a restarted node without quorum", func() error { return n.Ready() })
	pstnCall(t, n, acmeNumber, peer.Complete(0))

	l.HealSite(lab.Ashburn)
	w.equalTables(t, old)
	pstnCall(t, n, number, peer.Complete(0))
}

// TestFailureMode05_CutLinkFailsFast: with the link down in one direction or both,
// both ends know it, and a call that nobody of the site can take gets its 503 soon,
// not after timers.
func TestFailureMode05_CutLinkFailsFast(t *testing.T) {
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
			sees(t, n, false, w.Node(lab.Ashburn1), w.Node(lab.Ashburn2))
			sees(t, w.Node(lab.Ashburn2), false, w.Node(lab.Dallas1), w.Node(lab.Dallas2))
			begin = time.Now()
			pstnCall(t, n, betaNumber, peer.Fails(503))
			second := time.Since(begin)
			t.Logf("503 after %v, then after %v", first.Round(time.Millisecond), second.Round(time.Millisecond))
			if first > maxPDD || second > 5*time.Second {
				t.Errorf("503 after %v and %v", first, second)
			}
		})
	}
}
