package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// forgets reports whether a node has no memory of another one.
func forgets(m *member, name string) bool {
	for _, p := range m.Peers() {
		if p.Name == name {
			return false
		}
	}
	return !knows(m, name)
}

// A node that has stopped is removed on an order: its vote goes to a node of its site
// that has none, nobody looks for it any more although the files name it, and when it
// is started again it is a member again.
func TestRemovedNodeIsForgotten(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		founders := slices.Clone(v.names)
		nodes := map[string]*member{}
		for _, name := range v.names {
			nodes[name] = v.start(v.config(name, t.TempDir()))
		}
		v.add("dal-3")
		cfg := v.config("dal-3", t.TempDir())
		cfg.Voters = nil
		nodes["dal-3"] = v.start(cfg)
		time.Sleep(time.Minute)
		v.propose(nodes["dal-1"], "first")

		ctx := context.Background()
		var refused *RefusedError
		if err := nodes["ash-1"].Remove(ctx, Removal{Node: "dal-2"}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "stop it first") {
			t.Errorf("a living node: %v", err)
		}
		if err := nodes["ash-1"].Remove(ctx, Removal{Node: "dal-9"}); !errors.Is(err, ErrUnknownNode) {
			t.Errorf("a node that nobody knows: %v", err)
		}
		if err := nodes["ash-1"].Remove(ctx, Removal{Node: "ash-1"}); !errors.As(err, &refused) {
			t.Errorf("itself: %v", err)
		}

		v.stop(nodes["dal-2"])
		if err := nodes["ash-1"].Remove(ctx, Removal{Node: "dal-2", Author: "ann", Reason: "sold"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		allForget(t, nodes, "dal-2")
		if got := voters(nodes["ash-1"]); got != "ash-1 ash-2 dal-1 dal-3 wit-1" {
			t.Errorf("the voters are %s, the founders were %v", got, founders)
		}
		time.Sleep(10 * time.Minute) // nothing brings it back
		if !forgets(nodes["ash-2"], "dal-2") {
			t.Error("it is looked for again")
		}

		nodes["dal-2"] = v.start(nodes["dal-2"].cfg)
		time.Sleep(2 * time.Minute)
		allKnow(t, nodes, "dal-2")
		v.endAll(nodes)
	})
}

// allForget: all other nodes hold a node to be removed, and know nothing of it.
func allForget(t *testing.T, nodes map[string]*member, gone string) {
	t.Helper()
	for name, m := range nodes {
		if name != gone && (!forgets(m, gone) || !m.Removed(gone)) {
			t.Errorf("%s remembers the removed node", name)
		}
	}
}

// allKnow: all other nodes see that a node is back.
func allKnow(t *testing.T, nodes map[string]*member, back string) {
	t.Helper()
	for name, m := range nodes {
		if name != back && (forgets(m, back) || m.Removed(back)) {
			t.Errorf("%s does not see that it is back", name)
		}
	}
}

// A node that lives on the far side of a cut is removed by those who cannot know that: after the heal it is a member again,
// without a restart. The side without a majority removes nobody, and who is removed twice is removed once.
func TestRemovedNodeThatLives(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(time.Minute)
		v.propose(nodes["dal-1"], "first")
		v.isolate(true)
		time.Sleep(2 * time.Minute) // gossip, too, has given up the other side

		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		if err := nodes["ash-1"].Remove(ctx, Removal{Node: "dal-2", Author: "ann", Reason: "lost"}); !errors.Is(err, ErrNoLeader) {
			t.Errorf("the side without a majority: %v", err)
		}
		cancel()
		if forgets(nodes["ash-1"], "dal-2") {
			t.Error("what was not removed is forgotten")
		}
		ctx = context.Background()
		gone := Removal{Node: "ash-2", Author: "ann", Reason: "lost"}
		if err := nodes["dal-1"].Remove(ctx, gone); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if err := nodes["dal-1"].Remove(ctx, gone); err != nil && !errors.Is(err, ErrUnknownNode) {
			t.Errorf("again: %v", err)
		}
		if got := voters(nodes["dal-1"]); got != "ash-1 dal-1 dal-2 wit-1" {
			t.Errorf("the voters are %s", got)
		}
		time.Sleep(2 * time.Minute)

		v.isolate(false)
		time.Sleep(3 * time.Minute)
		second := v.propose(nodes["ash-2"], "second")
		time.Sleep(10 * time.Second)
		for name, m := range nodes {
			if name != "ash-2" && (forgets(m, "ash-2") || m.Removed("ash-2")) {
				t.Errorf("%s does not see that it lives", name)
			}
			if e, _ := m.Current(); e.Version != second {
				t.Errorf("%s has %v, want %v", name, e.Version, second)
			}
			if s := m.Status(); !s.Raft.Quorum || len(s.Alarms) != 0 || len(s.Raft.Servers) != 5 {
				t.Errorf("%s: quorum %v, alarms %v, %d in the consensus", name, s.Raft.Quorum, s.Alarms, len(s.Raft.Servers))
			}
		}
		v.endAll(nodes)
	})
}

// A site that was cut off when a node was removed hears of it after the heal.
func TestRemovalIsHeardAfterACut(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		v.add("dal-3")
		nodes := map[string]*member{}
		for _, name := range v.names {
			cfg := v.config(name, t.TempDir())
			if name == "dal-3" {
				cfg.Voters = nil
			}
			nodes[name] = v.start(cfg)
		}
		time.Sleep(time.Minute)
		v.isolate(true)
		time.Sleep(10 * time.Second)
		v.stop(nodes["dal-3"])
		if err := nodes["dal-1"].Remove(context.Background(), Removal{Node: "dal-3", Author: "ann", Reason: "sold"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if forgets(nodes["ash-1"], "dal-3") {
			t.Error("a site that is cut off has heard of a removal")
		}
		v.isolate(false)
		time.Sleep(2 * time.Minute)
		allForget(t, nodes, "dal-3")
		nodes["dal-3"] = v.start(nodes["dal-3"].cfg)
		time.Sleep(2 * time.Minute)
		allKnow(t, nodes, "dal-3")
		v.endAll(nodes)
	})
}

// Two voters of which none may fail are left only when somebody says so.
func TestRemovalLeavesThreeVoters(t *testing.T) {
	e := electorateOf("d1 a1 w1", "V d1", "V a1 d", "V w1")
	for _, x := range []struct {
		order Removal
		want  string
	}{
		{Removal{Node: "a1"}, "2 voters would be left, of which no one may fail: start another node first, or say --few"},
		{Removal{Node: "a1", Few: true}, ""},
		{Removal{Node: "d1", Few: true}, "d1 lives, as the leader sees it: stop it first"},
		{Removal{Node: "a7"}, ""}, // no member: it is only forgotten
	} {
		if heir, why := e.bequeath(x.order); why != x.want || heir.ID != "" {
			t.Errorf("%+v: heir %q, %q", x.order, heir.ID, why)
		}
	}
}

func FuzzRemoval(f *testing.F) {
	o := Removal{Node: "dal-2", Author: "ann", Reason: "sold", Few: true}
	f.Add(o.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, ok := parseRemoval(b)
		if !ok {
			return
		}
		if again, ok := parseRemoval(o.append(nil)); !ok || again != o {
			t.Errorf("%+v became %+v", o, again)
		}
	})
}
