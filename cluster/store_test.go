package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// filled is a closed log with some entries; it returns its directory and file.
func filled(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	s, err := openStore(dir, vaultOf(t, dir), func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(20) {
		if err := s.StoreLog(&raft.Log{Index: i + 1, Term: 1, Data: bytes.Repeat([]byte{byte(i)}, 9000)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, raftDir, logFile)
}

// "restart recovers or refuses loudly": whatever was torn shows at the start, as an
// error and not as a fault of the process.
func TestTornStoreShowsAtTheStart(t *testing.T) {
	of, path := filled(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open := func(content []byte) error {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, raftDir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, raftDir, logFile), content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openStore(dir, vaultOf(t, of), func(error) {})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	if err := open(good); err != nil {
		t.Fatalf("a sound log: %v", err)
	}
	for _, n := range []int{100, 4096, 8192, 12288, 40960, 131072, 180000} {
		if err := open(good[:n]); !errors.Is(err, ErrStore) {
			t.Errorf("cut at %d of %d octets: %v", n, len(good), err)
		}
	}
	// A page of nonsense anywhere: an error, or no harm when nothing of it is in use.
	for at := 0; at < len(good); at += 4096 {
		bad := bytes.Clone(good)
		copy(bad[at:], bytes.Repeat([]byte{0xA5}, 4096))
		if err := open(bad); err != nil && !errors.Is(err, ErrStore) {
			t.Errorf("page %d: %v", at/4096, err)
		}
	}
}

// A node with a torn log takes calls from its last known good table, says what to do,
// and is whole again after a rejoin.
func TestTornStoreIsRejoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		for i := range 5 {
			v.propose(nodes["dal-1"], fmt.Sprint("document ", i))
		}
		kept := v.propose(nodes["dal-1"], "kept")
		time.Sleep(time.Second)
		d2 := nodes["dal-2"]
		v.stop(d2)
		path := filepath.Join(d2.cfg.DataDir, raftDir, logFile)
		if err := os.Truncate(path, 16384); err != nil {
			t.Fatal(err)
		}
		d2 = v.start(d2.cfg)
		nodes["dal-2"] = d2
		time.Sleep(5 * time.Second)
		if ok, why := d2.Ready(); !ok || d2.Table().Version() != kept {
			t.Errorf("ready %v (%s), table %v", ok, why, d2.Table())
		}
		if !alarmed(d2, AlarmStore) || d2.Status().Raft.Fault == "" {
			t.Errorf("alarms %v", d2.Status().Alarms)
		}
		if _, err := d2.Propose(t.Context(), Change{Document: []byte("x"), Author: "ann"}); !errors.Is(err, ErrNoLeader) {
			t.Errorf("a change on a node out of the consensus: %v", err)
		}
		next := v.propose(nodes["ash-1"], "next")
		if err := d2.Rejoin(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if d2.Table().Version() != next || len(d2.Status().Alarms) != 0 {
			t.Errorf("after the rejoin: %v, alarms %v", d2.Table().Version(), d2.Status().Alarms)
		}
		if _, err := os.Stat(filepath.Join(d2.cfg.DataDir, discardedDir, logFile)); err != nil {
			t.Errorf("the torn log was not put aside: %v", err)
		}
		v.endAll(nodes)
	})
}

// A disk that takes no writes: the node leaves the consensus and goes on with its
// table; the others go on with the log; when the disk is back so is the node.
func TestFullDiskLeavesTheConsensus(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		first := v.propose(nodes["dal-1"], "first")
		time.Sleep(time.Second)
		// The worst case: the leader's disk.
		full := nodes[nodes["dal-1"].Status().Raft.Leader]
		dir := filepath.Join(full.cfg.DataDir, raftDir)
		full.storeFailed(fmt.Errorf("%w: no space left on device", ErrStore))
		if err := os.Rename(dir, dir+".gone"); err != nil { // the disk is away: no try succeeds
			t.Fatal(err)
		}
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		s := full.Status()
		if ok, why := full.Ready(); !ok || !alarmed(full, AlarmStore) || s.Raft.State != raft.Shutdown.String() || full.Table().Version() != first {
			t.Errorf("ready %v (%s), alarms %v, raft %s", ok, why, s.Alarms, s.Raft.State)
		}
		other := nodes["ash-1"]
		if full == other {
			other = nodes["dal-1"]
		}
		second := v.propose(other, "second")
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir+".gone", dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		if got := full.Table().Version(); got != second || len(full.Status().Alarms) != 0 {
			t.Errorf("with the disk back: %v, want %v; alarms %v", got, second, full.Status().Alarms)
		}
		third := v.propose(full, "third")
		time.Sleep(time.Second)
		if got := other.Table().Version(); got != third {
			t.Errorf("%v, want %v", got, third)
		}
		v.endAll(nodes)
	})
}

