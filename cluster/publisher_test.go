package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// "The shell publishes a table only if (generation, revision) > the running one. A
// different cluster id or a lower pair is refused" (DEC-14).
func TestDEC14_Decide(t *testing.T) {
	v := func(cluster string, generation, revision uint64) trunkgroup.Version {
		return trunkgroup.Version{Cluster: cluster, Generation: generation, Revision: revision}
	}
	for _, c := range []struct {
		running, offered trunkgroup.Version
		want             decision
	}{
		{trunkgroup.Version{}, v("test", 1, 1), publishIt},
		{v("test", 1, 4), v("test", 1, 5), publishIt},
		{v("test", 1, 4), v("test", 2, 1), publishIt},
		{v("test", 1, 4), v("test", 1, 4), alreadyRuns},
		{v("test", 1, 4), v("test", 1, 3), refuseLower},
		{v("test", 2, 1), v("test", 1, 9), refuseLower},
		{v("test", 1, 4), v("other", 9, 9), refuseForeign},
		{trunkgroup.Version{}, v("other", 1, 1), refuseForeign},
	} {
		if got := decide("test", c.running, c.offered); got != c.want {
			t.Errorf("running %v, offered %v: %d, want %d", c.running, c.offered, got, c.want)
		}
	}
}

// desk is a publisher with what it published.
type desk struct {
	*publisher
	published []trunkgroup.Version
}

func newDesk(t *testing.T, dir string) *desk {
	t.Helper()
	cfg := Config{Cluster: "test", DataDir: dir, Compile: compile, Logger: testLogger("desk")}
	cfg.Logger = orSilent(cfg.Logger)
	d := &desk{publisher: newPublisher(&cfg, vaultOf(t, dir), &alarms{})}
	d.tell = append(d.tell, func(t *trunkgroup.Table) { d.published = append(d.published, t.Version()) })
	return d
}

// take considers a document as the loop does.
func (d *desk) take(e fsm.Entry) { d.consider(&offer{Entry: e}, d.running.Version) }

func (d *desk) alarmed(name string) bool {
	for _, a := range d.alarms.list() {
		if a.Name == name {
			return true
		}
	}
	return false
}

func TestDEC14_Publisher(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.take(entry(1, 2, "two"))
	d.take(entry(1, 1, "replayed"))
	d.take(entry(1, 2, "two"))
	if len(d.published) != 1 || d.lower != 1 || len(d.alarms.list()) != 0 {
		t.Errorf("published %v, %d refused, alarms %v", d.published, d.lower, d.alarms.list())
	}
	foreign := entry(9, 9, "x")
	foreign.Version.Cluster = "other"
	d.take(foreign)
	if d.foreign != 1 || !d.alarmed(AlarmForeign) {
		t.Error("a document of another cluster raises no alarm")
	}
	d.take(entry(1, 2, "another document under the same version"))
	if !d.alarmed(AlarmLower) {
		t.Error("two histories raise no alarm")
	}
	d.take(entry(1, 3, "bad"))
	if !d.alarmed(AlarmCompile) || d.running.Version.Revision != 2 {
		t.Error("a document that does not compile replaced the running one")
	}
	d.take(entry(1, 4, "good again"))
	if d.alarmed(AlarmCompile) || len(d.published) != 2 || d.source != SourceRaft {
		t.Errorf("published %v from %s", d.published, d.source)
	}

	again := newDesk(t, dir)
	if err := again.load(); err != nil {
		t.Fatal(err)
	}
	again.start()
	again.close()
	if len(again.published) != 1 || again.published[0].Revision != 4 || again.source != SourceDisk {
		t.Errorf("a restart published %v from %s", again.published, again.source)
	}
}

func TestDEC14_ForeignDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	e := entry(1, 1, "x")
	e.Version.Cluster = "other"
	if err := saveLKG(dir, vaultOf(t, dir), &e); err != nil {
		t.Fatal(err)
	}
	if err := newDesk(t, dir).load(); err == nil {
		t.Error("the directory of another cluster was taken")
	}
}

func TestTableRunsThoughTheDiskFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	d := newDesk(t, dir)
	d.take(entry(1, 1, "x"))
	if len(d.published) != 1 || !d.alarmed(AlarmSave) || d.unsaved != 1 {
		t.Errorf("published %v, alarms %v", d.published, d.alarms.list())
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.take(entry(1, 2, "y"))
	if d.alarmed(AlarmSave) {
		t.Error("the alarm stays although the disk is back")
	}
}

func TestMachineHalts(t *testing.T) {
	var offered []offer
	var halted error
	m := newMachine("test", "dallas", func(o offer) { offered = append(offered, o) }, func(numbersOffer) {}, func(err error) { halted = err })
	set := func(document string) []byte {
		return (&fsm.Set{Cluster: "test", Document: []byte(document)}).Append(nil)
	}
	m.Apply(&raft.Log{Data: set("a")})
	m.Apply(&raft.Log{Data: set("a")})
	if len(offered) != 1 || halted != nil {
		t.Errorf("offered %d documents, halted: %v", len(offered), halted)
	}
	m.Apply(&raft.Log{Data: []byte{fsm.CommandVersion + 1, 1}})
	m.Apply(&raft.Log{Data: set("b")})
	if !errors.Is(halted, fsm.ErrHalted) || len(offered) != 1 {
		t.Errorf("offered %d documents, halted: %v", len(offered), halted)
	}
	if _, err := m.Snapshot(); err == nil {
		t.Error("a halted machine gave a snapshot")
	}
}
