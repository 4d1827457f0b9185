//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// command runs a command at a node and wants it to succeed.
func command(t testing.TB, n *tandem.Node, args ...string) string {
	t.Helper()
	out, err := n.Command(args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// refusedCommand runs a command at a node and wants it to fail with these words.
func refusedCommand(t testing.TB, n *tandem.Node, words string, input []byte, args ...string) {
	t.Helper()
	if _, err := n.CommandInput(input, args...); err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("tandem %v at %s: %v, want %q", args, n.Name, err, words)
	}
}

// asBefore puts the shared document back where a test left another one.
func (w *world) asBefore(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		_, _ = w.Nodes[0].Command("config", "abandon", "--reason", "end of a test") // there may be no canary
		if r, err := revisionOf(w.Nodes[0]); err != nil || r.Document != fill(document) {
			w.restoreDocument(t)
		}
		w.settled(t)
	})
}

// TestD6_PlanApplyHistoryRollback takes a document through all that an operator
// does with one, each step at another node of the running cluster.
func TestD6_PlanApplyHistoryRollback(t *testing.T) {
	w := theWorld(t)
	w.asBefore(t)
	n := w.Node(lab.Dallas1)
	before, err := revisionOf(n)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
	}
	without := strings.Replace(fill(document), `numbers: ["+1214555010*"]`, `numbers: ["+1972555010*"]`, 1)
	plan := func(doc string) string {
		t.Helper()
		out, err := n.CommandInput([]byte(doc), "config", "plan", "-")
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	eventually(t, 10*time.Second, "a plan that knows the last calls", func() error {
		out := plan(without)
		for _, want := range []string{"number +1 -1", "added number +1972555010* (acme-in)", "would route differently", "to acme-in [dallas: dal-1 dal-2] [ashburn: ash-1 ash-2]", ": 404"} {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
				return fmt.Errorf("no %q in\n%s", want, out)
			}
		}
		return nil
	})
	if out := plan(before.Document); !strings.HasPrefix(out, "no change: ") {
		t.Errorf("a plan of what is in force: %s", out)
	}
	refusedCommand(t, w.Node(lab.Ashburn1), "trunk_groups[0].role: unknown role", []byte("cluster: main\nsites: [{name: dallas}]\ntrunk_groups: [{name: x, role: carrier}]\n"), "config", "plan", "-")

	expect := fmt.Sprintf("%d.%d", before.Generation, before.Revision)
	out, err := w.Node(lab.Ashburn2).CommandInput([]byte(without), "config", "apply", "-", "--author", "ann", "--reason", "moves to Dallas", "--expect", expect)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", out)
	after := w.equalTables(t, before)
	pstnCall(t, w.Node(lab.Ashburn1), acmeNumber, peer.Fails(404))
	refusedCommand(t, w.Node(lab.Dallas2), "was expected and", []byte(fill(document)), "config", "apply", "-", "--expect", expect)

	history := command(t, w.Node(lab.Witness1), "config", "history")
	if line := strings.SplitN(history, "\n", 3)[1]; !strings.Contains(line, "in force") || !strings.Contains(line, "ann") || !strings.Contains(line, "moves to Dallas") {
		t.Errorf("history at the witness:\n%s", history)
	}
	if out := command(t, w.Node(lab.Dallas2), "config", "diff", expect); !strings.Contains(out, "+1972555010*") {
		t.Errorf("diff: %s", out)
	}
	if out := command(t, w.Node(lab.Ashburn1), "config", "show", "--revision", expect); !strings.HasSuffix(out, before.Document) {
		t.Error("an old revision is not as it was")
	}
	command(t, w.Node(lab.Ashburn1), "config", "rollback", expect, "--reason", "calls fail")
	back := w.equalTables(t, after)
	if back.Document != before.Document {
		t.Error("a rollback is not octet for octet what was before")
	}
	pstnCall(t, n, acmeNumber, peer.Complete(0))
	out, err = n.CommandInput([]byte(back.Document), "config", "apply", "-", "--reason", "again")
	if err != nil || !strings.Contains(string(out), "nothing changed") {
		t.Errorf("the same document again: %s, %v", out, err)
	}
}

// canaryOf asks a node for the canary.
func canaryOf(n *tandem.Node) (c struct {
	Site   string
	Fallen string
	Nodes  []struct {
		Name     string
		FellBack bool `json:"fell_back"`
	}
}, err error,
) {
	out, err := n.Command("config", "canary", "-o", "json")
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	return c, err
}