// The same with a real disk, which fills up under raft's writes.
func TestFullDiskForReal(t *testing.T) {
	long(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("no file system of a fixed size without root: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := map[string]*member{}
		for _, n := range v.names {
			at := t.TempDir()
			if n == "dal-2" {
				at = dir
			}
			nodes[n] = v.start(v.config(n, at))
		}
		time.Sleep(10 * time.Second)
		first := v.propose(nodes["dal-1"], "first")
		time.Sleep(time.Second)
		full := nodes["dal-2"]
		if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 32<<20), 0o600); err == nil {
			t.Fatal("the disk is larger than it should be")
		}
		big := strings.Repeat("x", 1<<20)
		second := v.propose(nodes["ash-1"], "second"+big)
		time.Sleep(20 * time.Second)
		if ok, why := full.Ready(); !ok || !alarmed(full, AlarmStore) || full.Table().Version() != first {
			t.Errorf("ready %v (%s), alarms %v, table %v", ok, why, full.Status().Alarms, full.Table().Version())
		}
		for _, m := range nodes {
			if m != full && m.cfg.Node != "wit-1" && m.Table().Version() != second {
				t.Errorf("%s runs %v, want %v", m.cfg.Node, m.Table().Version(), second)
			}
		}
		if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		third := v.propose(nodes["ash-1"], "third")
		time.Sleep(20 * time.Second)
		if got := full.Table().Version(); got != third || len(full.Status().Alarms) != 0 {
			t.Errorf("with room again: %v, want %v; alarms %v", got, third, full.Status().Alarms)
		}
		v.endAll(nodes)
	})
}

// A term that could not be written does not end the process, and no promise that was
// made with it leaves the node.
func TestUnwrittenTerm(t *testing.T) {
	dir, _ := filled(t)
	var told error
	s, err := openStore(dir, vaultOf(t, dir), func(err error) { told = err })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.SetUint64([]byte("CurrentTerm"), 7); err != nil || !errors.Is(told, ErrStore) {
		t.Errorf("raft is told %v, the node %v", err, told)
	}
	if err := s.SetUint64([]byte("LastVoteTerm"), 7); err == nil {
		t.Error("a vote that could not be written was kept")
	}

	f := &fence{met: func(Epoch) {}}
	f.open(Epoch{}, false)
	transport := &fencedTransport{fence: f, over: make(chan struct{})}
	answers := make(chan raft.RPCResponse, 1)
	transport.relay(raft.RPC{RespChan: answers}, func(rpc raft.RPC) {
		f.close(told)
		rpc.Respond(&raft.RequestVoteResponse{Granted: true}, nil)
	})
	if r := <-answers; r.Response != nil || !errors.Is(r.Error, ErrStore) {
		t.Errorf("a vote left the node: %+v", r)
	}
	for name, err := range map[string]error{
		"append":   transport.AppendEntries("", "", nil, nil),
		"vote":     transport.RequestVote("", "", nil, nil),
		"pre-vote": transport.RequestPreVote("", "", nil, nil),
	} {
		if !errors.Is(err, ErrStore) {
			t.Errorf("%s left the node: %v", name, err)
		}
	}
}

