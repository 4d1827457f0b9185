//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// proberOf asks a node who probes a member.
func proberOf(t testing.TB, n *tandem.Node, member string) string {
	t.Helper()
	out, err := n.Command("member", "list", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Member   string `json:"member"`
		Observer string `json:"observer"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("member list: %v: %s", err, out)
	}
	for _, m := range list {
		if m.Member == member && m.Observer != "" {
			return m.Observer
		}
	}
	t.Fatalf("nobody probes %s: %s", member, out)
	return ""
}

// TestFailureMode04_AsymmetricProbe: one node of the site cannot reach a PBX, the
// other one can. The verdict is that of the node whose part it is to probe, on all
// nodes alike and without a change back and forth; a call at the node that is wrong
// about it goes on to the next PBX.
func TestFailureMode04_AsymmetricProbe(t *testing.T) {
	w := theWorld(t)
	const victim = "acme-in/dal-1"
	t.Cleanup(func() { w.settled(t) })
	prober := w.Node(lab.Place(proberOf(t, w.Node(lab.Dallas1), victim)))
	other := w.Node(lab.Dallas1)
	if prober == other {
		other = w.Node(lab.Dallas2)
	}
	deaf := func(t *testing.T, n *tandem.Node) {
		t.Helper()
		l, from, to := theLab(t), n.IPv4.String(), w.farEnds[victim].at.Addr().String()
		if err := l.Deafen(lab.PBXDallas, from, to); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Undeafen(lab.PBXDallas, from, to); err != nil {
				t.Error(err)
			}
			w.settled(t)
		})
	}
	t.Run("the other node", func(t *testing.T) {
		deaf(t, other)
		history := w.watch(t, victim)
		// Two calls: round robin gives the unreachable PBX to one of them first.
		for range 2 {
			pstnCall(t, other, acmeNumber, peer.Complete(0))
			pstnCall(t, prober, acmeNumber, peer.Complete(0))
		}
		for node, states := range history() {
			if states["down"] > 0 {
				t.Errorf("%s held the member down, which its prober reaches: %v", node, states)
			}
		}
	})
	t.Run("the probing node", func(t *testing.T) {
		deaf(t, prober)
		w.everywhere(t, "down", victim)
		history := w.watch(t, victim)
		for _, n := range []*tandem.Node{prober, other} {
			begin := time.Now()
			pstnCall(t, n, acmeNumber, peer.Complete(0))
			if d := time.Since(begin); d > 3*time.Second {
				t.Errorf("a call at %s took %v with the member known down", n.Name, d)
			}
		}
		for node, states := range history() {
			if len(states) != 1 {
				t.Errorf("%s saw the member as %v, want down all the time", node, states)
			}
		}
	})
}

// watch looks at a member's state on all nodes again and again, until what it
// returns is called: that tells how often each node gave each state.
func (w *world) watch(t testing.TB, member string) func() map[string]map[string]int {
	t.Helper()
	seen := map[string]map[string]int{}
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(2 * pollEvery)
		defer tick.Stop()
		for {
			for _, n := range w.SBCs() {
				states, err := n.Members()
				if err != nil {
					continue // it is being killed or paused
				}
				if seen[n.Name] == nil {
					seen[n.Name] = map[string]int{}
				}
				seen[n.Name][states[member]]++
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	end := sync.OnceFunc(func() { close(stop); done.Wait() })
	t.Cleanup(end)
	return func() map[string]map[string]int {
		end()
		return seen
	}
}

// TestFailureMode09_ServiceRecords: a PBX by name has two addresses in the order
// of its SRV records (RFC 3263): the second is tried when the first refuses, sends
// 503 or is silent; what the records say is believed for their time; and with the
// name server dead the last answer holds.
func TestFailureMode09_ServiceRecords(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	server := theNames(t)
	second := simPBX(t, lab.PBXDallas, srv2, sim.AnswersAtOnce())
	first := simPBX(t, lab.PBXDallas, srv1, sim.AnswersAtOnce())
	taken := func(f *sim.FarEnd) int { return f.Account().Invites }
	answeredBy := func(f *sim.FarEnd, what string) {
		t.Helper()
		before := f.Account().Answered
		pstnCall(t, n, srvNumber, peer.Complete(0))
		if got := f.Account().Answered; got != before+1 {
			t.Errorf("%s: answered by another than %s", what, f.Name())
		}
	}
	answeredBy(first, "both alive")
	first.SetBehaviour(sim.Rejects(503, 0))
	answeredBy(second, "the first sends 503")
	swallow(t, lab.PBXDallas, lab.Host4(lab.PBXDallas, srv1))
	answeredBy(second, "the first is silent")
	if err := theLab(t).Restore(lab.PBXDallas, lab.Host4(lab.PBXDallas, srv1).String()); err != nil {
		t.Fatal(err)
	}
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	answeredBy(second, "the first refuses by ICMP")
	if err := theLab(t).Namespace(lab.PBXDallas).Do(first.Revive); err != nil {
		t.Fatal(err)
	}

	if err := server.set(zone("", "10")...); err != nil {
		t.Fatal(err)
	}
	asked, tried := server.count(), 0
	eventually(t, 30*time.Second, "calls go where the changed records say", func() error {
		before := taken(first)
		pstnCall(t, n, srvNumber, peer.Complete(0))
		if tried++; taken(first) != before {
			return fmt.Errorf("call %d still tried the address that is gone", tried)
		}
		return nil
	})
	if server.count() == asked {
		t.Error("the name server was not asked again")
	}
	server.silence(true)
	for range 3 {
		answeredBy(second, "the name server is dead")
	}
	faultless(t, second)
}

// TestFailureMode17_StormOfRefusals: the site's PBXs refuse with 503 and Retry-After.
// They are asked once, then left alone for as long as they wanted; the calls go to
// the other site, each by one INVITE; and they come back when the time is over.
func TestFailureMode17_StormOfRefusals(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	t.Cleanup(func() { w.settled(t) })
	w.kill(t, acmeMembers[lab.Dallas]...)
	var overloaded []*sim.FarEnd
	for _, m := range acmeMembers[lab.Dallas] {
		overloaded = append(overloaded, simPBX(t, lab.PBXDallas, hostOf(m), sim.Rejects(503, 0, "Retry-After: 4")))
	}
	eventually(t, 30*time.Second, "probes of the overloaded PBXs", func() error {
		for _, f := range overloaded {
			if f.Account().Options == 0 {
				return errNotYet // and one that met the change may still be judged
			}
		}
		return nil
	})
	w.settled(t)
	invites := func() (n int) {
		for _, f := range overloaded {
			n += f.Account().Invites
		}
		return n
	}
	for i := range 4 {
		tap := tapWAN(t)
		sent := pstnCall(t, n, acmeNumber, peer.Complete(0))
		handedOff(t, n, sent, tap.invites(t, lab.Dallas, lab.Ashburn))
		if got := invites(); got != len(overloaded) {
			t.Errorf("after call %d the overloaded PBXs have got %d INVITEs, want one each", i+1, got)
		}
	}
	for _, f := range overloaded {
		f.SetBehaviour(sim.AnswersAtOnce())
	}
	w.everywhere(t, "active", acmeMembers[lab.Dallas]...)
	r := recordOf(t, n, callID(t, pstnCall(t, n, acmeNumber, peer.Complete(0))))
	if r.HandedOff {
		t.Error("a call is handed off although the site's PBXs are back")
	}
}

// TestFailureMode18_FlappingMember: a PBX that comes and goes every two seconds costs
// no call, and comes back when it stays. That it is held down for longer each time
// is tested in virtual time.
func TestFailureMode18_FlappingMember(t *testing.T) {
	w := theWorld(t)
	const victim = "acme-in/dal-1"
	l, at := theLab(t), w.farEnds[victim].at.Addr()
	n := w.Node(lab.Dallas1)
	t.Cleanup(func() { w.settled(t) })
	before := transitions(t, w, victim)
	stop := make(chan struct{})
	var toggling sync.WaitGroup
	toggling.Go(func() {
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for on := true; ; on = !on {
			set := l.Restore
			if on {
				set = l.BlackHole
			}
			if err := set(lab.PBXDallas, at.String()); err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				if err := l.Restore(lab.PBXDallas, at.String()); err != nil {
					t.Error(err)
				}
				return
			case <-tick.C:
			}
		}
	})
	for end := time.Now().Add(12 * time.Second); time.Now().Before(end); {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
	}
	close(stop)
	toggling.Wait()
	t.Logf("%v changes of state on the probing node", transitions(t, w, victim)-before)
	w.everywhere(t, "active", victim)
}

// transitions is how often a member changed its state, on the node that probes it.
func transitions(t testing.TB, w *world, member string) float64 {
	t.Helper()
	n := w.Node(lab.Place(proberOf(t, w.Node(lab.Dallas1), member)))
	m, err := n.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	return m.Sum("tandem_trunk_member_transitions_total", "trunk_group=acme-in", "member=dal-1", "site=dallas")
}
