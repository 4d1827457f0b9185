package dns

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Resolver keeps the addresses of the watched targets. Its methods may be called from any goroutine.
type Resolver struct {
	cfg   Config
	slots chan struct{} // one per question in flight

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	watched map[Target]*watch
	random  *rand.Rand

	publish sync.Mutex // serialises OnChange
}

// watch is one target that is being kept.
type watch struct {
	stop    context.CancelFunc
	refresh chan struct{} // capacity 1
	addrs   []netip.AddrPort
}

// New makes a resolver; nothing is asked before Watch.
func New(cfg Config) (*Resolver, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	r := &Resolver{
		cfg:     cfg,
		slots:   make(chan struct{}, cfg.Parallel),
		watched: make(map[Target]*watch),
		random:  rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// Watch sets the targets to keep: new ones are looked up at once, those that are no longer named are forgotten, the others stay as they are.
func (r *Resolver) Watch(targets []Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	wanted := make(map[Target]bool, len(targets))
	for _, t := range targets {
		wanted[t] = true
		if r.watched[t] != nil {
			continue
		}
		ctx, stop := context.WithCancel(r.ctx)
		w := &watch{stop: stop, refresh: make(chan struct{}, 1)}
		r.watched[t] = w
		r.wg.Go(func() { r.keep(ctx, t, w) })
	}
	for t, w := range r.watched {
		if !wanted[t] {
			w.stop()
			delete(r.watched, t)
		}
	}
}

// Addrs returns the published addresses of a target, in the order to try them; nil when it is not watched or has none. The slice is shared
// and must not be changed.
func (r *Resolver) Addrs(t Target) []netip.AddrPort {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.watched[t]; w != nil {
		return w.addrs
	}
	return nil
}

// Refresh asks for a target again soon, for example because one of its addresses refuses connections. Never sooner than MinTTL after the
// last time.
func (r *Resolver) Refresh(t Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.watched[t]; w != nil {
		select {
		case w.refresh <- struct{}{}:
		default:
		}
	}
}

// Stop ends all lookups and waits for them. OnChange is not called after it.
func (r *Resolver) Stop() {
	r.mu.Lock()
	r.cancel()
	r.mu.Unlock()
	r.wg.Wait()
}

// keep looks one target up again and again.
func (r *Resolver) keep(ctx context.Context, t Target, w *watch) {
	l := &lookup{target: t}
	retry, failing := r.cfg.Retry, false
	for {
		result := l.run(ctx, r)
		if ctx.Err() != nil {
			return
		}
		wait := result.ttl
		if !result.complete && result.err == nil {
			result.err = errNoAddress
		}
		if result.err == nil {
			retry = r.cfg.Retry
		} else {
			wait, retry = retry, min(2*retry, r.cfg.soon())
		}
		r.report(t, l, result.err, failing)
		failing = result.err != nil
		if result.complete && !slices.Equal(result.addrs, l.addrs) {
			l.addrs = result.addrs
			r.announce(ctx, t, w, result.addrs)
		}
		if !r.pause(ctx, w, wait) {
			return
		}
	}
}

// report logs when lookups of a target begin to fail and when they work again, not each failure.
func (r *Resolver) report(t Target, l *lookup, err error, failing bool) {
	switch {
	case err != nil && !failing:
		r.cfg.Logger.Warn("name lookup failed", "target", t.String(), "addresses_kept", len(l.addrs), "error", err)
	case err == nil && failing:
		r.cfg.Logger.Info("name lookup works again", "target", t.String())
	}
}

// announce publishes a changed list.
func (r *Resolver) announce(ctx context.Context, t Target, w *watch, addrs []netip.AddrPort) {
	r.publish.Lock()
	defer r.publish.Unlock()
	r.mu.Lock()
	gone := ctx.Err() != nil
	w.addrs = addrs
	r.mu.Unlock()
	if !gone {
		r.cfg.OnChange(t, addrs)
	}
}

// pause waits for the next round: the given time, or less when a refresh is asked for.
func (r *Resolver) pause(ctx context.Context, w *watch, wait time.Duration) bool {
	least := time.NewTimer(min(wait, r.cfg.MinTTL))
	defer least.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-least.C:
	}
	if wait <= r.cfg.MinTTL {
		return true
	}
	rest := time.NewTimer(wait - r.cfg.MinTTL)
	defer rest.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-rest.C:
	case <-w.refresh:
	}
	return true
}

// order draws the order of SRV records.
func (r *Resolver) order(hosts []srv) {
	r.mu.Lock()
	defer r.mu.Unlock()
	orderSRV(hosts, r.random)
}

// families are the address record types to ask for.
func (r *Resolver) families() []uint16 {
	switch r.cfg.Network {
	case "ip4":
		return []uint16{dns.TypeA}
	case "ip6":
		return []uint16{dns.TypeAAAA}
	}
	return []uint16{dns.TypeA, dns.TypeAAAA}
}
