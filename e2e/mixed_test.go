//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// errNoHistory says that the previous version cannot be built here.
var errNoHistory = errors.New("the history of the repository is not there: a full clone has it")

// previousBinary builds the version before this one from the history: the commit that
// the last line of testdata/previous names.
var previousBinary = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "previous"))
	if err != nil {
		return "", err
	}
	lines := strings.Fields(string(text))
	hash := lines[len(lines)-1]
	if exec.Command("git", "cat-file", "-e", hash+"^{commit}").Run() != nil {
		return "", fmt.Errorf("commit %s: %w", hash, errNoHistory)
	}
	source := filepath.Join(run.dir, "previous-source")
	if err := os.MkdirAll(source, 0o755); err != nil {
		return "", err
	}
	archive := exec.Command("git", "archive", hash)
	archive.Dir = ".."
	unpack := exec.Command("tar", "-x", "-C", source)
	if unpack.Stdin, err = archive.StdoutPipe(); err != nil {
		return "", err
	}
	if err := errors.Join(archive.Start(), unpack.Run(), archive.Wait()); err != nil {
		return "", fmt.Errorf("source of the previous version: %w", err)
	}
	binary := filepath.Join(run.dir, "tandem-previous")
	build := exec.Command("go", "build", "-o", binary, "./cmd/tandem")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the previous version: %w\n%s", err, bytes.TrimSpace(out))
	}
	return binary, os.RemoveAll(source)
})

// olderDocument is the shared document without what the previous version does not
// know: it is added when all nodes are upgraded (docs/upgrade.md).
func olderDocument() string {
	before, rest, _ := strings.Cut(document, "  - name: web-out\n")
	_, after, _ := strings.Cut(rest, "@registered@\n")
	return before + after
}

// upgrade drains a node of the previous version, or ends one that knows no drain, and
// starts this version in its place.
func (w *world) upgrade(t testing.TB, n *tandem.Node) {
	t.Helper()
	w.restart(t, n, func() {
		n.Binary = ""
		if err := n.Write(); err != nil {
			t.Fatal(err)
		}
	})
}

// across places calls at each node, and calls that only the other site can take, so
// that old and new nodes hand off to each other both ways.
func (w *world) across(t *testing.T) {
	t.Helper()
	for _, n := range w.SBCs() {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
	}
	for site, other := range map[string]string{lab.Dallas: lab.Ashburn, lab.Ashburn: lab.Dallas} {
		t.Run("hand-off to "+other, func(t *testing.T) {
			betaPBXs(t, other, answers())
			for _, n := range w.SBCs() {
				if n.Site == site {
					pstnCall(t, n, betaNumber, peer.Complete(0))
				}
			}
		})
	}
}

// TestFailureMode15_MixedVersions upgrades a cluster of the previous version node by node
// under calls that follow SRV records: none is lost. In between, nodes of both
// versions take calls, hand off to each other both ways, and agree on changes of
// the configuration made at either; and a node goes back to the previous version.
func TestFailureMode15_MixedVersions(t *testing.T) {
	old, err := previousBinary()
	if errors.Is(err, errNoHistory) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := rollingWorld(t, "mixed", olderDocument(), func(n *tandem.Node) { n.Binary = old })
	w.simulate(t, sim.Answers(50*time.Millisecond, 200*time.Millisecond))
	var c callers
	for _, site := range []string{lab.Dallas, lab.Ashburn} {
		c.start(t, pstnHost, sim.LoadConfig{
			CallerConfig: sim.CallerConfig{
				Name: "srv-" + site, Seed: seed(t), SetupTimeout: 20 * time.Second, NodeTimeout: 4 * time.Second,
				Nodes: srvNodes(w, site), SRV: true,
			},
			To: []string{acmeNumber}, Rate: 5, Hold: 500 * time.Millisecond, HoldMax: 2 * time.Second,
		})
	}
	w.across(t)
	for _, p := range []lab.Place{lab.Dallas1, lab.Ashburn1, lab.Witness1} {
		w.upgrade(t, w.Node(p))
	}
	t.Run("half and half", w.halfAndHalf)
	back := w.Node(lab.Ashburn1)
	w.restart(t, back, func() {
		back.Binary = old
		// It cannot read what this version has sealed (docs/upgrade.md).
		if err := errors.Join(os.Rename(back.DataDir(), back.DataDir()+".aside"), back.Write()); err != nil {
			t.Fatal(err)
		}
	})
	pstnCall(t, back, acmeNumber, peer.Complete(0))
	for _, p := range []lab.Place{lab.Ashburn1, lab.Dallas2, lab.Ashburn2} {
		w.upgrade(t, w.Node(p))
	}
	w.across(t)
	for _, r := range c.finish() {
		noneLost(t, r.Config.Name, r)
		t.Logf("%s: %d calls, %d failovers, %d lost", r.Config.Name, r.Counts.Started, r.Counts.Failovers, r.Counts.Failed)
	}
}

// halfAndHalf looks at a cluster of which one node in each site is upgraded.
func (w *world) halfAndHalf(t *testing.T) {
	w.settled(t)
	w.across(t)
	r, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range []lab.Place{lab.Dallas1, lab.Dallas2} { // one of each version
		changed := strings.Replace(fill(olderDocument()), "cluster: main", "cluster: mixed", 1)
		changed = strings.Replace(changed, `"+1214555010*"`, fmt.Sprintf(`"+1214555010*", "+1972555017%d"`, i), 1)
		if err := apply(w.Node(p), []byte(changed)); err != nil {
			t.Fatal(err)
		}
		r = w.equalTables(t, r)
	}
	// A draining node passes its calls to the sibling of the other version.
	one := w.Node(lab.Dallas1)
	if _, err := one.Command("node", "drain", "--stay"); err != nil {
		t.Fatal(err)
	}
	eventually(t, drainCeiling, "phase 2", func() error {
		phase, _, err := drainState(one)
		if err == nil && phase != "passing" {
			err = fmt.Errorf("it is %s", phase)
		}
		return err
	})
	recordOf(t, w.Node(lab.Dallas2), callID(t, pstnCall(t, one, acmeNumber, peer.Complete(0))))
	if _, err := one.Command("node", "drain", "--undrain"); err != nil {
		t.Fatal(err)
	}
}
