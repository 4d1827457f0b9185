package cluster

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// victimEnv names the data directory for a child process that is to be killed.
const victimEnv = "TANDEM_TEST_VICTIM"

// TestAtRestVictim is the child of TestAtRest_KilledAtAnyTime: it seals a directory of the version before and
// then changes the cluster key as fast as it can, until it is killed.
func TestAtRestVictim(t *testing.T) {
	dir := os.Getenv(victimEnv)
	if dir == "" {
		t.Skip("runs as a child of another test")
	}
	// The cluster keys that the parent knows by the same names.
	v, err := openVault(dir, ring(t, "old"))
	must(t, err)
	s, err := openStore(dir, v, func(error) {})
	must(t, err)
	list, err := openSnapshots(s.dir, v, &Config{Logger: orSilent(nil)})
	must(t, errors.Join(err, s.inClear, list.reseal(s.dir), resealLKG(dir, v)))
	for {
		must(t, v.wrap(ring(t, "old", "new")))
		must(t, v.wrap(ring(t, "new")))
		must(t, v.wrap(ring(t, "old")))
	}
}

// "kill -9 at any point never loses the key": whenever a node dies while it seals an old directory or
// follows a change of the cluster key, everything is there at the next start.
func TestAtRest_KilledAtAnyTime(t *testing.T) {
	l := newLab(t, "dal-1")
	cfg := l.config("dal-1", t.TempDir())
	cfg.Keys = ring(t, "old")
	m := l.start(cfg)
	for i := range 5 {
		l.propose(m, secretDocument(i))
	}
	must(t, m.raft.do(func(r *raft.Raft) raft.Future { return r.Snapshot() }))
	l.propose(m, secretDocument(5))
	l.stop(m)
	inTheClear(t, cfg.DataDir, m.vault)
	whole := t.TempDir()
	must(t, os.CopyFS(whole, os.DirFS(cfg.DataDir)))
	want := contentOf(t, whole, ring(t, "old", "new"))

	rounds, sealed, kept := 30, 0, 0
	if testing.Short() {
		rounds = 5
	}
	random := rand.New(rand.NewPCG(7, 7))
	for range rounds {
		dir := t.TempDir()
		must(t, os.CopyFS(dir, os.DirFS(cfg.DataDir)))
		child := exec.Command(os.Args[0], "-test.run", "^TestAtRestVictim$")
		child.Env = append(os.Environ(), victimEnv+"="+dir)
		must(t, child.Start())
		wait := time.NewTimer(time.Duration(random.IntN(150)) * time.Millisecond)
		<-wait.C
		must(t, child.Process.Kill())
		_ = child.Wait() // it was killed
		if _, err := os.Stat(filepath.Join(dir, keyFile)); err == nil {
			kept++
		}
		if got := contentOf(t, dir, ring(t, "old", "new")); got != want {
			t.Fatalf("the directory holds\n%q\nwant\n%q", got, want)
		}
		if len(search(t, dir, hash)) == 0 {
			sealed++
		}
	}
	t.Logf("of %d killed, %d had a data key and %d had sealed all", rounds, kept, sealed)
}

// contentOf opens a data directory as a start does, and says what is in it.
func contentOf(t *testing.T, dir string, keys *keyring.Keyring) string {
	t.Helper()
	v, err := openVault(dir, keys)
	must(t, err)
	e, ok, err := loadLKG(dir, v)
	if must(t, err); !ok {
		t.Fatal("no last known good document")
	}
	var b strings.Builder
	b.Write(e.Document)
	// The log as it is on disk, before it is sealed by being opened.
	s := &store{dir: filepath.Join(dir, raftDir), vault: v}
	s.BoltStore, err = openBolt(filepath.Join(s.dir, logFile))
	must(t, err)
	first, last, err := s.bounds()
	must(t, err)
	for i := first; i <= last; i++ {
		var entry raft.Log
		must(t, s.GetLog(i, &entry))
		b.Write(entry.Data)
	}
	for _, key := range stableKeys {
		value, err := s.Get([]byte(key))
		must(t, err)
		b.Write(value)
	}
	must(t, s.Close())
	list, err := openSnapshots(s.dir, v, &Config{Logger: orSilent(nil)})
	must(t, err)
	metas, err := list.List()
	if must(t, err); len(metas) == 0 {
		t.Fatal("no snapshot")
	}
	_, r, err := list.Open(metas[0].ID)
	must(t, err)
	text, err := io.ReadAll(r)
	must(t, err)
	b.Write(bytes.TrimSpace(text))
	return b.String()
}
