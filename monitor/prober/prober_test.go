package prober

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// DEC-16: cycle 60 s; on no reply within 2 s the probe is repeated twice at once as new transactions; three misses are down; up after two good
// ones in a row, probed every 5 s while down.
func TestDEC16_ExactInstants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.p.SetTargets(all(table(t, 1, trunkgroup.MonitoringSpec{Profile: "peeredge"}, nil)))
		w.wait(59 * time.Second)
		if got := w.took(); !slices.Equal(got, []string{"20ms active"}) {
			t.Errorf("at first: %v", got)
		}
		w.all(reply{}) // dead, silently
		w.wait(13 * time.Second)
		if got := w.took(); !slices.Equal(got, []string{"1m2s trying", "1m6s down"}) {
			t.Errorf("dying: %v", got)
		}
		if got, want := w.probes(addrOf(0)), seconds(0, 60, 62, 64, 69); !slices.Equal(got, want) {
			t.Errorf("probes %v, want %v", got, want)
		}
		w.all(reply{code: 200, after: 20 * time.Millisecond})
		w.wait(70 * time.Second)
		if got := w.took(); !slices.Equal(got, []string{"1m14.02s probation", "1m19.02s active"}) {
			t.Errorf("reviving: %v", got)
		}
		if got, want := w.probes(addrOf(0)), seconds(74, 79, 139); !slices.Equal(got, want) {
			t.Errorf("probes %v, want %v", got, want)
		}
	})
}

// DEC-16: "or 503, 408 or connect failure in all three = down": these answers repeat the probe at once too.
func TestDEC16_BadAnswers(t *testing.T) {
	for name, bad := range map[string]reply{"503": {code: 503}, "408": {code: 408}, "refused": {code: -1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				bad.after = 100 * time.Millisecond
				w.all(bad)
				w.p.SetTargets(all(table(t, 1, trunkgroup.MonitoringSpec{Profile: "peeredge"}, nil)))
				w.wait(5 * time.Second)
				if got := w.took(); !slices.Equal(got, []string{"100ms trying", "300ms down"}) {
					t.Errorf("%v", got)
				}
				if got, want := w.probes(addrOf(0)), seconds(0, 0.1, 0.2); !slices.Equal(got, want) {
					t.Errorf("probes %v, want %v", got, want)
				}
			})
		})
	}
}

// PRB-01: 405 is an answer. The verdict is active, and the code that is shown is 405.
func TestPRB01_AnyFinalIsAlive(t *testing.T) {
	for _, code := range []int{403, 404, 405, 488, 501, 603} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil)
			w.all(reply{code: code, after: 20 * time.Millisecond})
			w.p.SetTargets(all(table(t, 1, trunkgroup.MonitoringSpec{Profile: "peeredge"}, nil)))
			w.wait(time.Second)
			u := w.last(0)
			result, _ := u.Health.LastProbe()
			if u.Health.State() != trunkgroup.Active || result.Code != code {
				t.Errorf("%d: %v, last code %d", code, u.Health.State(), result.Code)
			}
			w.all(reply{})
			w.wait(66 * time.Second)
			u = w.last(0)
			if result, _ = u.Health.LastProbe(); u.Health.State() != trunkgroup.Down || result.Kind != trunkgroup.Timeout || result.Code != 0 {
				t.Errorf("a real silence: %v, %+v", u.Health.State(), result)
			}
		})
	}
}

// PRB-03: with interval 3 s, threshold 1 and timeout 1 s a dead member is down at most 4.5 s after its last good reply.
func TestPRB03_OwnReplyTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.p.SetTargets(all(table(t, 1, every("kamailio", 3, 1), nil)))
		w.wait(7 * time.Second)
		w.all(reply{})
		w.took()
		w.wait(5 * time.Second)
		// The last good reply was at 6.02 s.
		if got := w.took(); !slices.Equal(got, []string{"10s down"}) {
			t.Errorf("%v", got)
		}
	})
}

// PRB-06: a threshold of three good replies is kept; nothing but an operator's word stops the probes.
func TestPRB06_ComingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		m := every("kamailio", 3, 1)
		m.UpAfter = 3
		w.all(reply{})
		w.p.SetTargets(all(table(t, 1, m, nil)))
		w.wait(29 * time.Second)
		w.all(reply{code: 200, after: 20 * time.Millisecond})
		w.wait(20 * time.Second)
		if got, want := w.took(), []string{"1s down", "30.02s probation", "36.02s active"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		w.p.SetAdmin("acme/pbx-0", trunkgroup.AdminDisabled)
		w.wait(time.Second)
		w.probes(addrOf(0))
		w.wait(time.Minute)
		if got := w.probes(addrOf(0)); len(got) != 0 {
			t.Errorf("a disabled member is probed at %v", got)
		}
		w.took()
		w.p.SetAdmin("acme/pbx-0", trunkgroup.AdminUp)
		w.wait(time.Second)
		if got := w.took(); !slices.Equal(got, []string{"1m50s unknown", "1m50.02s active"}) {
			t.Errorf("enabled: %v", got)
		}
		w.p.SetAdmin("acme/pbx-0", trunkgroup.AdminDraining)
		w.wait(time.Minute)
		if got := w.probes(addrOf(0)); len(got) < 20 {
			t.Errorf("a draining member is probed at %v", got)
		}
	})
}

