//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// world is the shared cluster with the far ends that monitoring always sees.
type world struct {
	*tandem.Cluster
	farEnds map[string]*farEnd
}

// farEnd is a standing SIPp PBX or carrier: a member of a monitored group.
type farEnd struct {
	member string // "acme-in/dal-1"
	place  lab.Place
	at     netip.AddrPort
	sipp   *peer.SIPp
}

// standing are the members of the monitored groups.
var standing = []struct {
	member string
	place  lab.Place
	host   int
}{
	{"acme-in/dal-1", lab.PBXDallas, acme1},
	{"acme-in/dal-2", lab.PBXDallas, acme2},
	{"acme-in/ash-1", lab.PBXAshburn, acme1},
	{"acme-in/ash-2", lab.PBXAshburn, acme2},
	{"carrier-a/dal", lab.CarrierDallas, carrierA},
	{"carrier-a/ash", lab.CarrierAshburn, carrierA},
	{"carrier-b/dal", lab.CarrierDallas, carrierB},
	{"carrier-b/ash", lab.CarrierAshburn, carrierB},
}

// theWorld starts the shared cluster at its first use and waits until every
// node is ready and every standing far end is active.
func theWorld(t testing.TB) *world {
	t.Helper()
	w, err := startWorld()
	if err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	return w
}

var startWorld = sync.OnceValues(func() (*world, error) {
	l, err := network()
	if err != nil {
		return nil, err
	}
	a, err := authority()
	if err != nil {
		return nil, err
	}
	binary, err := tandemBinary()
	if err != nil {
		return nil, err
	}
	if _, err := nameServer(); err != nil {
		return nil, err
	}
	w := &world{farEnds: map[string]*farEnd{}}
	for _, s := range standing {
		f := &farEnd{member: s.member, place: s.place, at: netip.AddrPortFrom(lab.Host4(s.place, s.host), 5060)}
		w.farEnds[s.member] = f
		if err := f.start(answers()); err != nil {
			return nil, err
		}
	}
	w.Cluster, err = tandem.New(tandem.Config{
		Lab: l, Name: "main", Binary: binary, Document: fill(document), Authority: a,
		DNS: netip.AddrPortFrom(lab.Host4(lab.Outside, nameHost), 53).String(),
		// Calls through legacy name it in place of the node.
		Extra: fmt.Sprintf("  domains: [%q]", lab.Host4(lab.Outside, legacyHost)),
	})
	if err != nil {
		return nil, err
	}
	shared.add(func() error { w.Stop(); return nil })
	return w, w.Start()
})

// answers is the far end of an ordinary call.
func answers() peer.Scenario {
	return peer.Callee("answers", peer.Ring(100*time.Millisecond), peer.Accept(), peer.UntilBye())
}

// rejects refuses every call with code and answers OPTIONS with 200.
func rejects(code int) peer.Scenario {
	return peer.Callee(fmt.Sprintf("rejects-%d", code), peer.Reject(code))
}

// start starts the far end with a scenario in place of the one before.
func (f *farEnd) start(s peer.Scenario) error {
	l, err := network()
	if err != nil {
		return err
	}
	if f.sipp != nil {
		f.sipp.Kill()
	}
	f.sipp, err = peer.StartCallee(peer.Run{Lab: l, Place: f.place, Local: f.at, Scenario: s})
	return err
}

// play changes what a standing far end does until the end of the test.
func (w *world) play(t testing.TB, s peer.Scenario, members ...string) {
	t.Helper()
	for _, m := range members {
		f := w.farEnds[m]
		if err := f.start(s); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := f.start(answers()); err != nil {
				t.Error(err)
			}
		})
	}
	for _, m := range members {
		ready(t, w.farEnds[m].place, w.farEnds[m].at, false)
	}
	// A probe may have met the change.
	w.everywhere(t, "active", members...)
}

// kill ends standing far ends until the end of the test: their hosts refuse.
func (w *world) kill(t testing.TB, members ...string) {
	t.Helper()
	for _, m := range members {
		f := w.farEnds[m]
		f.sipp.Kill()
		t.Cleanup(func() {
			if err := f.start(answers()); err != nil {
				t.Error(err)
			}
		})
	}
}

// blackHole makes the hosts of standing far ends swallow what is sent to them
// until the end of the test.
func (w *world) blackHole(t testing.TB, members ...string) {
	t.Helper()
	for _, m := range members {
		f := w.farEnds[m]
		swallow(t, f.place, f.at.Addr())
	}
}

// swallow makes an address a black hole until the end of the test.
func swallow(t testing.TB, p lab.Place, a netip.Addr) {
	t.Helper()
	l := theLab(t)
	if err := l.BlackHole(p, a.String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Restore(p, a.String()); err != nil {
			t.Error(err)
		}
	})
}

// settled waits until every node is ready, has its vote, and sees every standing far end active.
func (w *world) settled(t testing.TB) {
	t.Helper()
	eventually(t, 3*time.Minute, "a settled cluster", func() error {
		list, err := nodesOf(w.Nodes[0])
		if err != nil {
			return err
		}
		for _, n := range list.Nodes { // a voter that was gone for long gets its vote back a while after its return
			if n.Raft != "leader" && n.Raft != "voter" {
				return fmt.Errorf("%s is %q in the consensus", n.Name, n.Raft)
			}
		}
		for _, n := range w.SBCs() {
			if err := n.Ready(); err != nil {
				return err
			}
			states, err := n.Members()
			if err != nil {
				return err
			}
			for _, s := range standing {
				if states[s.member] != "active" {
					return fmt.Errorf("%s sees %s as %q", n.Name, s.member, states[s.member])
				}
			}
		}
		return nil
	})
}

// everywhere waits until all nodes see the members in a state.
func (w *world) everywhere(t testing.TB, state string, members ...string) {
	t.Helper()
	eventually(t, 30*time.Second, strings.Join(members, " and ")+" "+state+" on all nodes", func() error {
		for _, n := range w.SBCs() {
			states, err := n.Members()
			if err != nil {
				return err
			}
			for _, m := range members {
				if states[m] != state {
					return fmt.Errorf("%s sees %s as %q", n.Name, m, states[m])
				}
			}
		}
		return nil
	})
}

// since returns the far end's INVITEs received after a moment.
func (f *farEnd) since(t testing.TB, begin time.Time) []peer.Message {
	t.Helper()
	var list []peer.Message
	for _, m := range peer.Received(messages(t, f.sipp), "INVITE") {
		if !m.At.Before(begin) {
			list = append(list, m)
		}
	}
	return list
}

// recordOf waits for the final record of the call with a caller's Call-ID at the
// node that took it.
func recordOf(t testing.TB, n *tandem.Node, callID string) tandem.Record {
	t.Helper()
	var found tandem.Record
	eventually(t, 20*time.Second, "the record of "+callID+" at "+n.Name, func() error {
		list, err := n.Records()
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.SIPCallID == callID && r.Kind == "call" && r.Final {
				found = r
				return nil
			}
		}
		return fmt.Errorf("not among %d records", len(list))
	})
	return found
}
