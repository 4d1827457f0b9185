package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
)

// inForce is the document that a node routes from.
func inForce(m *member) string {
	e, _, _, _ := m.publisher.state()
	return string(e.Document)
}

func (v *virtual) want(nodes map[string]*member, sites map[string]string, when string) {
	v.t.Helper()
	for name, m := range nodes {
		if doc := sites[m.cfg.Site]; name != "wit-1" && inForce(m) != doc {
			v.t.Errorf("%s: %s routes from %q, want %q", when, name, inForce(m), doc)
		}
	}
}

// "Canary = a committed entry 'revision N for site X'; canary nodes fall back locally
// to N-1 on breach, promote is a second entry; no automatic global rollback" (DEC-25).
func TestDEC25_CanaryInACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		v.propose(nodes["dal-1"], "old")
		time.Sleep(time.Second)
		ctx := context.Background()
		a1, d1, d2 := nodes["ash-1"], nodes["dal-1"], nodes["dal-2"]
		change := Change{Document: []byte("new"), Author: "ann", Reason: "try"}
		if _, err := a1.Stage(ctx, "tokyo", change); err == nil || !strings.Contains(err.Error(), "tokyo") {
			t.Errorf("a canary in a site that does not exist: %v", err)
		}
		staged, err := a1.Stage(ctx, "dallas", change)
		if err != nil || staged.Revision != 2 {
			t.Fatalf("stage: %v, %v", staged, err)
		}
		time.Sleep(2 * time.Second)
		v.want(nodes, map[string]string{"dallas": "new", "ashburn": "old"}, "canary")
		c, ok := a1.Canary()
		if !ok || c.Site != "dallas" || len(c.Nodes) != 2 || c.Nodes[0].Running != staged || c.Nodes[0].FellBack || c.Author != "ann" {
			t.Errorf("the canary is %+v", c)
		}
		if _, err := d1.Propose(ctx, Change{Document: []byte("x"), Author: "bob"}); err == nil || !strings.Contains(err.Error(), "canary in site") {
			t.Errorf("a change while a canary runs: %v", err)
		}
		if err := a1.Breach("x"); !errors.Is(err, ErrNoCanary) {
			t.Errorf("a breach in the other site: %v", err)
		}

		// One node of the site finds harm, without a leader in reach.
		v.site("dal", true)
		time.Sleep(10 * time.Second)
		if err := d1.Breach("half of all calls fail"); err != nil {
			t.Fatal(err)
		}
		if inForce(d1) != "old" || inForce(d2) != "new" || !alarmed(d1, AlarmCanary) || d1.lastTable().Revision != 1 {
			t.Errorf("after the breach: %q and %q, alarms %v", inForce(d1), inForce(d2), d1.Status().Alarms)
		}
		v.stop(d1)
		d1 = v.start(d1.cfg)
		nodes["dal-1"] = d1
		v.site("dal", false)
		time.Sleep(20 * time.Second)
		if inForce(d1) != "old" || !alarmed(d1, AlarmCanary) {
			t.Errorf("after a restart the node routes from %q, alarms %v", inForce(d1), d1.Status().Alarms)
		}
		c, _ = a1.Canary()
		if len(c.Nodes) != 2 || !c.Nodes[0].FellBack || c.Nodes[1].FellBack {
			t.Errorf("the others see %+v", c.Nodes)
		}
		if c, _ = d1.Canary(); c.Fallen == nil || c.Fallen.Reason != "half of all calls fail" {
			t.Errorf("the node itself says %+v", c.Fallen)
		}

		promoted, err := a1.Promote(ctx, Decision{Revision: 2, Author: "bob"})
		if err != nil || promoted != staged {
			t.Fatalf("promote: %v, %v", promoted, err)
		}
		time.Sleep(2 * time.Second)
		v.want(nodes, map[string]string{"dallas": "new", "ashburn": "new"}, "promoted")
		if len(d1.Status().Alarms) != 0 {
			t.Errorf("alarms %v", d1.Status().Alarms)
		}

		// And one that is abandoned.
		if _, err := d2.Stage(ctx, "dallas", Change{Document: []byte("newer"), Author: "ann"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		v.want(nodes, map[string]string{"dallas": "newer", "ashburn": "new"}, "second canary")
		if _, err := d2.Promote(ctx, Decision{Revision: 9, Author: "bob"}); err == nil {
			t.Error("another revision was promoted")
		}
		v.stop(d2)
		d2 = v.start(d2.cfg)
		nodes["dal-2"] = d2
		time.Sleep(10 * time.Second)
		if inForce(d2) != "newer" || !d2.publisher.canary {
			t.Errorf("after a restart the canary's node routes from %q", inForce(d2))
		}
		if v, err := d2.Abandon(ctx, Decision{Author: "bob"}); err != nil || v.Revision != 4 {
			t.Fatalf("abandon: %v, %v", v, err)
		}
		time.Sleep(2 * time.Second)
		v.want(nodes, map[string]string{"dallas": "new", "ashburn": "new"}, "abandoned")
		if _, err := os.Stat(filepath.Join(d2.cfg.DataDir, canaryFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the mark stays: %v", err)
		}
		for i, state := range []fsm.RevisionState{fsm.Applied, fsm.Promoted, fsm.Abandoned, fsm.Applied} {
			if h := a1.History(); h[i].State != state {
				t.Errorf("revision %d is %v, want %v", i+1, h[i].State, state)
			}
		}
		v.endAll(nodes)
	})
}

