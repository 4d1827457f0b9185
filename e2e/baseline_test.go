//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab/tandem"
)

// Names on the metrics page.
const (
	metricCalls      = "tandem_calls_active"
	metricGoroutines = "go_goroutines"
	metricHeap       = "go_memstats_heap_alloc_bytes"
	metricGCs        = "go_gc_duration_seconds_count"
)

// timersOver is 64*T1 and a little: after that long no transaction lingers.
const timersOver = 33 * time.Second

// usage is what a node holds.
type usage struct{ calls, goroutines, heap float64 }

// usageOf reads a node's usage after two garbage collections: reading the
// metrics page makes garbage, so reading goes on until both have happened.
func usageOf(n *tandem.Node) (usage, error) {
	var u usage
	first := -1.0
	err := poll(time.Minute, func() error {
		m, err := n.Metrics()
		if err != nil {
			return err
		}
		collections := m.Sum(metricGCs)
		if first < 0 {
			first = collections
		}
		if collections < first+2 {
			return fmt.Errorf("%v garbage collections", collections-first)
		}
		u = usage{m.Sum(metricCalls), m.Sum(metricGoroutines), m.Sum(metricHeap)}
		return nil
	})
	return u, err
}

// idle waits until no node has a call.
func (w *world) idle(t testing.TB) {
	t.Helper()
	eventually(t, 30*time.Second, "no calls", func() error {
		for _, n := range w.SBCs() {
			m, err := n.Metrics()
			if err != nil {
				return err
			}
			if calls := m.Sum(metricCalls); calls != 0 {
				return fmt.Errorf("%s has %v calls", n.Name, calls)
			}
		}
		return nil
	})
}

// baselines reads every node's usage while nothing happens.
func (w *world) baselines(t testing.TB) map[string]usage {
	t.Helper()
	list := map[string]usage{}
	for _, n := range w.SBCs() {
		u, err := usageOf(n)
		if err != nil {
			t.Fatal(err)
		}
		if u.calls != 0 {
			t.Errorf("%s has %v calls at the start", n.Name, u.calls)
		}
		list[n.Name] = u
	}
	return list
}

// backToBaseline waits for 64*T1 after the last call and compares: no call, the
// goroutines within 8, the heap within 10 % + 8 MiB.
func (w *world) backToBaseline(t testing.TB, before map[string]usage, except *tandem.Node) {
	t.Helper()
	for _, n := range w.SBCs() {
		if n == except {
			continue
		}
		was := before[n.Name]
		eventually(t, 2*timersOver, n.Name+" back at its baseline", func() error {
			u, err := usageOf(n)
			switch {
			case err != nil:
				return err
			case u.calls != 0:
				return fmt.Errorf("%v calls", u.calls)
			case u.goroutines > was.goroutines+8:
				return fmt.Errorf("%v goroutines, %v at the start", u.goroutines, was.goroutines)
			case u.heap > was.heap*1.1+8<<20:
				return fmt.Errorf("heap of %.1f MiB, %.1f MiB at the start", u.heap/(1<<20), was.heap/(1<<20))
			}
			return nil
		})
	}
}
