package simulation

import (
	"flag"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	simSeed  = flag.Uint64("sim.seed", 0, "play this seed only")
	simSeeds = flag.Int("sim.seeds", 0, "play so many seeds; 0 means 1,000, or 100 with -short")
	simFirst = flag.Uint64("sim.first", 1, "the first of them")
	simV     = flag.Bool("sim.v", false, "show the whole trace of -sim.seed")
	simLines = flag.Int("sim.lines", 120, "show so many of the last events of a seed that fails")
)

// TestSimulation plays many seeds, or the one that was asked for.
func TestSimulation(t *testing.T) {
	if *simSeed != 0 {
		r := NewLab().Run(*simSeed, Options{Trace: true})
		lines := *simLines
		if *simV {
			lines = len(r.Trace)
		}
		t.Logf("seed %d, hash %016x: %+v\n%s", r.Seed, r.Hash, r.Sums, r.Report(lines))
		if len(r.Faults) > 0 {
			t.Fail()
		}
		return
	}
	seeds := *simSeeds
	switch {
	case seeds > 0:
	case testing.Short():
		seeds = 100
	default:
		seeds = 1000
	}
	began := time.Now()
	sums := playMany(t, *simFirst, seeds)
	t.Logf("%d seeds in %v: %+v", seeds, time.Since(began).Round(time.Millisecond), sums)
}

// playMany plays seeds on all cores and reports those that fail.
func playMany(t *testing.T, first uint64, seeds int) Sums {
	t.Helper()
	var next atomic.Int64
	var mu sync.Mutex
	var sums Sums
	failed := 0
	defer debug.SetGCPercent(debug.SetGCPercent(1600)) // the live heap is small: collect less often
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			lab := NewLab()
			for {
				i := next.Add(1) - 1
				if i >= int64(seeds) {
					return
				}
				r := lab.Run(first+uint64(i), Options{})
				mu.Lock()
				sums.add(r.Sums)
				if len(r.Faults) > 0 {
					if failed++; failed <= 10 {
						t.Errorf("go test ./simulation -sim.seed %d:\n%s", r.Seed, r.Report(0))
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if failed > 0 {
		t.Errorf("%d of %d seeds failed", failed, seeds)
	}
	return sums
}

// add is the sum of two.
func (s *Sums) add(o Sums) {
	s.Events += o.Events
	s.Calls += o.Calls
	s.Answered += o.Answered
	s.Handoffs += o.Handoffs
	s.Lost += o.Lost
	s.Crashes += o.Crashes
	s.Cuts += o.Cuts
	s.Configs += o.Configs
	s.Drains += o.Drains
	s.Closed += o.Closed
	s.Refused += o.Refused
	s.Decisions += o.Decisions
}

// DEC-20: same seed, same trace.
func TestDEC20_SameSeedSameTrace(t *testing.T) {
	for seed := uint64(1); seed <= 40; seed++ {
		a, b := NewLab().Run(seed, Options{}), NewLab().Run(seed, Options{Trace: true})
		if a.Hash != b.Hash {
			t.Errorf("seed %d: %016x and %016x", seed, a.Hash, b.Hash)
		}
	}
}