// A leader proposes a canary only when every member knows what it is.
func TestCanaryNeedsEveryMember(t *testing.T) {
	l := newLab(t, "dal-1")
	m := l.start(l.config("dal-1", t.TempDir()))
	l.agree(l.propose(m, "old"), m)
	m.takeCensus(time.Now())
	if err := m.allSpeak(canaryProtocol); err != nil {
		t.Errorf("alone: %v", err)
	}
	if err := m.allSpeak(Protocol + 1); err == nil || !strings.Contains(err.Error(), "dal-1") {
		t.Errorf("a later protocol: %v", err)
	}
	m.census.seats["ash-9"] = seat{site: "ashburn", protocol: 1, build: "v0.1"}
	_, err := m.Stage(t.Context(), "dallas", Change{Document: []byte("new"), Author: "ann"})
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), `ash-9 runs build "v0.1"`) {
		t.Errorf("with an older node in the cluster: %v", err)
	}
}

// The publisher by itself: a breach without any knowledge of the cluster's document
// goes back to what ran before.
func TestDEC25_FallBackWithoutTheCluster(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.take(entry(1, 4, "old"))
	canary := offer{Entry: entry(1, 5, "new"), canary: true}
	d.consider(&canary, d.running.Version)
	again := newDesk(t, dir)
	if err := again.load(); err != nil || !again.canary || string(again.previous.Document) != "old" {
		t.Fatalf("a restart knows canary %v, before it %q, %v", again.canary, again.previous.Document, err)
	}
	again.start()
	defer again.close()
	if err := again.breach(fsm.Entry{}, "harm"); err != nil {
		t.Fatal(err)
	}
	if e, _, _, _ := again.state(); string(e.Document) != "old" {
		t.Errorf("back to %q", e.Document)
	}
	if err := again.breach(fsm.Entry{}, "harm"); !errors.Is(err, ErrNoCanary) {
		t.Errorf("a second breach: %v", err)
	}
	again.offer(canary)
	again.offer(offer{Entry: entry(1, 6, "old")})
	for {
		e, _, _, changed := again.state()
		if e.Version.Revision == 6 {
			break
		}
		<-changed
	}
	if again.alarmed(AlarmCanary) || again.fallback() != nil {
		t.Error("the alarm stays when the canary is over")
	}
}

func TestBackupAndRestore(t *testing.T) {
	l := newLab(t, "dal-1")
	m := l.start(l.config("dal-1", t.TempDir()))
	if _, _, err := m.Backup(); err == nil {
		t.Error("a backup of nothing")
	}
	for _, doc := range []string{"one", "two", "three"} {
		l.propose(m, doc)
	}
	file, info, err := m.Backup()
	if err != nil || info.Revision != 3 || info.Revisions != 3 || info.Node != "dal-1" {
		t.Fatalf("%+v, %v", info, err)
	}
	b, err := OpenBackup(file, testKeys(t))
	if err != nil || b.Info != info || len(b.History()) != 3 {
		t.Fatalf("%+v, %v", b, err)
	}

	// Into the same cluster: the old document, above everything.
	l.propose(m, "four")
	v, err := m.Restore(t.Context(), b, Restoration{Author: "ann", Reason: "four was wrong"})
	if err != nil || v.Generation != 2 || v.Revision != 5 || inForce(m) != "three" {
		t.Errorf("%v, %q, %v", v, inForce(m), err)
	}
	if v, err := m.Restore(t.Context(), b, Restoration{Revision: 1, Author: "ann"}); err != nil || v.Generation != 3 || inForce(m) != "one" {
		t.Errorf("revision 1: %v, %q, %v", v, inForce(m), err)
	}
	if _, err := m.Restore(t.Context(), b, Restoration{Revision: 9}); err == nil {
		t.Error("a revision that is not in the backup")
	}
	l.stop(m)

	// Into a cluster that was set up anew, with a document of its own.
	fresh := l.start(l.config("dal-1", t.TempDir()))
	l.propose(fresh, "made in haste")
	if v, err = fresh.Restore(t.Context(), b, Restoration{Author: "ann", Reason: "all disks were lost"}); err != nil || v.Generation != 2 {
		t.Fatalf("%v, %v", v, err)
	}
	var docs []string
	for _, r := range fresh.History() {
		docs = append(docs, string(r.Document))
	}
	// Revision 1 of the new cluster keeps its place; 2 and 3 of the old one come back.
	if got := strings.Join(docs, ", "); got != "made in haste, two, three, three" {
		t.Errorf("the history is %s", got)
	}
	other := l.config("dal-1", t.TempDir())
	l.stop(fresh)
	other.Cluster = "other"
	o := l.start(other)
	l.propose(o, "x")
	if _, err := o.Restore(t.Context(), b, Restoration{}); err == nil || !strings.Contains(err.Error(), `of cluster "test"`) {
		t.Errorf("a backup of another cluster: %v", err)
	}
}

