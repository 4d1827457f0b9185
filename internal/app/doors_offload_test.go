package app

import (
	"errors"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/guard"
)

// fakeSets stand in for the kernel, which fails now and then.
type fakeSets struct {
	fails bool
	held  map[netip.Prefix]bool
}

var errKernel = errors.New("no buffer space available")

func (f *fakeSets) Check() error { return nil }

func (f *fakeSets) Add(p netip.Prefix, _ time.Duration) error { return f.set(p, true) }

func (f *fakeSets) Remove(p netip.Prefix) error { return f.set(p, false) }

func (f *fakeSets) Has([]netip.Prefix) (map[netip.Prefix]bool, error) { return f.held, nil }

func (f *fakeSets) set(p netip.Prefix, held bool) error {
	if f.fails {
		return errKernel
	}
	f.held[p] = held
	return nil
}

// A ban that was lifted while the kernel did not listen, or while too many changes
// waited, does not stay in the kernel until its end, and a new ban of the same network
// is not taken out.
func TestLiftedBansLeaveTheKernel(t *testing.T) {
	p, q, r := netip.MustParsePrefix("198.51.100.7/32"), netip.MustParsePrefix("198.51.100.8/32"), netip.MustParsePrefix("198.51.100.9/32")
	now := time.Now()
	bans := []guard.Ban{{Prefix: q, Until: now.Add(time.Hour)}}
	sets := &fakeSets{held: map[netip.Prefix]bool{p: true, q: true, r: true}}
	o := &offload{
		log: slog.New(slog.DiscardHandler), sets: sets, bans: func(time.Time) []guard.Ban { return bans },
		changes: make(chan offloadChange), left: make(map[netip.Prefix]struct{}),
	}
	sets.fails = true
	o.change(offloadChange{prefix: p})
	o.change(offloadChange{prefix: q}) // and banned again
	o.remove(r)                        // nobody reads: the queue is full
	o.compare(now)
	if sets.fails = false; !sets.held[p] || !sets.held[r] || o.failures() == 0 {
		t.Fatalf("%v", sets.held)
	}
	o.compare(now)
	if sets.held[p] || sets.held[r] || !sets.held[q] || len(o.left) != 0 {
		t.Errorf("held %v, left %v", sets.held, o.left)
	}
}