// DEC-11: transport errors and silence of calls move a member to trying and trigger an immediate probe, which decides.
func TestDEC11_EvidenceProbesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.p.SetTargets(all(table(t, 1, trunkgroup.MonitoringSpec{Profile: "peeredge"}, nil)))
		w.wait(10 * time.Second)
		w.took()
		key := verdict.Key{Member: "acme/pbx-0"}
		w.p.Evidence(key, false, "no_response")
		w.wait(time.Second)
		if got := w.took(); !slices.Equal(got, []string{"10s trying", "10.02s active"}) {
			t.Errorf("a false alarm: %v", got)
		}
		w.wait(time.Second)
		w.all(reply{code: -1})
		w.p.Evidence(key, false, "refused")
		w.wait(time.Second)
		if got := w.took(); !slices.Equal(got, []string{"12s trying", "12s down"}) {
			t.Errorf("a dead member: %v", got)
		}
		w.p.Evidence(verdict.Key{Member: "acme/nobody"}, false, "refused")
		w.wait(time.Second)
	})
}

// DEC-11: a call's Retry-After lowers the member until it is over.
func TestDEC11_RetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.p.SetTargets(all(table(t, 1, trunkgroup.MonitoringSpec{Profile: "peeredge"}, nil)))
		w.wait(10 * time.Second)
		w.took()
		w.p.RetryAfter(verdict.Key{Member: "acme/pbx-0"}, 24*time.Hour)
		w.wait(2 * time.Minute)
		if got := w.took(); !slices.Equal(got, []string{"10s cooldown", "1m10s active"}) {
			t.Errorf("%v", got)
		}
		if u := w.last(0); !u.Out.IsZero() {
			t.Errorf("out since %v", u.Out)
		}
	})
}

// All targets at once: dead members do not delay each other's verdicts, and the bound on probes in flight holds.
func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *Config) { c.Parallel = 400 })
		w.all(reply{})
		w.p.SetTargets(all(table(t, 1000, every("kamailio", 10, 1), nil)))
		w.wait(3500 * time.Millisecond)
		down := 0
		w.mu.Lock()
		for _, u := range w.updates {
			if u.Changed && u.Health.State() == trunkgroup.Down {
				down++
			}
		}
		most := w.most
		w.mu.Unlock()
		if down != 1000 || most != 400 {
			t.Errorf("%d of 1000 down in three timeouts, %d probes at once", down, most)
		}
	})
}

// K-12: each member is probed again and again; first probes are spread, later ones keep their phase.
func TestK12_Spread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *Config) { c.Spread = 2 * time.Second; c.Random = rand.New(rand.NewPCG(1, 2)) })
		tab := table(t, 100, every("peeredge", 10, 1), nil)
		w.p.SetTargets(all(tab))
		w.wait(19 * time.Second)
		slots := make([]int, 4)
		for i := range 100 {
			got := w.probes(addrOf(i))
			if len(got) != 2 || got[0] >= 2*time.Second || got[1]-got[0] != 10*time.Second {
				t.Fatalf("member %d is probed at %v", i, got)
			}
			slots[got[0]/(500*time.Millisecond)]++
		}
		for _, n := range slots {
			if n < 10 {
				t.Errorf("half seconds %v", slots)
			}
		}
	})
}

