//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// seed is the seed of the run's random choices: E2E_SEED, or one drawn and printed.
func seed(t testing.TB) uint64 {
	t.Helper()
	s := uint64(time.Now().UnixNano())
	if text := os.Getenv("E2E_SEED"); text != "" {
		var err error
		if s, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("E2E_SEED: %v", err)
		}
	}
	t.Logf("seed %d (E2E_SEED sets it)", s)
	return s
}

// newLoad makes a load program that calls from the PSTN in Dallas.
func newLoad(t testing.TB, w *world, cfg sim.LoadConfig) *sim.Load {
	t.Helper()
	for _, n := range w.SBCs() {
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: n.Name, Addr: n.UDP()})
	}
	cfg.Local = []netip.AddrPort{netip.AddrPortFrom(lab.Host4(lab.CarrierDallas, pstnHost), 0)}
	cfg.Spread = true
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
	return load
}

// report writes a load report among the artefacts and returns it.
func report(t testing.TB, r *sim.Report) *sim.Report {
	t.Helper()
	f, err := os.Create(filepath.Join(run.dir, t.Name()+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.WriteText(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	return r
}

// loadSize is how many calls the load test places, and at what rate.
func loadSize() (calls int, rate float64) {
	if os.Getenv("TANDEM_SOAK") != "" {
		return 30000, 50
	}
	return 2000, 50
}

// TestLoadWhileAPBXAndANodeDie places calls at a steady rate while a PBX and then
// a node is killed.
//
// PBX killed: no call that was set up after it fails. Node killed: failures only
// among calls sent to it or up on it, each named; the load program goes to the
// next node as SRV clients do. Records equal calls minus those up on the killed
// node. Afterwards nothing of the calls is left in the surviving nodes.
func TestLoadWhileAPBXAndANodeDie(t *testing.T) {
	w := theWorld(t)
	pbxs := w.simulate(t, sim.Answers(20*time.Millisecond, 80*time.Millisecond))
	before := w.baselines(t)
	calls, rate := loadSize()
	rate *= 1.6 // there are no phases to tell apart
	load := newLoad(t, w, sim.LoadConfig{
		CallerConfig: sim.CallerConfig{
			Seed: seed(t), NodeTimeout: 2 * time.Second, Avoid: 5 * time.Second,
			SetupTimeout: 12 * time.Second, // longer than anybody rings
		},
		To: []string{acmeNumber}, Rate: rate, Calls: calls,
		Hold: 2 * time.Second, HoldMax: 3 * time.Second, KeepAll: true, KeepFailures: calls,
	})
	done := make(chan *sim.Report, 1)
	go func() {
		r, err := load.Run(context.Background())
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	started := func(n int) {
		eventually(t, 10*time.Minute, fmt.Sprintf("%d calls", n), func() error {
			if c := load.Counts(); c.Started < n {
				return fmt.Errorf("%d started", c.Started)
			}
			return nil
		})
	}
	started(calls / 3)
	if err := pbxs[0].Kill(); err != nil {
		t.Fatal(err)
	}
	pbxDied := time.Now()
	started(calls * 2 / 3)
	victim := w.follower(t, lab.Dallas1, lab.Dallas2)
	upOnVictim := onNode(victim)
	nodeDied := time.Now()
	victim.Kill()
	t.Cleanup(func() {
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
	})
	r := report(t, <-done)
	judge(t, r, pbxDied, nodeDied, victim)
	w.recordsOf(t, r, victim, nodeDied)
	t.Logf("%d calls, %d failed, about %d on the node when it was killed", r.Counts.Started, r.Counts.Failed, upOnVictim)
	for _, p := range pbxs[1:] {
		counted(t, p, "no leg left", func(a sim.Account) bool { return a.Ringing == 0 })
	}
	w.backToBaseline(t, before, victim)
}

// simulate puts simulated PBXs in the place of acme's until the end of the test.
func (w *world) simulate(t testing.TB, b sim.Behaviour) []*sim.FarEnd {
	t.Helper()
	t.Cleanup(func() { w.settled(t) })
	members := slices.Concat(acmeMembers[lab.Dallas], acmeMembers[lab.Ashburn])
	w.kill(t, members...)
	var list []*sim.FarEnd
	for _, m := range members {
		f := w.farEnds[m]
		list = append(list, simPBX(t, f.place, hostOf(m), b))
	}
	w.settled(t)
	return list
}

// hostOf is the host of a standing far end.
func hostOf(member string) int {
	for _, s := range standing {
		if s.member == member {
			return s.host
		}
	}
	return 0
}

// onNode asks the node for its calls.
func onNode(n *tandem.Node) int {
	m, err := n.Metrics()
	if err != nil {
		return -1
	}
	return int(m.Sum(metricCalls))
}

// judge looks at every failed call by name.
func judge(t testing.TB, r *sim.Report, pbxDied, nodeDied time.Time, victim *tandem.Node) {
	t.Helper()
	if r.Left != 0 || r.Skipped != 0 || r.FaultsN != 0 || r.Counts.Answers2 != 0 {
		t.Errorf("%d unfinished, %d skipped, %d answered twice, %d breaches of protocol: %+v",
			r.Left, r.Skipped, r.Counts.Answers2, r.FaultsN, r.Faults)
	}
	for _, f := range r.Failures {
		sentToVictim := slices.ContainsFunc(f.Tries, func(try sim.Try) bool { return try.Node == victim.Name })
		switch {
		case f.Started.Before(pbxDied) && f.Started.Add(f.Setup).Add(5*time.Second).After(pbxDied):
			// It was being set up, or up, when the PBX was killed.
		case sentToVictim && f.Started.Before(nodeDied):
			// It was sent to the node, or up on it, when that was killed.
		default:
			t.Errorf("a call failed that should not: #%d at %s (PBX killed %s, node killed %s) by %s: %s %s, tries %+v",
				f.N, f.Started.Format(clock), pbxDied.Format(clock), nodeDied.Format(clock), f.Node, f.Result, f.Why, f.Tries)
		}
	}
}

// clock is how moments are written in messages.
const clock = "15:04:05.000"

// recordGrace is how long the record of an ended call may be on its way from the
// call to the file: a node that is killed in this time takes it along.
const recordGrace = 50 * time.Millisecond

// recordsOf compares the calls with the records of all nodes: each call has a
// final record, except for those that were up on the killed node.
func (w *world) recordsOf(t testing.TB, r *sim.Report, victim *tandem.Node, died time.Time) {
	t.Helper()
	records := map[string]int{}
	for _, n := range w.SBCs() {
		list, err := n.Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range list {
			if rec.Kind == "call" && rec.Final {
				records[rec.SIPCallID]++
			}
		}
	}
	missing := 0
	for _, c := range r.Calls {
		ended := c.Started.Add(c.Setup + c.Talk)
		switch n := records[c.CallID]; {
		case n == 0 && c.Node == victim.Name && (c.Failed() || ended.After(died.Add(-recordGrace))):
			missing++ // up on the killed node
		case n == 0:
			t.Errorf("no record of call %s by %s: %s", c.CallID, c.Node, c.Result)
		}
	}
	t.Logf("%d of %d calls have no record: they were up on %s", missing, len(r.Calls), victim.Name)
}
