//go:build e2e

package e2e

import (
	"context"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// hermit is a place of its own for a node that is stopped in several ways.
const hermit lab.Place = "hermit"

// TestDEC19_Signals stops a node with a call on it, with the patience that a node
// has by default: a first SIGTERM waits, a second one and SIGINT do not, and the
// caller learns why.
func TestDEC19_Signals(t *testing.T) {
	l := theLab(t)
	if err := l.Isolate(hermit); err != nil {
		t.Fatal(err)
	}
	a, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := tandemBinary()
	if err != nil {
		t.Fatal(err)
	}
	c, err := tandem.New(tandem.Config{
		Lab: l, Name: "hermit", Binary: binary, Document: strings.Replace(fill(lonelyDocument), "cluster: torture", "cluster: hermit", 1),
		Places: []lab.Place{hermit}, Authority: a, Drain: "{}",
	})
	if err != nil {
		t.Fatal(err)
	}
	n := c.Nodes[0]
	t.Cleanup(func() {
		if n.Running() {
			n.Kill()
		}
	})
	var load *sim.Load
	err = l.Namespace(hermit).Do(func() error {
		pbx, err := sim.StartPBX("pbx", netip.MustParseAddrPort("127.0.0.9:5060"), sim.AnswersAtOnce())
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = pbx.Close() })
		load, err = sim.NewLoad(sim.LoadConfig{
			CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: n.UDP()}}},
			Local:        []netip.AddrPort{netip.MustParseAddrPort("127.0.0.8:5060")}, To: []string{acmeNumber},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = load.Close() })
	for name, signals := range map[string][]syscall.Signal{
		"twice SIGTERM": {syscall.SIGTERM, syscall.SIGTERM},
		"SIGINT":        {syscall.SIGINT},
	} {
		t.Run(name, func(t *testing.T) {
			if err := n.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, drainCeiling, "a node that is ready", n.Ready)
			ctx, cancel := context.WithTimeout(t.Context(), drainCeiling)
			defer cancel()
			call := load.Dial(sim.Placement{To: acmeNumber, Hold: -1})
			if err := call.Answered(ctx); err != nil {
				t.Fatal(err)
			}
			for i, s := range signals {
				if i > 0 {
					eventually(t, drainCeiling, "a drain that waits", func() error {
						phase, calls, err := drainState(n)
						if err == nil && (phase != "announcing" || calls != 1) {
							err = errNotYet
						}
						return err
					})
				}
				n.Signal(s)
			}
			begin := time.Now()
			r, err := call.Done(ctx)
			if err != nil || r.Result != sim.HungUp || !strings.Contains(r.ByeReason, "node stops") {
				t.Errorf("%v, %+v", err, r)
			}
			if err := n.Ended(drainCeiling); err != nil {
				t.Fatal(err)
			}
			t.Logf("ended after %v", time.Since(begin).Round(time.Millisecond))
		})
	}
}
