package app

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// what one node counts and remembers is known at all nodes, of
// both sites; the calls of a node that is gone are gone, the assignments are not.
func TestR08_R09_R14_CountsAndAffinityAreSharedByAllNodes(t *testing.T) {
	document := strings.Replace(registering(1), "    members:\n", "    distribution: {method: least-sessions, session_affinity_header: X-Room-Id}\n    members:\n", 1)
	t.Cleanup(func() { probesEnd(t) })
	boxes := newClusterOf(t, "127.88.41", document, 3)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	for _, b := range boxes {
		b.wait("readiness", func() bool { return b.ask("GET", "/readyz", nil, nil) == 200 })
		b.wait("the others", func() bool { return b.peersUp() == 2 })
	}
	member := func(b *box) *trunkgroup.Member { return b.app.watch.monitor.Board().Table.Member("acme-in/pbx-0") }
	at := &trunkgroup.Binding{ID: "x"}
	first := boxes[0].app.sessions
	seat := first.Enter(member(boxes[0]), at)
	first.Enter(member(boxes[0]), at)
	boxes[1].app.sessions.Enter(member(boxes[1]), at)
	farEnd := trunkgroup.FarEnd(member(boxes[0]), at)
	first.Remember(time.Now(), "acme-in\x007", farEnd, time.Minute)
	begin := time.Now()
	for _, b := range boxes {
		b.wait("all calls", func() bool { return b.app.sessions.Sessions(member(b), at) == 3 })
		b.wait("the room", func() bool { return b.app.sessions.Remembered(time.Now(), "acme-in\x007") == farEnd })
	}
	t.Logf("known everywhere after %s", time.Since(begin).Round(time.Millisecond))
	seat.Leave()
	for _, b := range boxes {
		b.wait("the end of a call", func() bool { return b.app.sessions.Sessions(member(b), at) == 2 })
		if b.app.watch.monitor.Board().View.Sessions != trunkgroup.SessionCounter(b.app.sessions) {
			t.Error("a view that does not count")
		}
	}
	// Two nodes that assign the same value agree in the end.
	boxes[1].app.sessions.Remember(time.Now(), "acme-in\x008", "acme-in/pbx-0\x00one", time.Minute)
	boxes[2].app.sessions.Remember(time.Now(), "acme-in\x008", "acme-in/pbx-0\x00two", time.Minute)
	boxes[0].wait("one word", func() bool {
		seen := map[string]bool{}
		for _, b := range boxes {
			seen[b.app.sessions.Remembered(time.Now(), "acme-in\x008")] = true
		}
		return len(seen) == 1 && !seen[""]
	})
	boxes[0].stop()
	for _, b := range boxes[1:] {
		b.wait("the loss of a node's calls", func() bool { return b.app.sessions.Sessions(member(b), at) == 1 })
		if got := b.app.sessions.Remembered(time.Now(), "acme-in\x007"); got != farEnd {
			t.Errorf("the room is at %q", got)
		}
	}
}

// probesEnd waits for the last probes of a node that another test step has
// stopped: the membership library lets them run to their own timeout.
func probesEnd(t testing.TB) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-tick.C {
		if goleak.Find() == nil {
			return
		}
	}
}
