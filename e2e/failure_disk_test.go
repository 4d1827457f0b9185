//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// diskSize holds what a node writes at its start and little more.
const diskSize = 4 << 20

// smallDisk stops a node and starts it with a disk of its own for its data.
func smallDisk(t testing.TB, n *tandem.Node) {
	t.Helper()
	dir := n.DataDir()
	n.Stop()
	saved := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(saved, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.Kill()
		// A node must not come back from an old copy of its disk.
		latest := filepath.Join(t.TempDir(), "data")
		err := errors.Join(os.CopyFS(latest, os.DirFS(dir)), syscall.Unmount(dir, syscall.MNT_DETACH), os.RemoveAll(dir))
		if err = errors.Join(err, os.CopyFS(dir, os.DirFS(latest)), n.Start()); err != nil {
			t.Error(err)
		}
		eventually(t, 30*time.Second, n.Name+" on its own disk again", n.Ready)
	})
	if err := os.CopyFS(dir, os.DirFS(saved)); err != nil {
		t.Fatal(err)
	}
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
}

// fill leaves no octet free on the disk of a directory; the file is returned.
func fillDisk(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// alarmed waits until a node tells of one of the alarms.
func alarmed(t testing.TB, n *tandem.Node, names ...string) {
	t.Helper()
	eventually(t, 30*time.Second, fmt.Sprint(n.Name, " tells of ", names), func() error {
		_, body, err := n.Get("/readyz?verbose")
		if err == nil && !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(body, name) }) {
			err = fmt.Errorf("%s", body)
		}
		return err
	})
}

// TestFailureMode16_DiskFullAndTornLog: a node whose disk is full says so and routes
// from memory, by the new table while its log has room in its file and out of the
// consensus when not; when there is room it is as the others. A node
// whose log is torn starts from its last known good table, says what to do, and is
// whole again after that. The others take changes all the time.
func TestFailureMode16_DiskFullAndTornLog(t *testing.T) {
	w := theWorld(t)
	n := w.follower(t, lab.Dallas2, lab.Dallas1)
	other := w.Node(lab.Ashburn1)
	t.Cleanup(func() {
		w.restoreDocument(t)
		w.settled(t)
	})
	smallDisk(t, n)
	w.settled(t)
	old, err := revisionOf(n)
	if err != nil {
		t.Fatal(err)
	}
	change := func(number string) {
		t.Helper()
		eventually(t, time.Minute, "a change at another node", func() error { return apply(other, withNumber(number)) })
		pstnCall(t, other, number, peer.Complete(0))
	}
	ballast := fillDisk(t, n.DataDir())
	const first, second = "+19725550180", "+19725550181"
	change(first)
	alarmed(t, n, "config_store", "config_save")
	pstnCall(t, n, acmeNumber, peer.Complete(0))
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	old = w.equalTables(t, old)
	pstnCall(t, n, first, peer.Complete(0))

	n.Kill()
	log := filepath.Join(n.DataDir(), "raft", "log.db")
	// The file grows ahead of what is in it: only a cut near its head is sure to be one.
	if err := os.Truncate(log, 10<<10); err != nil {
		t.Fatal(err)
	}
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "a start with a torn log", n.Ready)
	pstnCall(t, n, first, peer.Complete(0))
	alarmed(t, n, "config_store")
	change(second)
	if _, err := n.Command("cluster", "rejoin", "main"); err != nil {
		t.Fatal(err)
	}
	w.equalTables(t, old)
	pstnCall(t, n, second, peer.Complete(0))
}
