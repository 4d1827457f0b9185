//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// drainPatience is the drain of the rolling clusters: short, so that a round fits
// into a test, and shorter than the long calls.
const drainPatience = "{announce: 2s, quiet: 1s, timeout: 8s}"

const (
	// drainCeiling ends the wait for a drain that is broken.
	drainCeiling = time.Minute
	// longHold is how long a long call would talk: it outlives the drain of its node.
	longHold = 30 * time.Second
)

// rollingWorld is a cluster of its own in the place of the shared one, whose far
// ends it uses.
func rollingWorld(t testing.TB, name, text string, prepare func(*tandem.Node)) *world {
	t.Helper()
	main := theWorld(t)
	main.Stop()
	t.Cleanup(func() {
		if err := main.Start(); err != nil {
			t.Fatal(err)
		}
		main.settled(t)
	})
	a, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := tandemBinary()
	if err != nil {
		t.Fatal(err)
	}
	c, err := tandem.New(tandem.Config{
		Lab: theLab(t), Name: name, Binary: binary, Authority: a, Drain: drainPatience,
		Document: strings.Replace(fill(text), "cluster: main", "cluster: "+name, 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes {
		prepare(n)
		if err := n.Write(); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{Cluster: c, farEnds: main.farEnds}
	t.Cleanup(func() {
		for _, n := range w.Nodes {
			if n.Running() {
				n.Kill()
			}
		}
		w.Stop()
	})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	return w
}

// callers are the load programs of a rolling test.
type callers struct {
	load []*sim.Load
	done []chan *sim.Report
}

// start runs a load program from the PSTN in Dallas.
func (c *callers) start(t testing.TB, host int, cfg sim.LoadConfig) {
	t.Helper()
	cfg.Local = []netip.AddrPort{netip.AddrPortFrom(lab.Host4(lab.CarrierDallas, host), 0)}
	cfg.KeepAll, cfg.KeepFailures = true, 100_000
	cfg.Grace = longHold + 40*time.Second
	var load *sim.Load
	err := theLab(t).Namespace(lab.CarrierDallas).Do(func() (err error) {
		load, err = sim.NewLoad(cfg)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := load.Close(); err != nil {
			t.Error(err)
		}
	})
	done := make(chan *sim.Report, 1)
	go func() {
		r, err := load.Run(context.Background())
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	c.load, c.done = append(c.load, load), append(c.done, done)
}

// finish lets the calls end and returns the reports in the order of the starts.
func (c *callers) finish() []*sim.Report {
	for _, l := range c.load {
		l.Finish()
	}
	var list []*sim.Report
	for _, d := range c.done {
		list = append(list, <-d)
	}
	return list
}

// srvNodes lists the nodes as the SRV records of a site's callers do: its own nodes
// first, the others when none of them answers.
func srvNodes(w *world, site string) []sim.Node {
	var list []sim.Node
	for _, n := range w.SBCs() {
		priority := uint16(10)
		if n.Site != site {
			priority = 20
		}
		list = append(list, sim.Node{Name: n.Name, Addr: n.UDP(), Priority: priority, Weight: 1})
	}
	return list
}

// away is when a process was down: from its end until it took calls again.
type away struct {
	node       string
	begin, end time.Time
	drained    time.Duration
}

// restart drains a node, runs between while it is down, and starts it again.
func (w *world) restart(t testing.TB, n *tandem.Node, between func()) away {
	t.Helper()
	told := time.Now()
	n.Terminate()
	if n.Site != lab.Witness {
		eventually(t, drainCeiling, n.Name+" off its SIP port", func() error {
			open, err := listens(theLab(t), n.Place, n.UDP(), false)
			if err == nil && open {
				err = errNotYet
			}
			return err
		})
	}
	a := away{node: n.Name, begin: time.Now()}
	a.drained = a.begin.Sub(told)
	if err := n.Ended(drainCeiling); err != nil {
		t.Fatal(err)
	}
	between()
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, drainCeiling, n.Name+" back", n.Ready)
	a.end = time.Now()
	if _, err := w.Nodes[0].Command("node", "list", "--wait", "1m"); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestFailureMode15_RollingRestartUnderLoad restarts every node of both sites and the
// witness, one after the other, under calls of three kinds: callers who follow SRV
// records lose none; whoever knows one address alone loses at most what comes
// while that process is down; long calls end with their node's phase 3, or by
// themselves, and none is broken.
func TestFailureMode15_RollingRestartUnderLoad(t *testing.T) {
	w := rollingWorld(t, "rolling", document, func(*tandem.Node) {})
	w.simulate(t, sim.Answers(50*time.Millisecond, 300*time.Millisecond))
	one := w.Node(lab.Dallas1)
	base := sim.CallerConfig{Seed: seed(t), SetupTimeout: 20 * time.Second, NodeTimeout: 4 * time.Second}
	var c callers
	for _, site := range []string{lab.Dallas, lab.Ashburn} {
		follows := base
		follows.Name, follows.Nodes, follows.SRV = "srv-"+site, srvNodes(w, site), true
		c.start(t, pstnHost, sim.LoadConfig{CallerConfig: follows, To: []string{acmeNumber}, Rate: 10, Hold: time.Second, HoldMax: 4 * time.Second})
		follows.Name = "long-" + site
		c.start(t, pstnHost, sim.LoadConfig{CallerConfig: follows, To: []string{acmeNumber}, Rate: 0.5, Hold: longHold})
	}
	single := base
	single.Name, single.Nodes, single.Stay = "single", []sim.Node{{Name: one.Name, Addr: one.UDP()}}, true
	c.start(t, pstnHost, sim.LoadConfig{CallerConfig: single, To: []string{acmeNumber}, Rate: 5, Hold: time.Second, HoldMax: 2 * time.Second})

	for _, l := range c.load {
		eventually(t, drainCeiling, "calls under way", func() error {
			if l.Counts().Answered < 3 {
				return errNotYet
			}
			return nil
		})
	}
	var times []away
	for _, n := range w.Nodes {
		a := w.restart(t, n, func() {
			if n == one {
				eventually(t, time.Minute, "calls to the closed port", func() error {
					if f := c.load[4].Counts().Failed; f < 3 {
						return fmt.Errorf("%d", f)
					}
					return nil
				})
			}
		})
		t.Logf("%s drained in %v, was down for %v", n.Name, a.drained.Round(time.Millisecond), a.end.Sub(a.begin).Round(time.Millisecond))
		times = append(times, a)
	}
	reports := c.finish()
	for i, site := range []string{lab.Dallas, lab.Ashburn} {
		srv, held := reports[2*i], reports[2*i+1]
		noneLost(t, "callers of "+site+" who follow SRV", srv)
		noneLost(t, "long calls of "+site, held)
		phase3, whole := longCalls(t, held)
		t.Logf("%s: SRV %d calls, %d failovers, %d lost; long calls: %d ended by phase 3, %d by themselves",
			site, srv.Counts.Started, srv.Counts.Failovers, srv.Counts.Failed, phase3, whole)
		if phase3 == 0 || whole == 0 {
			t.Errorf("long calls of %s: %d ended by phase 3, %d by themselves; want both", site, phase3, whole)
		}
	}
	singleAddress(t, report(t, reports[4]), times[slices.IndexFunc(times, func(a away) bool { return a.node == one.Name })])
	for _, n := range w.SBCs() {
		m, err := n.Metrics()
		if err != nil {
			t.Fatal(err)
		}
		if v := m.Sum(metricCalls); v != 0 {
			t.Errorf("%s has %v calls left", n.Name, v)
		}
	}
}

// longCalls counts how calls ended that outlive the drain of their node.
func longCalls(t testing.TB, r *sim.Report) (phase3, whole int) {
	t.Helper()
	for _, c := range r.Calls {
		switch {
		case c.Result == sim.HungUp && strings.Contains(c.ByeReason, "node stops"):
			phase3++
		case c.Result == sim.Completed:
			whole++
		default:
			t.Errorf("a long call ended otherwise: %+v", c)
		}
	}
	return phase3, whole
}

// noneLost demands that every call of a report was answered and ended well.
func noneLost(t testing.TB, who string, r *sim.Report) {
	t.Helper()
	if r.Counts.Failed != 0 || r.Left != 0 || r.FaultsN != 0 || r.Counts.Answers2 != 0 || r.Counts.Started == 0 {
		t.Errorf("%s: %d started, %d failed, %d unfinished, %d faults, %d answered twice", who,
			r.Counts.Started, r.Counts.Failed, r.Left, r.FaultsN, r.Counts.Answers2)
	}
	for i, f := range r.Failures {
		if i == 10 {
			break
		}
		t.Errorf("  %s at %s by %s: %s, tries %+v", f.CallID, f.Started.Format(clock), f.Node, f.Why, f.Tries)
	}
	for i, f := range r.Faults {
		if i == 5 {
			break
		}
		t.Errorf("  %+v", f)
	}
}

// downEdge is how long before the closed port is seen a call may have begun that
// meets it: phase 3 refuses calls, and hangs up, for up to a few seconds.
const downEdge = 4 * time.Second

// singleAddress counts what callers lost who know one address alone.
func singleAddress(t testing.TB, r *sim.Report, a away) {
	t.Helper()
	lost := 0
	for _, f := range r.Failures {
		if f.Started.Before(a.begin.Add(-downEdge)) || f.Started.After(a.end) {
			t.Errorf("a single-address call failed while the process was up: at %s (down %s to %s): %s, tries %+v",
				f.Started.Format(clock), a.begin.Format(clock), a.end.Format(clock), f.Why, f.Tries)
			continue
		}
		lost++
	}
	t.Logf("single address: %d of %d calls lost, all from phase 3 until the node was back; its port was closed for %v",
		lost, r.Counts.Started, a.end.Sub(a.begin).Round(time.Millisecond))
}

// drainState asks a node how far its drain is.
func drainState(n *tandem.Node) (phase string, calls int, err error) {
	out, err := n.Command("node", "drain", "--status", "-o", "json")
	if err != nil {
		return "", 0, err
	}
	var d struct {
		Phase string `json:"phase"`
		Calls int    `json:"calls"`
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return "", 0, fmt.Errorf("%w: %s", err, out)
	}
	return d.Phase, d.Calls, nil
}

// TestDEC19_DrainAndUndrainOverTheCluster drains a node to stay: it is told to the
// others, new calls to its address are its sibling's, and it comes back. Then both
// nodes of the site drain, and calls are taken all the same.
func TestDEC19_DrainAndUndrainOverTheCluster(t *testing.T) {
	w := theWorld(t)
	one, two := w.Node(lab.Dallas1), w.Node(lab.Dallas2)
	t.Cleanup(func() {
		for _, n := range []*tandem.Node{one, two} {
			if _, err := n.Command("node", "drain", "--undrain"); err != nil {
				t.Error(err)
			}
		}
		w.settled(t)
	})
	stay := func(n *tandem.Node) {
		t.Helper()
		if _, err := n.Command("node", "drain", "--stay", "--reason", "a test"); err != nil {
			t.Fatal(err)
		}
		eventually(t, drainCeiling, n.Name+" in phase 2", func() error {
			phase, _, err := drainState(n)
			if err == nil && phase != "passing" {
				err = fmt.Errorf("it is %s", phase)
			}
			return err
		})
		if err := n.Ready(); err == nil || !strings.Contains(err.Error(), "drain: passing since") {
			t.Errorf("readyz: %v", err)
		}
	}
	stay(one)
	eventually(t, drainCeiling, "the others know", func() error {
		out, err := two.Command("node", "list")
		if err == nil && !strings.Contains(string(out), "draining") {
			err = fmt.Errorf("%s", out)
		}
		return err
	})
	recordOf(t, two, callID(t, pstnCall(t, one, acmeNumber, peer.Complete(0))))
	stay(two)
	var sent []string
	eventually(t, drainCeiling, "a call taken where there is no sibling", func() error {
		sent = append(sent, callID(t, pstnCall(t, one, acmeNumber, peer.Complete(0))))
		list, err := one.Records()
		if err == nil && !slices.ContainsFunc(list, func(r tandem.Record) bool { return slices.Contains(sent, r.SIPCallID) }) {
			err = errNotYet // the news of the other node's drain is on its way, or the record
		}
		return err
	})
	if _, err := one.Command("node", "drain", "--undrain"); err != nil {
		t.Fatal(err)
	}
	recordOf(t, one, callID(t, pstnCall(t, one, acmeNumber, peer.Complete(0))))
}
