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
		for name, m := range nodes {
			if name != "dal-2" && (!forgets(m, "dal-2") || !m.Removed("dal-2")) {
				t.Errorf("%s remembers the removed node", name)
			}
		}
		if got := voters(nodes["ash-1"]); got != "ash-1 ash-2 dal-1 dal-3 wit-1" {
			t.Errorf("the voters are %s, the founders were %v", got, founders)
		}
		time.Sleep(10 * time.Minute) // nothing brings it back
		if !forgets(nodes["ash-2"], "dal-2") {
			t.Error("it is looked for again")
		}

		nodes["dal-2"] = v.start(nodes["dal-2"].cfg)
		time.Sleep(2 * time.Minute)
		for name, m := range nodes {
			if name != "dal-2" && (forgets(m, "dal-2") || m.Removed("dal-2")) {
				t.Errorf("%s does not see that it is back", name)
			}
		}
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
