package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// order is a recovery that a human confirmed.
func order() Recovery { return Recovery{Confirm: "test", Author: "ann", Reason: "Dallas burns"} }

// site cuts a zone off from all others, or heals it.
func (v *virtual) site(zone string, cut bool) {
	for _, other := range []string{"dal", "ash", "wit"} {
		switch {
		case other == zone:
		case cut:
			v.net.Split(zone, other)
		default:
			v.net.Join(zone, other)
		}
	}
}

// A majority is lost for good: "an operator command that fences ... raises a cluster
// epoch that old voters must refuse" (DEC-14). The dead come back later: what they
// know is refused, they say so, and rejoin on an order.
func TestDEC14_RecoveryFromLostQuorum(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		kept := v.propose(nodes["dal-1"], "the last common one")
		time.Sleep(time.Second)
		v.notYet(nodes["ash-1"])
		epoch := v.recovered(nodes, kept)

		// Meanwhile the other side goes on: it is a majority of the old voters.
		v.propose(nodes["dal-1"], "written by the lost side")
		v.site("ash", false)
		time.Sleep(30 * time.Second)
		v.superseded(nodes, epoch)
		for _, name := range givenUp {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			if err := nodes[name].Rejoin(ctx, "test"); err != nil {
				t.Errorf("%s did not rejoin: %v", name, err)
			}
			cancel()
		}
		if err := nodes["ash-1"].Rejoin(context.Background(), "test"); !errors.Is(err, ErrMember) {
			t.Errorf("a sound node rejoined: %v", err)
		}
		time.Sleep(2 * time.Minute)
		last := v.propose(nodes["dal-2"], "all together")
		time.Sleep(time.Second)
		for name, m := range nodes {
			if e, _ := m.Current(); e.Version != last || len(m.Status().Alarms) != 0 {
				t.Errorf("%s has %v, alarms %v", name, e.Version, m.Status().Alarms)
			}
		}
		if n := voters(nodes["ash-1"]); n != "ash-1 ash-2 dal-1 dal-2 wit-1" {
			t.Errorf("the voters are %s", n)
		}
		v.endAll(nodes)
	})
}

// givenUp are the voters that a recovery in Ashburn gives up.
var givenUp = []string{"dal-1", "dal-2", "wit-1"}

// notYet goes through what refuses a recovery, and leaves Ashburn cut off for good.
func (v *virtual) notYet(a1 *member) {
	t, ctx := v.t, context.Background()
	t.Helper()
	if _, err := a1.Recover(ctx, Recovery{Confirm: "tset"}); !errors.Is(err, ErrConfirm) {
		t.Errorf("a mistyped id: %v", err)
	}
	if _, err := a1.Recover(ctx, order()); !errors.Is(err, ErrNotLost) {
		t.Errorf("with a leader: %v", err)
	}
	v.site("ash", true)
	time.Sleep(10 * time.Second)
	if _, err := a1.Recover(ctx, order()); !errors.Is(err, ErrNotLost) || !strings.Contains(err.Error(), "only") {
		t.Errorf("too soon: %v", err)
	}
	begin := time.Now()
	_, err := a1.Propose(ctx, Change{Document: []byte("x"), Author: "ann"})
	if took := time.Since(begin); !errors.Is(err, ErrNoLeader) || took > time.Second {
		t.Errorf("a change without quorum: %v after %v, want at once", err, took)
	}
	time.Sleep(30 * time.Second)

	// A half-dead voter, which a fresh connect reaches, stops the recovery.
	v.net.Heal("ash", "wit")
	v.net.Heal("wit", "ash")
	time.Sleep(5 * time.Second)
	if _, err := a1.Recover(ctx, order()); !errors.Is(err, ErrNotLost) {
		t.Errorf("with the witness in reach: %v", err)
	}
	v.net.Split("ash", "wit")
	time.Sleep(time.Minute)
}

// recovered recovers Ashburn and returns its epoch.
func (v *virtual) recovered(nodes map[string]*member, kept trunkgroup.Version) Epoch {
	t, ctx := v.t, context.Background()
	t.Helper()
	a1, a2 := nodes["ash-1"], nodes["ash-2"]
	dry := order()
	dry.DryRun = true
	report, err := a1.Recover(ctx, dry)
	if err != nil || strings.Join(report.Gone, " ") != "dal-1 dal-2 wit-1" || strings.Join(report.Adopted, " ") != "ash-2" || report.Version != kept {
		t.Fatalf("dry run: %+v, %v", report, err)
	}
	report, err = a1.Recover(ctx, order())
	if err != nil || report.Version.Generation != 2 || report.Epoch.Number != 1 {
		t.Fatalf("recovery: %+v, %v", report, err)
	}
	time.Sleep(time.Minute)
	next := v.propose(a2, "made by the survivors")
	if got := a1.Table().Version(); got != next || next.Generation != 2 {
		t.Errorf("ash-1 runs %v, want %v", got, next)
	}
	if e, _ := a1.Current(); string(e.Document) != "made by the survivors" {
		t.Errorf("in force is %q", e.Document)
	}
	if n := voters(a1); n != "ash-1 ash-2" {
		t.Errorf("the voters are %s", n)
	}
	return report.Epoch
}