// A new table resets no health; another address is another far end; new thresholds apply from the present state on.
func TestTableSwap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		m := every("peeredge", 10, 1)
		w.set(func(addr netip.AddrPort) reply {
			if addr == addrOf(0) {
				return reply{}
			}
			return reply{code: 200, after: 20 * time.Millisecond}
		})
		w.p.SetTargets(all(table(t, 2, m, nil)))
		w.wait(6 * time.Second)
		if got := w.took(); !slices.Equal(got, []string{"1s trying", "3s down"}) {
			t.Fatalf("%v", got)
		}
		next := w.probes(addrOf(0))
		second := table(t, 2, m, nil)
		w.p.SetTargets(all(second))
		w.wait(time.Second)
		if got := w.took(); len(got) != 0 {
			t.Errorf("the same table: %v", got)
		}
		if u := w.last(0); u.Health.State() != trunkgroup.Down {
			t.Errorf("%v after the swap", u.Health.State())
		}
		w.wait(10 * time.Second)
		if got := append(next, w.probes(addrOf(0))...); !slices.Equal(got, seconds(0, 1, 2, 7, 12, 17)) {
			t.Errorf("probes %v", got)
		}
		if u := w.last(0); u.Target.Member != second.Members()[0] {
			t.Error("updates still name the old table's member")
		}
		slower := every("peeredge", 20, 2)
		w.p.SetTargets(all(table(t, 2, slower, nil)))
		w.wait(4 * time.Second)
		if u := w.last(0); u.Health.State() != trunkgroup.Down || len(w.took()) != 0 {
			t.Errorf("new settings: %v", u.Health.State())
		}
		w.p.SetTargets(all(table(t, 2, slower, func(d *trunkgroup.Document) {
			d.TrunkGroups[0].Members[0].Address = "203.0.113.9:5060"
		})))
		w.wait(time.Second)
		if u := w.last(0); u.Health.State() != trunkgroup.Active {
			t.Errorf("another far end: %v", u.Health.State())
		}
		w.p.SetTargets(nil)
		w.wait(time.Second)
		w.probes(addrOf(1))
		w.wait(time.Minute)
		if got := w.probes(addrOf(1)); len(got) != 0 {
			t.Errorf("a forgotten target is probed at %v", got)
		}
	})
}

// DEC-13: newcomers inherit the old record until their first own result.
func TestDEC13_Inherit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *Config) { c.Spread = 2 * time.Second; c.Random = rand.New(rand.NewPCG(3, 4)) })
		list := all(table(t, 2, trunkgroup.MonitoringSpec{Profile: "peeredge"}, nil))
		out := time.Now().Add(-time.Hour)
		list[0].Inherit, list[0].Reason, list[0].Since, list[0].Out = trunkgroup.Down, "no reply", out, out
		list[1].Inherit, list[1].Since = trunkgroup.Active, out
		w.p.SetTargets(list)
		w.wait(3 * time.Second)
		if u := w.last(0); u.Health.State() != trunkgroup.Probation || !u.Out.Equal(out) {
			t.Errorf("an inherited down member that answers: %v, out since %v", u.Health.State(), u.Out)
		}
		if u := w.last(1); u.Health.State() != trunkgroup.Active || u.Changed || !u.Health.Since().Equal(out) {
			t.Errorf("an inherited active member: %+v", u)
		}
	})
}

// Silence is told from other failures (DEC-12).
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.p.SetTargets(all(table(t, 1, every("peeredge", 10, 1), nil)))
		w.wait(time.Second)
		w.all(reply{})
		w.wait(15 * time.Second)
		if u := w.last(0); u.Silent.Sub(w.start) != 11*time.Second || u.Out.Sub(w.start) != 13*time.Second {
			t.Errorf("silent %v, out %v", u.Silent.Sub(w.start), u.Out.Sub(w.start))
		}
		w.all(reply{code: 503, after: time.Millisecond})
		w.wait(5 * time.Second)
		if u := w.last(0); !u.Silent.IsZero() || u.Health.State() != trunkgroup.Down {
			t.Errorf("a 503 is no silence: %v, %v", u.Silent, u.Health.State())
		}
	})
}

// DEC-13: a node whose monotonic clock jumped more than one interval discards its verdicts and probes before publishing.
func TestDEC13_ClockJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.p.SetTargets(all(table(t, 1, trunkgroup.MonitoringSpec{Profile: "peeredge"}, nil)))
		w.all(reply{})
		w.wait(10 * time.Second)
		w.all(reply{code: 200, after: 20 * time.Millisecond})
		w.took()
		w.mu.Lock()
		w.jump += 2 * time.Minute
		count := len(w.updates)
		w.mu.Unlock()
		w.wait(2 * time.Second)
		w.mu.Lock()
		after := w.updates[count:]
		w.mu.Unlock()
		if len(after) < 2 || !after[0].Discarded || after[0].Health.State() != trunkgroup.Unknown || after[1].Health.State() != trunkgroup.Active {
			t.Errorf("%+v", after)
		}
	})
}

// Stop ends probes in flight.
func TestStopInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.all(reply{})
		w.p.SetTargets(all(table(t, 50, trunkgroup.MonitoringSpec{Profile: "peeredge"}, nil)))
		w.wait(time.Second)
		w.p.Stop()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.flying != 0 || time.Since(w.start) != time.Second {
			t.Errorf("%d probes in flight after Stop, at %v", w.flying, time.Since(w.start))
		}
	})
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("no pinger is no error")
	}
}

// An operator sees what the system said, not only that the transport failed.
func TestTransportErrorTellsItsCause(t *testing.T) {
	for text, err := range map[string]error{
		"transport error: connection refused":   fmt.Errorf("udp: %w", syscall.ECONNREFUSED),
		"transport error: tls: bad certificate": errors.New("tls: bad certificate"),
	} {
		if got := (trunkgroup.ProbeResult{Kind: trunkgroup.TransportError, Detail: detail(err)}).String(); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
}
