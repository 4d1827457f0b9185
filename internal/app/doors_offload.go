package app

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/internal/nftset"
	"github.com/tandem-sbc/tandem/sbc/guard"
)

const (
	// maxOffload bounds the changes that wait for the kernel.
	maxOffload = 4096
	// maxLeft bounds the removals that are tried again.
	maxLeft = 1 << 16
	// offloadLook is how often the sets are compared with the bans: somebody may have
	// loaded the rules anew.
	offloadLook = time.Minute
	// offloadComplaint is the shortest time between two log lines about failures.
	offloadComplaint = time.Minute
)

// banSets are the sets of the kernel.
type banSets interface {
	Check() error
	Add(p netip.Prefix, d time.Duration) error
	Remove(p netip.Prefix) error
	Has(list []netip.Prefix) (map[netip.Prefix]bool, error)
}

// offload mirrors bans into sets of the kernel. What fails is counted and logged, and
// the bans hold in this program all the same. A nil offload does nothing.
type offload struct {
	log      *slog.Logger
	sets     banSets
	bans     func(time.Time) []guard.Ban
	changes  chan offloadChange
	failed   atomic.Uint64
	complain time.Time // when the log may be written to again; the goroutine's own
	mu       sync.Mutex
	left     map[netip.Prefix]struct{} // lifted bans that the kernel may still hold; under mu
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// offloadChange adds a network, or with no time removes it.
type offloadChange struct {
	prefix netip.Prefix
	until  time.Time
}

func newOffload(cfg config.NFTables, bans func(time.Time) []guard.Ban, log *slog.Logger) *offload {
	if cfg.Table == "" {
		return nil
	}
	return &offload{
		log: log, sets: nftset.New(cfg.Table, cfg.Set4, cfg.Set6), bans: bans, changes: make(chan offloadChange, maxOffload),
		left: make(map[netip.Prefix]struct{}),
	}
}

func (o *offload) start() {
	if o == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	if err := o.sets.Check(); err != nil {
		o.fail("start", err)
	}
	o.done.Go(func() { o.run(ctx) })
}

func (o *offload) stop() {
	if o != nil && o.cancel != nil {
		o.cancel()
		o.done.Wait()
	}
}

// add tells of a ban and never blocks.
func (o *offload) add(p netip.Prefix, d time.Duration) { o.push(offloadChange{p, time.Now().Add(d)}) }

// remove tells of a ban that is lifted.
func (o *offload) remove(p netip.Prefix) { o.push(offloadChange{prefix: p}) }

func (o *offload) push(c offloadChange) {
	if o == nil {
		return
	}
	select {
	case o.changes <- c:
	default:
		o.failed.Add(1) // the next look finds it
		o.again(c)
	}
}

// failures is how often the kernel did not take a ban.
func (o *offload) failures() uint64 {
	if o == nil {
		return 0
	}
	return o.failed.Load()
}

func (o *offload) run(ctx context.Context) {
	tick := time.NewTicker(offloadLook)
	defer tick.Stop()
	for {
		select {
		case c := <-o.changes:
			o.change(c)
		case <-tick.C:
			o.compare(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

func (o *offload) change(c offloadChange) {
	var err error
	switch left := time.Until(c.until); {
	case c.until.IsZero():
		err = o.sets.Remove(c.prefix)
	case left > 0:
		err = o.sets.Add(c.prefix, left)
	}
	if err != nil {
		o.again(c)
		o.fail("change", err)
	}
}

// again remembers a removal that did not come to pass: a ban that nobody lists any
// more would else shut its network out until its end.
func (o *offload) again(c offloadChange) {
	if !c.until.IsZero() {
		return // the bans themselves say what is to be added
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.left) < maxLeft {
		o.left[c.prefix] = struct{}{}
	}
}

// removeLeft tries those removals once more, but of what is banned again.
func (o *offload) removeLeft(banned []guard.Ban) {
	o.mu.Lock()
	left := o.left
	o.left = make(map[netip.Prefix]struct{})
	o.mu.Unlock()
	for _, b := range banned {
		delete(left, b.Prefix)
	}
	for p := range left {
		o.change(offloadChange{prefix: p})
	}
}

// compare removes what failed to be removed and adds the bans that the sets lack.
func (o *offload) compare(now time.Time) {
	list := o.bans(now)
	o.removeLeft(list)
	if len(list) == 0 {
		return
	}
	prefixes := make([]netip.Prefix, len(list))
	for i := range list {
		prefixes[i] = list[i].Prefix
	}
	have, err := o.sets.Has(prefixes)
	if err != nil {
		o.fail("compare", err)
		return
	}
	for _, b := range list {
		if !have[b.Prefix] {
			o.change(offloadChange{b.Prefix, b.Until})
		}
	}
}

func (o *offload) fail(what string, err error) {
	o.failed.Add(1)
	if now := time.Now(); now.After(o.complain) {
		o.complain = now.Add(offloadComplaint)
		o.log.Warn("bans are not in the kernel", "what", what, "error", err)
	}
}