func TestFenceJudges(t *testing.T) {
	var met []Epoch
	f := &fence{met: func(e Epoch) { met = append(met, e) }}
	mine := Epoch{Number: 2, ID: "M"}
	f.open(mine, false)
	rpc := func(address string) any {
		return &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{Addr: []byte(address)}}
	}
	for address, ok := range map[string]bool{
		"10.0.0.1:7950\n2.M": true, "10.0.0.1:7950": false, "10.0.0.1:7950\n1.Z": false, "10.0.0.1:7950\n2.A": false,
		"10.0.0.1:7950\n2.Z": false, "10.0.0.1:7950\n3.": false, "x\n": false, "x\nx.y": false, "x\n2": false,
		"x\n3." + strings.Repeat("y", 100): false,
	} {
		if err := f.judge(rpc(address)); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
	if len(met) != 2 || f.count() != 9 {
		t.Errorf("met %v, refused %d", met, f.count())
	}
	f.open(Epoch{}, false)
	if err := f.judge(rpc("10.0.0.1:7950")); err != nil {
		t.Errorf("a build without epochs: %v", err)
	}
	f.open(Epoch{}, true)
	if err := f.judge(rpc("10.0.0.1:7950")); err != nil {
		t.Errorf("a blank node does not take the log: %v", err)
	}
	for _, vote := range []any{&raft.RequestVoteRequest{}, &raft.RequestPreVoteRequest{}, &raft.TimeoutNowRequest{}} {
		if err := f.judge(vote); !errors.Is(err, errBlank) {
			t.Errorf("a blank node takes %T: %v", vote, err)
		}
	}
	transport := &fencedTransport{fence: f}
	if err := transport.RequestVote("", "", nil, nil); !errors.Is(err, errBlank) {
		t.Errorf("a blank node stands for election: %v", err)
	}
	if got := transport.DecodePeer([]byte("10.0.0.1:7950\n2.M")); got != "10.0.0.1:7950" {
		t.Errorf("address %q", got)
	}
}

func FuzzNotice(f *testing.F) {
	f.Add([]byte(`{"epoch":{"number":1,"id":"x"},"adopt":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, ok := parseNotice(b); ok {
			if back, ok := parseTag(n.Epoch.tag()); !ok || back.Number != n.Epoch.Number || back.ID != n.Epoch.ID {
				t.Fatalf("%+v became %+v", n.Epoch, back)
			}
		}
	})
}

// Two voters: one comes back with an empty disk. The other one has everything and its
// vote is needed, so nobody waits for an operator.
func TestOneOfTwoVotersLosesItsDisk(t *testing.T) {
	l := newLab(t, "dal-1", "dal-2")
	d1, d2 := l.start(l.config("dal-1", t.TempDir())), l.start(l.config("dal-2", t.TempDir()))
	l.agree(l.propose(d1, "kept"), d1, d2)
	l.stop(d2)
	d2 = l.start(l.config("dal-2", t.TempDir()))
	l.agree(l.propose(d2, "next"), d1, d2)
}

// A single voter with a torn log: nobody else has it. The last known good document is
// what a recovery goes on from.
func TestSingleVoterWithATornLog(t *testing.T) {
	l := newLab(t, "dal-1")
	cfg := l.config("dal-1", t.TempDir())
	m := l.start(cfg)
	kept := l.propose(m, "kept")
	l.stop(m)
	if err := os.WriteFile(filepath.Join(cfg.DataDir, raftDir, logFile), bytes.Repeat([]byte("torn"), 9999), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.RecoverAfter = time.Millisecond
	m = l.start(cfg)
	if m.Table() == nil || m.Table().Version() != kept || !alarmed(m, AlarmStore) {
		t.Fatalf("table %v, alarms %v", m.Table(), m.Status().Alarms)
	}
	var report RecoveryReport
	eventually(t, "the recovery", func() (ok bool) {
		var err error
		report, err = m.Recover(t.Context(), order())
		return err == nil
	})
	if e, _ := m.Current(); report.Version.Generation != 2 || string(e.Document) != "kept" || len(m.Status().Alarms) != 0 {
		t.Errorf("%v %q, alarms %v", report.Version, e.Document, m.Status().Alarms)
	}
	l.propose(m, "next")
}
