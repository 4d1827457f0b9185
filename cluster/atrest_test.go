package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/atrest"
	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// hash stands for what a document holds of a password.
const hash = "939e7578ed9e3c518a452acee763bce9"

// secretDocument is a document with a hash in it.
func secretDocument(i int) string { return fmt.Sprintf("document %d\nha1_md5: %s\n", i, hash) }

// search returns the files below a directory that hold a text.
func search(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func ring(t *testing.T, secrets ...string) *keyring.Keyring {
	t.Helper()
	var list [][]byte
	for _, s := range secrets {
		list = append(list, []byte("the cluster secret named "+s))
	}
	k, err := keyring.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Log, snapshots and last known good document of a node hold nothing of the document in
// clear, while it runs and after, and a node with another data key follows by log and by
// snapshot.
func TestAtRest_NothingInClear(t *testing.T) {
	l := newLab(t, "dal-1")
	m := l.start(l.config("dal-1", t.TempDir()))
	for i := range snapshotThreshold + trailingLogs + 10 {
		l.propose(m, secretDocument(i))
	}
	if err := m.raft.do(func(r *raft.Raft) raft.Future { return r.Snapshot() }); err != nil {
		t.Fatal(err)
	}
	last := l.propose(m, secretDocument(999))
	if found := search(t, m.cfg.DataDir, hash); len(found) > 0 {
		t.Errorf("in clear: %v", found)
	}
	l.add("dal-2")
	late := l.config("dal-2", t.TempDir())
	late.Voters = m.cfg.Voters
	second := l.start(late)
	l.agree(last, second)
	if got := inForce(second); got != secretDocument(999) || len(second.History()) < 2 {
		t.Errorf("the second node has %q and %d revisions", got, len(second.History()))
	}
	if found := search(t, late.DataDir, hash); len(found) > 0 {
		t.Errorf("in clear on the second node: %v", found)
	}
	l.stop(second)
	l.stop(m)
	again := l.start(m.cfg)
	if got := inForce(again); got != secretDocument(999) || len(again.Status().Alarms) > 0 {
		t.Errorf("after a restart: %q, alarms %v", got, again.Status().Alarms)
	}
	if found := search(t, m.cfg.DataDir, hash); len(found) > 0 {
		t.Errorf("in clear after a restart: %v", found)
	}
}

// inTheClear turns the data directory of a node into one of the version before there was a
// data key.
func inTheClear(t *testing.T, dir string, v *vault) {
	t.Helper()
	raftDir := filepath.Join(dir, raftDir)
	s, err := openStoreIn(raftDir, v, func(error) {})
	must(t, err)
	old, err := openBolt(filepath.Join(raftDir, "old.db"))
	must(t, err)
	for _, key := range stableKeys {
		if value, err := s.Get([]byte(key)); err == nil {
			must(t, old.Set([]byte(key), value))
		}
	}
	first, last, err := s.bounds()
	must(t, err)
	for i := first; i <= last; i++ {
		var entry raft.Log
		must(t, s.GetLog(i, &entry))
		must(t, old.StoreLog(&entry))
	}
	must(t, errors.Join(s.Close(), old.Close(), os.Rename(filepath.Join(raftDir, "old.db"), filepath.Join(raftDir, logFile))))

	sealed, err := openSnapshots(raftDir, v, &Config{Logger: orSilent(nil)})
	must(t, err)
	list, err := sealed.List()
	must(t, err)
	for _, meta := range list {
		_, r, err := sealed.Open(meta.ID)
		must(t, err)
		sink, err := sealed.SnapshotStore.Create(meta.Version, meta.Index, meta.Term, meta.Configuration, meta.ConfigurationIndex, addresses{})
		must(t, err)
		_, err = io.Copy(sink, r)
		must(t, errors.Join(err, sink.Close(), os.RemoveAll(filepath.Join(raftDir, "snapshots", meta.ID))))
	}
	for _, name := range []string{lkgFile, lkgPrevious} {
		e, err := loadFile(filepath.Join(dir, name), v)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), encodeLKG(&e), 0o600))
	}
	must(t, os.Remove(filepath.Join(dir, keyFile)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A directory of the version before is read, and sealed at the first start; what a crash of
// either version left behind does no harm.
func TestAtRest_UpgradeFromClear(t *testing.T) {
	l := newLab(t, "dal-1")
	cfg := l.config("dal-1", t.TempDir())
	m := l.start(cfg)
	for i := range 3 {
		l.propose(m, secretDocument(i))
	}
	must(t, m.raft.do(func(r *raft.Raft) raft.Future { return r.Snapshot() }))
	kept := l.propose(m, secretDocument(3))
	l.stop(m)
	inTheClear(t, cfg.DataDir, m.vault)
	// A log that was put aside.
	must(t, os.CopyFS(filepath.Join(cfg.DataDir, discardedDir), os.DirFS(filepath.Join(cfg.DataDir, raftDir))))
	// What crashes left.
	old := entry(1, 1, secretDocument(0))
	leftover := encodeLKG(&old)
	for _, name := range []string{"last-known-good.next", "last-known-good.next.tmp-77", "raft/log.db.sealing"} {
		must(t, os.WriteFile(filepath.Join(cfg.DataDir, name), leftover, 0o600))
	}
	if found := search(t, cfg.DataDir, hash); len(found) < 9 {
		t.Fatalf("the old directory holds it in %v", found)
	}

	again := l.start(cfg)
	if again.Table().Version() != kept || inForce(again) != secretDocument(3) {
		t.Errorf("the old directory gives %v, %q", again.Table().Version(), inForce(again))
	}
	if found := search(t, cfg.DataDir, hash); len(found) > 0 {
		t.Errorf("still in clear: %v", found)
	}
	l.propose(again, secretDocument(4))
	if n := len(again.History()); n != 5 || len(again.Status().Alarms) > 0 {
		t.Errorf("%d revisions, alarms %v", n, again.Status().Alarms)
	}
	l.stop(again)
	once := l.start(cfg)
	if inForce(once) != secretDocument(4) {
		t.Errorf("after another start: %q", inForce(once))
	}
}

// A damaged log of the version before, that was put aside, cannot be sealed: an alarm says
// so until it is removed.
func TestAtRest_DamagedLogInClearIsTold(t *testing.T) {
	l := newLab(t, "dal-1")
	cfg := l.config("dal-1", t.TempDir())
	must(t, os.MkdirAll(filepath.Join(cfg.DataDir, discardedDir), 0o700))
	must(t, os.WriteFile(filepath.Join(cfg.DataDir, discardedDir, logFile), bytes.Repeat([]byte("torn"), 9999), 0o600))
	m := l.start(cfg)
	if !alarmed(m, AlarmDataKey) {
		t.Error("no alarm")
	}
	l.stop(m)
	must(t, os.RemoveAll(filepath.Join(cfg.DataDir, discardedDir)))
	if m = l.start(cfg); alarmed(m, AlarmDataKey) {
		t.Errorf("alarms %v", m.Status().Alarms)
	}
}

// The envelope follows the ring, through a rotation and a restart, and a start without any
// of the secrets says what is missing.
func TestAtRest_RotationOfTheClusterKey(t *testing.T) {
	l := newLab(t, "dal-1")
	cfg := l.config("dal-1", t.TempDir())
	path := filepath.Join(cfg.DataDir, keyFile)
	opens := func(secrets ...string) bool {
		b, err := os.ReadFile(path)
		must(t, err)
		_, _, err = atrest.Unwrap(b, ring(t, secrets...))
		return err == nil
	}
	cfg.Keys = ring(t, "old")
	m := l.start(cfg)
	l.propose(m, secretDocument(1))
	id := m.vault.ID()
	for _, step := range [][]string{{"old", "new"}, {"new", "old"}, {"new"}} {
		must(t, m.SetKeys(ring(t, step...)))
		if !opens(step[0]) || opens("old") != (step[len(step)-1] == "old" || step[0] == "old") {
			t.Errorf("with %v: old opens %v, new opens %v", step, opens("old"), opens("new"))
		}
	}
	l.stop(m)

	cfg.Keys = ring(t, "old")
	_, err := New(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), ring(t, "new").Primary().String()) ||
		!strings.Contains(err.Error(), "add the missing key") {
		t.Errorf("with the old key: %v", err)
	}
	cfg.Keys = ring(t, "newest", "new")
	m = l.start(cfg)
	if inForce(m) != secretDocument(1) || m.vault.ID() != id || !opens("newest") {
		t.Errorf("with a newer key first: %q, data key %v", inForce(m), m.vault.ID())
	}
}

// While the envelope cannot be written the node runs on and says what must stay.
func TestAtRest_EnvelopeThatCannotBeWritten(t *testing.T) {
	l := newLab(t, "dal-1")
	m := l.start(l.config("dal-1", t.TempDir()))
	good := m.vault.path
	must(t, os.Remove(good))
	must(t, os.Mkdir(good, 0o700)) // no file takes a directory's place
	must(t, m.SetKeys(ring(t, "new")))
	if !alarmed(m, AlarmDataKey) {
		t.Error("no alarm")
	}
	must(t, os.Remove(good))
	// The node tries again by itself too, and may be about to say that its try failed.
	eventually(t, "the alarm is gone", func() bool { m.keepWrapped(); return !alarmed(m, AlarmDataKey) })
	if _, err := openVault(filepath.Dir(good), ring(t, "new")); err != nil {
		t.Error(err)
	}
}

// A key file that was lost is not replaced by a new one, which would open nothing.
func TestAtRest_LostDataKey(t *testing.T) {
	dir := t.TempDir()
	e := entry(1, 1, secretDocument(1))
	must(t, saveLKG(dir, vaultOf(t, dir), &e))
	b, err := os.ReadFile(filepath.Join(dir, keyFile))
	must(t, err)
	for name, damage := range map[string]func() error{
		"gone":    func() error { return os.Remove(filepath.Join(dir, keyFile)) },
		"damaged": func() error { return os.WriteFile(filepath.Join(dir, keyFile), b[:len(b)/2], 0o600) },
	} {
		must(t, damage())
		if _, err := openVault(dir, testKeys(t)); err == nil || !strings.Contains(err.Error(), keyFile) || !strings.Contains(err.Error(), "move") {
			t.Errorf("%s: %v", name, err)
		}
		if HasDocument(dir, testKeys(t)) {
			t.Errorf("%s: there is a document", name)
		}
	}
	logOnly := t.TempDir() // nor is one made over a log whose documents are gone
	must(t, os.Mkdir(filepath.Join(logOnly, raftDir), 0o700))
	must(t, os.WriteFile(filepath.Join(logOnly, raftDir, logFile), append(make([]byte, 5000), vaultOf(t, t.TempDir()).Seal("log", []byte("entry"))...), 0o600))
	if _, err := openVault(logOnly, testKeys(t)); err == nil || !strings.Contains(err.Error(), logFile) {
		t.Errorf("with a sealed log alone: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, keyFile), b, 0o600))
	if got, err := DocumentOf(dir, testKeys(t)); err != nil || string(got.Document) != secretDocument(1) {
		t.Errorf("read from the disk: %q, %v", got.Document, err)
	}
	if _, err := DocumentOf(t.TempDir(), testKeys(t)); !errors.Is(err, ErrNoDocument) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := DocumentOf(dir, ring(t, "another")); err == nil || !strings.Contains(err.Error(), "add the missing key") {
		t.Errorf("without the key: %v", err)
	}
	clear := t.TempDir()
	must(t, os.WriteFile(filepath.Join(clear, lkgFile), encodeLKG(&e), 0o600))
	if got, err := DocumentOf(clear, testKeys(t)); err != nil || string(got.Document) != secretDocument(1) {
		t.Errorf("of an older version: %q, %v", got.Document, err)
	}
	if !HasDocument(dir, testKeys(t)) || HasDocument(t.TempDir(), testKeys(t)) {
		t.Error("the document was not found")
	}
}

// Processes that start at once in a new directory agree on one key.
func TestAtRest_OneKeyPerDirectory(t *testing.T) {
	for range 20 {
		dir, keys := t.TempDir(), testKeys(t)
		ids := make([]atrest.ID, 8)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				v, err := openVault(dir, keys)
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = v.ID()
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Fatalf("keys %v", ids)
			}
		}
	}
}

// The cost of sealing: an entry with a large document, with what fsync costs beside it.
func BenchmarkStoreLog(b *testing.B) {
	dir := b.TempDir()
	s, err := openStore(dir, vaultOf(b, dir), func(error) {})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	document := bytes.Repeat([]byte("x"), 1<<20)
	for _, way := range []struct {
		name  string
		store func(*raft.Log) error
	}{{"sealed", s.StoreLog}, {"clear", s.BoltStore.StoreLog}} {
		b.Run(way.name, func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			for b.Loop() {
				if err := way.store(&raft.Log{Index: 1, Term: 1, Data: document}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