// superseded checks that the nodes of the old epoch say so, take no changes and
// keep their table, also over a restart.
func (v *virtual) superseded(nodes map[string]*member, epoch Epoch) {
	t, ctx := v.t, context.Background()
	t.Helper()
	for _, name := range givenUp {
		m := nodes[name]
		if !alarmed(m, AlarmSuperseded) || m.Status().Raft.Over != epoch {
			t.Errorf("%s has alarms %v, is over by %v", name, m.Status().Alarms, m.Status().Raft.Over)
		}
		if _, err := m.Propose(ctx, Change{Document: []byte("y"), Author: "ann"}); !errors.Is(err, ErrNoLeader) {
			t.Errorf("%s takes changes in a dead epoch: %v", name, err)
		}
	}
	if e, _ := nodes["dal-1"].Current(); string(e.Document) != "written by the lost side" || nodes["dal-1"].Table() == nil {
		t.Errorf("the superseded node has %q in force", e.Document)
	}
	// It stays so over a restart.
	v.stop(nodes["dal-2"])
	nodes["dal-2"] = v.start(nodes["dal-2"].cfg)
	time.Sleep(5 * time.Second)
	if !alarmed(nodes["dal-2"], AlarmSuperseded) {
		t.Error("a restart forgets that the node is superseded")
	}
}

// Both halves are recovered behind a cut: of two epochs with one number one wins,
// everywhere the same.
func TestDEC14_TwoRecoveries(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		v.propose(nodes["dal-1"], "common")
		time.Sleep(time.Second)
		for _, zone := range []string{"dal", "ash", "wit"} {
			v.site(zone, true)
		}
		time.Sleep(2 * time.Minute)
		d, err := nodes["dal-1"].Recover(context.Background(), order())
		if err != nil {
			t.Fatal(err)
		}
		a, err := nodes["ash-1"].Recover(context.Background(), order())
		if err != nil {
			t.Fatal(err)
		}
		v.propose(nodes["dal-1"], "in Dallas")
		v.propose(nodes["ash-1"], "in Ashburn")
		for _, zone := range []string{"dal", "ash", "wit"} {
			v.site(zone, false)
		}
		time.Sleep(time.Minute)
		winner, loser := nodes["dal-1"], nodes["ash-1"]
		if a.Epoch.compare(d.Epoch) > 0 {
			winner, loser = loser, winner
		}
		if alarmed(winner, AlarmSuperseded) || !alarmed(loser, AlarmSuperseded) || !alarmed(nodes["wit-1"], AlarmSuperseded) {
			t.Errorf("winner %v, loser %v", winner.Status().Alarms, loser.Status().Alarms)
		}
		v.propose(winner, "after the heal")
		v.endAll(nodes)
	})
}

// voters are the names of those that vote, as a node sees it.
func voters(m *member) string {
	var names []string
	for _, s := range m.Status().Raft.Servers {
		if s.Voter {
			names = append(names, s.Name)
		}
	}
	// raft keeps the order in which they got their votes.
	return strings.Join(sorted(names), " ")
}

func alarmed(m *member, name string) bool {
	for _, a := range m.Status().Alarms {
		if a.Name == name {
			return true
		}
	}
	return false
}

// Of two survivors one holds an acknowledged change that neither runs yet, since the
// leader that acknowledged it died at once: only that one may be recovered.
func TestDEC14_RecoveryKeepsAcknowledgedChanges(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStorm(t, 2)
		time.Sleep(15 * time.Second)
		s.propose(s.nodes["dal-1"], "first")
		time.Sleep(time.Second)
		for s.leader() != "dal-1" {
			forceLeader("dal-1", s.nodes["dal-1"], s.nodes["dal-2"], s.nodes["ash-1"], s.nodes["ash-2"])
			time.Sleep(5 * time.Second)
		}
		// ash-2 misses the change; ash-1 has it and hears no more of dal-1, which tells
		// what is committed with its next message only.
		s.apart("ash-2")
		time.Sleep(5 * time.Second)
		kept := s.propose(s.nodes["dal-1"], "acknowledged")
		for _, name := range []string{"dal-1", "dal-2", "wit-1"} {
			s.apart(name)
		}
		s.net.Join("ash-1", "ash-2")
		time.Sleep(2 * time.Minute)
		a1, a2 := s.nodes["ash-1"], s.nodes["ash-2"]
		if e, _ := a1.machine.current(); e.Version == kept {
			t.Log("ash-1 had heard that the change is committed")
		}
		if _, err := a2.Recover(context.Background(), order()); !errors.Is(err, ErrNotLost) || !strings.Contains(err.Error(), "recover there") {
			t.Errorf("the survivor that knows less: %v", err)
		}
		if _, err := a1.Recover(context.Background(), order()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for _, m := range []*member{a1, a2} {
			if inForce(m) != "acknowledged" {
				t.Errorf("%s routes from %q", m.cfg.Node, inForce(m))
			}
		}
		s.endAll(s.nodes)
	})
}
