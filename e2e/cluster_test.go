//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// revision is what a node says of the table that it routes from.
type revision struct {
	Generation uint64 `json:"generation"`
	Revision   uint64 `json:"revision"`
	Document   string `json:"text"`
}

// revisionOf asks a node for its document and the revision of it.
func revisionOf(n *tandem.Node) (revision, error) {
	var r revision
	out, err := n.Command("config", "show", "-o", "json")
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("config show of %s: %w: %s", n.Name, err, out)
	}
	// A node knows a revision a moment before it routes by it.
	running, err := runningRevision(n)
	if err == nil && running < r.Revision {
		err = fmt.Errorf("%s knows revision %d and routes by %d", n.Name, r.Revision, running)
	}
	return r, err
}

// runningRevision asks a node for the revision by which it routes.
func runningRevision(n *tandem.Node) (uint64, error) {
	out, err := n.Command("node", "list", "-o", "json")
	if err != nil {
		return 0, err
	}
	var list struct {
		Nodes []struct {
			Self     bool   `json:"self"`
			Revision uint64 `json:"revision"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return 0, fmt.Errorf("node list of %s: %w: %s", n.Name, err, out)
	}
	for _, m := range list.Nodes {
		if m.Self {
			return m.Revision, nil
		}
	}
	return 0, fmt.Errorf("node list of %s does not hold the node itself: %s", n.Name, out)
}

// leader asks who leads.
func (w *world) leader(t testing.TB) string {
	t.Helper()
	out, err := w.Nodes[0].Command("node", "list", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Leader string `json:"leader"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	return list.Leader
}

// follower returns the first of the nodes that is not the leader. A test that
// compares what nodes hold before and after leaves the leader alone: leadership
// takes goroutines, and would move.
func (w *world) follower(t testing.TB, places ...lab.Place) *tandem.Node {
	t.Helper()
	leader := w.leader(t)
	for _, p := range places {
		if string(p) != leader {
			return w.Node(p)
		}
	}
	t.Fatalf("all of %v lead", places)
	return nil
}

// equalTables waits until all nodes route from the same table, newer than old,
// and returns its revision.
func (w *world) equalTables(t testing.TB, old revision) revision {
	t.Helper()
	var first revision
	eventually(t, time.Minute, "equal tables", func() error {
		for i, n := range w.Nodes {
			r, err := revisionOf(n)
			if err != nil {
				return err
			}
			if i == 0 {
				first = r
			}
			if r != first || r.Revision <= old.Revision && r.Generation <= old.Generation {
				return fmt.Errorf("%s has revision %d.%d, %s has %d.%d, before it was %d.%d", n.Name, r.Generation, r.Revision,
					w.Nodes[0].Name, first.Generation, first.Revision, old.Generation, old.Revision)
			}
		}
		return nil
	})
	return first
}

// withNumber is the shared document with one more number for acme.
func withNumber(number string) []byte {
	return []byte(strings.Replace(fill(document), `numbers: ["+1214555010*"]`, `numbers: ["+1214555010*", "`+number+`"]`, 1))
}

// apply changes the document at a node.
func apply(n *tandem.Node, document []byte) error {
	_, err := n.CommandInput(document, "config", "apply", "-", "--reason", "end-to-end test")
	return err
}

// TestConfigApplyOnAnyNodeReachesAll changes the document at each node in turn,
// the witness included, and calls the new number at another one.
func TestConfigApplyOnAnyNodeReachesAll(t *testing.T) {
	w := theWorld(t)
	t.Cleanup(func() { w.restoreDocument(t) })
	r, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range w.Nodes {
		number := fmt.Sprintf("+1972555010%d", i)
		if err := apply(n, withNumber(number)); err != nil {
			t.Fatal(err)
		}
		r = w.equalTables(t, r)
		pstnCall(t, w.SBCs()[(i+1)%4], number, peer.Complete(0))
	}
	t.Run("a faulty document is refused whole", func(t *testing.T) {
		if err := apply(w.Nodes[1], []byte("cluster: main\nsites: [{name: dallas}]\ntrunk_groups: [{name: x, role: carrier}]\n")); err == nil {
			t.Error("it was taken")
		}
		if now, err := revisionOf(w.Nodes[1]); err != nil || now != r {
			t.Errorf("revision %d.%d, %v; want %d.%d", now.Generation, now.Revision, err, r.Generation, r.Revision)
		}
	})
}

// restoreDocument puts the shared document back on all nodes.
func (w *world) restoreDocument(t testing.TB) {
	t.Helper()
	old, err := revisionOf(w.Nodes[0])
	if err == nil {
		err = poll(30*time.Second, func() error { return apply(w.Nodes[0], []byte(fill(document))) })
	}
	if err != nil {
		t.Error(err)
		return
	}
	w.equalTables(t, old)
}

// TestNodesKilledAndRestartedRouteAtOnce kills every node with -9 and starts one
// alone: it routes from its last known good table without any other (DEC-14).
func TestNodesKilledAndRestartedRouteAtOnce(t *testing.T) {
	w := theWorld(t)
	t.Cleanup(func() {
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		w.settled(t)
	})
	for _, n := range w.Nodes {
		n.Kill()
	}
	n := w.Node(lab.Dallas1)
	begin := time.Now()
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	ready(t, n.Place, n.UDP(), false)
	t.Logf("SIP open after %v", time.Since(begin).Round(time.Millisecond))
	pstnCall(t, n, acmeNumber, peer.Complete(0))
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	w.equalTables(t, revision{})
	w.settled(t)
	for _, n := range w.SBCs() {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
	}
}

// TestDeadPeerNodeCostsOneShortWait: with one node of the peer site killed, calls
// that must be handed off go to the other one (DEC-07, DEC-21).
func TestDeadPeerNodeCostsOneShortWait(t *testing.T) {
	w := theWorld(t)
	dead := w.Node(lab.Ashburn1)
	t.Cleanup(func() {
		if err := dead.Start(); err != nil {
			t.Fatal(err)
		}
		w.settled(t)
	})
	far := betaPBXs(t, lab.Ashburn, answers())
	dead.Kill()
	for i := range 4 {
		n := w.SBCs()[i%2]
		tap := tapWAN(t)
		sent := pstnCall(t, n, betaNumber, peer.Complete(0))
		handedOff(t, n, sent, tap.reaching(t, w.Node(lab.Ashburn2)))
	}
	if got := len(peer.Received(messages(t, far[0]), "INVITE")) + len(peer.Received(messages(t, far[1]), "INVITE")); got != 4 {
		t.Errorf("the PBXs got %d INVITEs, want 4", got)
	}
}

// TestSiteKilled kills both nodes of a site with -9, the leader's site if it can:
// calls and changes go on in the other one, a call that nobody there can take
// fails soon, and the site comes back.
func TestSiteKilled(t *testing.T) {
	w := theWorld(t)
	lost := []*tandem.Node{w.Node(lab.Ashburn1), w.Node(lab.Ashburn2)}
	if lab.NodeSite(lab.Place(w.leader(t))) == lab.Dallas {
		lost = []*tandem.Node{w.Node(lab.Dallas1), w.Node(lab.Dallas2)}
	}
	var left []*tandem.Node
	for _, n := range w.SBCs() {
		if n.Site != lost[0].Site {
			left = append(left, n)
		}
	}
	old, err := revisionOf(left[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		w.restoreDocument(t)
		w.settled(t)
	})
	for _, n := range lost {
		n.Kill()
	}
	for _, n := range left {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
		begin := time.Now()
		pstnCall(t, n, betaNumber, peer.Fails(503))
		if d := time.Since(begin); d > 10*time.Second {
			t.Errorf("503 after %v with the peer site dead", d)
		}
	}
	const number = "+19725550160"
	eventually(t, time.Minute, "a change with two of five voters gone", func() error { return apply(left[0], withNumber(number)) })
	eventually(t, 20*time.Second, "the change at the other node", func() error {
		r, err := revisionOf(left[1])
		if err == nil && r.Revision <= old.Revision {
			err = errNotYet
		}
		return err
	})
	pstnCall(t, left[1], number, peer.Complete(0))
	for _, n := range lost {
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
	}
	w.equalTables(t, old)
	w.settled(t)
	pstnCall(t, lost[0], number, peer.Complete(0))
}
