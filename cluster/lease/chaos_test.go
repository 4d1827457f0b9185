package lease

import (
	"fmt"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
)

var (
	portsKey = limit.Key{Kind: limit.Calls, Scope: limit.Group, Name: "acme"}
	rateKey  = limit.Key{Kind: limit.Rate, Scope: limit.Group, Name: "acme"}
)

func ports(shares map[string]int, hold time.Duration) Limit {
	return Limit{Key: portsKey, Shares: shares, Hold: hold}
}

// TestDEC10_NeverAboveTheLimit runs clusters through everything that can happen
// to them and counts what is in use from outside.
func TestDEC10_NeverAboveTheLimit(t *testing.T) {
	seeds := 25
	if testing.Short() {
		seeds = 6
	}
	// What these found: a loan that was not ended to the instant (391, 396), rights
	// that were gone and not taken back for a small difference (428, 811), a grantor
	// that went on as full when one joined who had passed rights on elsewhere (234,
	// 250, 659), and a term that a node had left before it was counted in it (803).
	// The weather of a seed changes with the code; they stay as further seeds.
	list := []int{234, 250, 391, 396, 428, 659, 803, 811}
	for seed := range seeds {
		list = append(list, seed)
	}
	for _, seed := range list {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			chaos(t, uint64(seed))
		})
	}
}

func chaos(t *testing.T, seed uint64) {
	shapes := []map[string]int{{"ash": 2, "dal": 2}, {"ash": 3, "dal": 1}, {"ash": 3}, {"ash": 2, "dal": 1, "fra": 2}}
	shape := shapes[seed%uint64(len(shapes))]
	shares := map[string]int{}
	for s := range shape {
		shares[s] = 1 + int(seed*7%20)
	}
	const hold = 20 * time.Second
	w := newWorld(t, seed, shape, ports(shares, hold), Limit{Key: rateKey, Shares: shares, Hold: limit.RateSpan})
	w.loss = []float64{0, 0.05, 0.3}[seed%3]
	w.pass(5 * time.Second)
	for range 40 {
		w.fault()
		for range 5 + w.rng.IntN(600) {
			w.step(time.Duration(1+w.rng.IntN(20)) * time.Millisecond)
			n := w.nodes[w.rng.IntN(len(w.nodes))]
			if n.alive && !n.paused && w.rng.IntN(4) > 0 {
				w.place(n, portsKey, time.Duration(w.rng.Int64N(int64(hold))))
				w.place(n, rateKey, limit.RateSpan)
			}
		}
	}
	w.mend()
	w.pass(40 * time.Second)
	w.saturated(portsKey)
}

// fault lets one thing happen.
func (w *world) fault() {
	n := w.nodes[w.rng.IntN(len(w.nodes))]
	switch w.rng.IntN(9) {
	case 0:
		w.log("kill %s", n.name)
		w.kill(n)
	case 1, 2:
		for _, n := range w.nodes {
			if !n.alive {
				w.log("boot %s", n.name)
				w.boot(n)
			}
			n.paused = false
		}
	case 3:
		w.log("pause %s", n.name)
		n.paused = true
	case 4:
		clear(w.cut)
		w.log("mend")
	case 5:
		w.log("cut the sites")
		for i, a := range w.nodes {
			for k, b := range w.nodes {
				if a.site != b.site {
					w.cut[[2]int{i, k}] = true
				}
			}
		}
	case 6:
		p := w.rng.IntN(len(w.nodes))
		w.log("cut %s to %s", n.name, w.nodes[p].name)
		w.cut[[2]int{n.i, p}] = true
	case 7:
		w.log("cut off %s", n.name)
		for i := range w.nodes {
			w.cut[[2]int{n.i, i}], w.cut[[2]int{i, n.i}] = true, true
		}
	}
}

func (w *world) mend() {
	clear(w.cut)
	w.loss = 0
	for _, n := range w.nodes {
		n.paused = false
		if !n.alive {
			w.boot(n)
		}
	}
	w.log("mended")
}

// saturated checks that all rights are to be had again: what is in use reaches
// the limit, and does not miss one.
func (w *world) saturated(k limit.Key) {
	w.t.Helper()
	total := 0
	for _, l := range w.limits {
		if l.Key == k {
			for _, n := range l.Shares {
				total += n
			}
		}
	}
	for range 3000 {
		w.step(5 * time.Millisecond)
		if n := w.nodes[w.rng.IntN(len(w.nodes))]; w.rng.IntN(3) == 0 && len(n.waiting) < 10 {
			w.place(n, k, time.Hour)
		}
	}
	if open := w.open(k); open != total {
		for _, n := range w.nodes {
			w.t.Logf("%s: %s", n.name, n.e.dump(k))
		}
		w.t.Fatalf("%d in use at three times the limit, want %d; %v", open, total, w.trace)
	}
}
