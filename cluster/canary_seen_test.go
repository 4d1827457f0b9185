package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Who stages or ends a canary and asks the same node at once is told of it, whatever node that is: not of
// the time before.
func TestDEC25_WhoWroteSeesTheCanary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		v.propose(nodes["dal-1"], "old")
		time.Sleep(time.Second)
		ctx := context.Background()
		for name, text := range map[string]string{"ash-1": "a", "dal-1": "b", "dal-2": "c"} {
			n := nodes[name]
			staged, err := n.Stage(ctx, "dallas", Change{Document: []byte("new " + text), Author: "ann"})
			if err != nil {
				t.Fatalf("%s: stage: %v", name, err)
			}
			if c, ok := n.Canary(); !ok || c.Version != staged {
				t.Errorf("%s staged %v and knows %+v, %v", name, staged, c.Version, ok)
			}
			end := n.Promote
			if text == "b" {
				end = n.Abandon
			}
			if _, err := end(ctx, Decision{Author: "ann"}); err != nil {
				t.Fatalf("%s: end: %v", name, err)
			}
			if c, ok := n.Canary(); ok {
				t.Errorf("%s ended the canary and still knows %v", name, c.Version)
			}
		}
		if _, err := nodes["ash-1"].Promote(ctx, Decision{}); err == nil {
			t.Error("a canary that is over was promoted")
		}
		v.endAll(nodes)
	})
}