// TestDEC25_Canary lets Ashburn try documents: one that is promoted, one under
// which calls fail, which its node leaves by itself and an operator takes back.
func TestDEC25_Canary(t *testing.T) {
	w := theWorld(t)
	w.asBefore(t)
	dallas, ashburn := w.Node(lab.Dallas1), w.Node(lab.Ashburn1)
	stage := func(doc []byte) {
		t.Helper()
		if _, err := dallas.CommandInput(doc, "config", "canary", "-", "--site", "ashburn", "--author", "ann", "--reason", "try"); err != nil {
			t.Fatal(err)
		}
	}
	first, err := revisionOf(dallas)
	if err != nil {
		t.Fatal(err)
	}
	stage(withNumber("+19725550177"))
	eventually(t, 10*time.Second, "the canary in Ashburn only", func() error {
		d, err := revisionOf(dallas)
		if err != nil {
			return err
		}
		a, err := revisionOf(ashburn)
		if err == nil && (d != first || a.Revision != first.Revision+1) {
			err = fmt.Errorf("Dallas has %d, Ashburn %d", d.Revision, a.Revision)
		}
		return err
	})
	pstnCall(t, ashburn, "+19725550177", peer.Complete(0))
	pstnCall(t, dallas, "+19725550177", peer.Fails(404))
	refusedCommand(t, dallas, "promote or abandon it first", []byte(fill(document)+"# later\n"), "config", "apply", "-")
	command(t, w.Node(lab.Dallas2), "config", "promote", "--reason", "works")
	promoted := w.equalTables(t, first)
	pstnCall(t, dallas, "+19725550177", peer.Complete(0))

	stage([]byte(strings.Replace(fill(document), `numbers: ["+1214555010*"]`, `numbers: ["+1972555010*"]`, 1)))
	eventually(t, time.Minute, "the way back of a node under whose canary calls fail", func() error {
		r := fromPSTN(ashburn, acmeNumber, peer.Fails(404))
		r.Calls = 12
		ended(t, time.Minute, startCall(t, r)) // how it ended does not matter: the node may be back by then
		c, err := canaryOf(ashburn)
		if err == nil && c.Fallen == "" {
			err = fmt.Errorf("%+v", c)
		}
		return err
	})
	pstnCall(t, ashburn, acmeNumber, peer.Complete(0))
	if out := command(t, ashburn, "config", "canary"); !strings.Contains(out, "went back") {
		t.Errorf("%s", out)
	}
	command(t, dallas, "config", "abandon", "--reason", "no calls")
	if r := w.equalTables(t, promoted); r.Document != promoted.Document {
		t.Error("after the canary the document is another one")
	}
}

// TestDEC14_BackupAndRestore takes a backup from the witness and restores it at
// another node: every node takes it, under a higher generation.
func TestDEC14_BackupAndRestore(t *testing.T) {
	w := theWorld(t)
	w.asBefore(t)
	before, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tandem.backup")
	command(t, w.Node(lab.Witness1), "config", "backup", file)
	if err := apply(w.Node(lab.Dallas2), withNumber("+19725550188")); err != nil {
		t.Fatal(err)
	}
	changed := w.equalTables(t, before)
	command(t, w.Node(lab.Ashburn2), "config", "restore", file, "--reason", "end-to-end test")
	r := w.equalTables(t, changed)
	if r.Document != before.Document || r.Generation != changed.Generation+1 {
		t.Errorf("%d.%d after %d.%d", r.Generation, r.Revision, changed.Generation, changed.Revision)
	}
}

// TestDEC25_SiteDrain drains Ashburn at a node of Dallas, which passes the order to
// one of Ashburn's: its calls are taken in Dallas, and its nodes are not ready.
func TestDEC25_SiteDrain(t *testing.T) {
	w := theWorld(t)
	ashburn, other := w.Node(lab.Ashburn1), w.Node(lab.Ashburn2)
	t.Cleanup(func() {
		command(t, ashburn, "site", "undrain", "ashburn")
		w.settled(t)
	})
	command(t, w.Node(lab.Dallas1), "site", "drain", "ashburn", "--author", "ann", "--reason", "flood in the basement")
	w.everywhere(t, "draining", "acme-in/ash-1", "acme-in/ash-2", "carrier-a/ash")
	for range 3 {
		r := recordOf(t, other, callID(t, pstnCall(t, other, acmeNumber, peer.Complete(0))))
		if !r.HandedOff || r.EgressSite != "dallas" {
			t.Errorf("a call in a drained site: %+v", r)
		}
	}
	if err := other.Ready(); err == nil || !strings.Contains(err.Error(), "ashburn is drained since") {
		t.Errorf("a node of a drained site is ready: %v", err)
	}
	refusedCommand(t, w.Node(lab.Dallas1), "no other site takes calls", nil, "site", "drain", "dallas", "--reason", "x")
	if out := command(t, w.Node(lab.Dallas2), "knob", "list"); !strings.Contains(out, "site:ashburn") || !strings.Contains(out, "flood in the basement") {
		t.Errorf("%s", out)
	}
}