// Without quorum a backup holds what this node knows.
func TestBackupOfTheLastKnownGood(t *testing.T) {
	l := newLab(t, "dal-1", "dal-2")
	d1, d2 := l.start(l.config("dal-1", t.TempDir())), l.start(l.config("dal-2", t.TempDir()))
	l.propose(d1, "one")
	l.agree(l.propose(d1, "two"), d1, d2)
	l.stop(d2)
	l.stop(d1)
	alone := l.start(d1.cfg)
	file, info, err := alone.Backup()
	if err != nil || info.Revision != 2 || info.Revisions != 1 {
		t.Fatalf("%+v, %v", info, err)
	}
	b, err := OpenBackup(file, testKeys(t))
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := b.Document(0); !ok || string(e.Document) != "two" {
		t.Errorf("it holds %q", e.Document)
	}
}

func backupOf(documents ...string) []byte {
	s := fsm.New("test")
	for _, d := range documents {
		s.Apply((&fsm.Set{Cluster: "test", Document: []byte(d)}).Append(nil))
	}
	body, _ := s.Snapshot()
	return encodeBackup(backupClear, []byte(`{"cluster":"test"}`), body)
}

// sealedBackupOf is backupOf as this build writes it.
func sealedBackupOf(t testing.TB, documents ...string) []byte {
	t.Helper()
	clear := backupOf(documents...)
	head := len(backupClear) + 1 + 4 + len(`{"cluster":"test"}`) + 1
	sealed, err := sealBackup(clear[head:len(clear)-sha256.Size], testKeys(t))
	if err != nil {
		t.Fatal(err)
	}
	return encodeBackup(backupMagic, []byte(`{"cluster":"test"}`), sealed)
}

// Who has the file and not the cluster key learns nothing from it.
func TestAtRest_BackupIsSealed(t *testing.T) {
	file := sealedBackupOf(t, secretDocument(1))
	if bytes.Contains(file, []byte(hash)) {
		t.Error("the backup holds the hash in clear")
	}
	if b, err := OpenBackup(file, testKeys(t)); err != nil || len(b.History()) != 1 {
		t.Errorf("opened: %v", err)
	}
	_, err := OpenBackup(file, ring(t, "another"))
	if !errors.Is(err, ErrBackupKey) || errors.Is(err, ErrBackup) || !strings.Contains(err.Error(), testKeys(t).Primary().String()) {
		t.Errorf("without the key: %v", err)
	}
}

func TestBackupIsChecked(t *testing.T) {
	for name, good := range map[string][]byte{"clear": backupOf("a", "b"), "sealed": sealedBackupOf(t, "a", "b")} {
		t.Run(name, func(t *testing.T) { checkBackup(t, good) })
	}
}

func checkBackup(t *testing.T, good []byte) {
	if _, err := OpenBackup(good, testKeys(t)); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := OpenBackup(bad, testKeys(t)); !errors.Is(err, ErrBackup) {
			t.Fatalf("octet %d changed: %v", i, err)
		}
		if _, err := OpenBackup(good[:i], testKeys(t)); !errors.Is(err, ErrBackup) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	if _, err := OpenBackup(backupOf(), testKeys(t)); !errors.Is(err, ErrBackup) {
		t.Errorf("without a document: %v", err)
	}
}

func FuzzBackup(f *testing.F) {
	f.Add(backupOf("a", "b"))
	f.Add(sealedBackupOf(f, "a", "b"))
	keys := testKeys(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, err := OpenBackup(b, keys); err == nil {
			if _, ok := x.Document(0); !ok {
				t.Fatal("a backup without a document was opened")
			}
		}
	})
}
