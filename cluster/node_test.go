package cluster

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestApplyOnAnyNodeReachesAll(t *testing.T) {
	l := newLab(t, "dal-1", "dal-2", "ash-1")
	var nodes []*member
	for _, n := range l.names {
		nodes = append(nodes, l.start(l.config(n, t.TempDir())))
	}
	for i, m := range nodes {
		v := l.propose(m, "doc-"+m.cfg.Node)
		if v.Revision != uint64(i+1) || v.Generation != 1 || v.Cluster != "test" {
			t.Errorf("change %d made %v", i+1, v)
		}
		if m.Table().Version() != v {
			t.Errorf("Propose returned before %s runs the change", m.cfg.Node)
		}
		l.agree(v, nodes...)
	}

	// Compare and set, on a node that does not lead.
	seen := uint64(1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, m := range nodes {
		_, err := m.Propose(ctx, Change{Document: []byte("late"), Author: "test", ExpectRevision: &seen})
		var conflict *fsm.ConflictError
		if !errors.As(err, &conflict) || conflict.Expected != 1 || conflict.Have.Revision != 3 {
			t.Errorf("%s: a change on an old revision: %v", m.cfg.Node, err)
		}
		if _, err := m.Propose(ctx, Change{Document: []byte("bad"), Author: "test"}); err == nil || !strings.Contains(err.Error(), "is bad") {
			t.Errorf("%s: a bad document: %v", m.cfg.Node, err)
		}
	}

	// The same intent twice is one change.
	for _, m := range nodes {
		v, err := m.Propose(ctx, Change{Document: []byte("once"), Author: "test", Key: "intent-1"})
		if err != nil || v.Revision != 4 {
			t.Errorf("%s: a repeated change made %v, %v", m.cfg.Node, v, err)
		}
	}
	for _, m := range nodes {
		eventually(t, "history on "+m.cfg.Node, func() bool { return len(m.History()) == 4 })
		s := m.Status()
		if !s.Raft.Quorum || s.Raft.Leader == "" || s.StaleFor != 0 || s.Source != SourceRaft || len(s.Alarms) > 0 {
			t.Errorf("%s: status %+v", m.cfg.Node, s)
		}
		if ok, why := m.Ready(); !ok {
			t.Errorf("%s is not ready: %s", m.cfg.Node, why)
		}
	}
}

// "a restart routes at once without quorum" (DEC-14).
func TestDEC14_LastKnownGoodWithoutQuorum(t *testing.T) {
	l := newLab(t, "dal-1", "dal-2", "ash-1")
	var nodes []*member
	for _, n := range l.names {
		nodes = append(nodes, l.start(l.config(n, t.TempDir())))
	}
	l.propose(nodes[0], "first")
	v := l.propose(nodes[1], "second")
	l.agree(v, nodes...)
	for _, m := range nodes[1:] {
		l.stop(m)
	}
	if got := nodes[0].Table().Version(); got != v {
		t.Errorf("without its peers the node serves %v, want %v", got, v)
	}
	boot := nodes[0].Boot()
	l.stop(nodes[0])

	alone := l.start(nodes[0].cfg)
	if got := alone.lastTable(); got != v {
		t.Fatalf("right after the start the table is %v, want %v", got, v)
	}
	if alone.Boot() != boot+1 {
		t.Errorf("boot %d after boot %d", alone.Boot(), boot)
	}
	if ok, why := alone.Ready(); !ok {
		t.Errorf("not ready without quorum: %s", why)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := alone.Propose(ctx, Change{Document: []byte("impossible"), Author: "test"})
	if !errors.Is(err, ErrNoLeader) || !strings.Contains(err.Error(), "2 of 3 voters") {
		t.Errorf("a change without quorum: %v", err)
	}
	eventually(t, "the status tells that there is no quorum", func() bool { return alone.Status().StaleFor > 0 })
	if s := alone.Status(); s.Source != SourceDisk || s.Running != v {
		t.Errorf("source %q, running %v", s.Source, s.Running)
	}
	if e, ok := alone.Current(); !ok || string(e.Document) != "second" {
		t.Errorf("the current document is %q", e.Document)
	}

	// One peer is enough for a majority: the replay publishes nothing old.
	back := l.start(nodes[1].cfg)
	eventually(t, "quorum is back", func() bool { return alone.Status().Raft.Quorum && len(alone.History()) == 2 })
	next := l.propose(alone, "third")
	l.agree(next, alone, back)
	alone.mu.Lock()
	defer alone.mu.Unlock()
	if len(alone.tables) != 2 || alone.tables[1] != next {
		t.Errorf("published %v, want the last known good one and the new one only", alone.tables)
	}
}

func TestPartitionBetweenSites(t *testing.T) {
	l := newLab(t, "dal-1", "dal-2", "ash-1")
	l.relay = newRelay(t)
	d1 := l.start(l.config("dal-1", t.TempDir()))
	d2 := l.start(l.config("dal-2", t.TempDir()))
	a1 := l.start(l.config("ash-1", t.TempDir()))
	v := l.propose(a1, "before")
	l.agree(v, d1, d2, a1)

	l.relay.setCut(true)
	eventually(t, "both sides see the loss", func() bool {
		p, _ := d1.ic.Peer("ash-1")
		q, _ := a1.ic.Peer("dal-2")
		return !p.Up && !q.Up
	})
	during := l.propose(d2, "during the cut")
	l.agree(during, d1, d2)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := a1.Propose(ctx, Change{Document: []byte("minority"), Author: "test"}); !errors.Is(err, ErrNoLeader) {
		t.Errorf("a change on the minority side: %v", err)
	}
	if got := a1.Table().Version(); got != v {
		t.Errorf("the cut site serves %v, want %v", got, v)
	}

	l.relay.setCut(false)
	eventually(t, "both sides see each other", func() bool {
		p, _ := d1.ic.Peer("ash-1")
		q, _ := a1.ic.Peer("dal-2")
		return p.Up && q.Up
	})
	eventually(t, "the minority's change was dropped or all agree", func() bool {
		x, y, z := d1.Table().Version(), d2.Table().Version(), a1.Table().Version()
		return x == y && y == z && !during.Newer(x)
	})
	last := l.propose(a1, "after")
	l.agree(last, d1, d2, a1)
}

func TestRecordsReachAll(t *testing.T) {
	l := newLab(t, "dal-1", "ash-1")
	d := l.start(l.config("dal-1", t.TempDir()))
	a := l.start(l.config("ash-1", t.TempDir()))
	eventually(t, "the nodes meet", func() bool {
		return len(d.Members()) == 2 && len(a.Members()) == 2 && len(d.Peers()) == 1 && d.Peers()[0].Up
	})
	if err := d.Publish("acme/pbx-1", []byte("down")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the record arrives", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.records) == 1
	})
	r := a.records[0]
	if r.Key != "acme/pbx-1" || r.Observer != "dal-1" || string(r.Payload) != "down" || r.Boot != d.Boot() || r.Seq == 0 {
		t.Errorf("got %+v", r)
	}
	d.SetState(StateDraining)
	eventually(t, "the state arrives", func() bool {
		for _, m := range a.Members() {
			if m.Name == "dal-1" && m.Meta.State == StateDraining && m.Meta.Site == "dallas" && m.Meta.Boot == d.Boot() {
				return true
			}
		}
		return false
	})
	// A newcomer hears what was said before it came.
	l.add("dal-9")
	cfg := l.config("dal-9", t.TempDir())
	cfg.Voters = cfg.Voters[:2]
	late := l.start(cfg)
	eventually(t, "the newcomer has the record", func() bool { return len(late.Records()) == 1 })
	v := l.propose(late, "by a node without a vote")
	l.agree(v, d, a, late)
	for _, s := range late.Status().Raft.Servers {
		if s.Name == "dal-9" && s.Voter {
			t.Error("a later node got a vote")
		}
	}
}

func TestWitnessGivesLeadershipAway(t *testing.T) {
	l := newLab(t, "dal-1", "ash-1", "wit-1")
	wit := l.config("wit-1", t.TempDir())
	wit.Witness, wit.Compile = true, nil
	w := l.start(wit)
	d := l.start(l.config("dal-1", t.TempDir()))
	v := l.propose(d, "with one node and the witness")
	a := l.start(l.config("ash-1", t.TempDir()))
	l.agree(v, a)
	eventually(t, "a node with calls leads", func() bool {
		leader := a.Status().Raft.Leader
		return leader == "dal-1" || leader == "ash-1"
	})
	term := a.Status().Raft.Term
	eventually(t, "leadership is forced on the witness", func() bool { return forceLeader("wit-1", d, a) })
	eventually(t, "there was another term", func() bool { return a.Status().Raft.Term > term })
	eventually(t, "the witness does not stay leader", func() bool {
		leader := a.Status().Raft.Leader
		return leader == "dal-1" || leader == "ash-1"
	})
	if w.Table() != nil {
		t.Error("a witness has a table")
	}
	last := l.propose(a, "again")
	l.agree(last, d, a)
	eventually(t, "the witness keeps the document", func() bool { e, _ := w.Current(); return e.Version == last })
}

func TestTwoProcessesCannotShareADirectory(t *testing.T) {
	l := newLab(t, "dal-1")
	cfg := l.config("dal-1", t.TempDir())
	m := l.start(cfg)
	l.add("dal-2")
	second := l.config("dal-2", cfg.DataDir)
	if n, err := New(t.Context(), second); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second process got %v, %v", n, err)
	}
	l.stop(m)
	// What was not started is stopped all the same, and leaves nothing open.
	for range 2 {
		n, err := New(t.Context(), second)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Propose(t.Context(), Change{Document: []byte("x")}); !errors.Is(err, ErrNoLeader) {
			t.Errorf("a change on a node that is not started: %v", err)
		}
		n.Status()
		if err := n.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	taken, err := net.Listen("tcp", cfg.Gossip.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := New(t.Context(), cfg); err == nil {
		t.Error("a node was built on an address that is taken")
	}
}

func TestDocumentOfAnotherClusterIsRefused(t *testing.T) {
	l := newLab(t, "dal-1")
	cfg := l.config("dal-1", t.TempDir())
	cfg.Compile = func(document []byte, v trunkgroup.Version) (*trunkgroup.Table, error) {
		v.Cluster = string(document)
		return compile(document, v)
	}
	m := l.start(cfg)
	if _, err := m.Propose(t.Context(), Change{Document: []byte("other")}); err == nil || !strings.Contains(err.Error(), `cluster "other"`) {
		t.Errorf("a document of another cluster: %v", err)
	}
	l.agree(l.propose(m, "test"), m)
}

func TestInitialDocument(t *testing.T) {
	l := newLab(t, "dal-1", "dal-2")
	one, two := l.config("dal-1", t.TempDir()), l.config("dal-2", t.TempDir())
	one.Initial = []byte("to begin with")
	d1, d2 := l.start(one), l.start(two)
	eventually(t, "the initial document is the cluster's", func() bool { return d1.Table() != nil && d2.Table() != nil })
	if v := d2.Table().Version(); v.Revision != 1 {
		t.Errorf("the initial document is %v", v)
	}
}

// forceLeader makes the named voter leader, if one of the nodes leads.
func forceLeader(name string, nodes ...*member) bool {
	for _, m := range nodes {
		servers, ok := m.servers()
		for _, s := range servers {
			if ok && string(s.ID) == name &&
				m.raft.do(func(r *raft.Raft) raft.Future { return r.LeadershipTransferToServer(s.ID, s.Address) }) == nil {
				return true
			}
		}
	}
	return false
}
