package client

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/sbc/dns"
	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// maxHosts bounds the names that are kept fresh.
	maxHosts = 1024
	// lookupTime bounds one lookup, and failedFor how long no other one follows it.
	lookupTime = 5 * time.Second
	failedFor  = 5 * time.Second
)

// hosts are the addresses of names in answers.
type hosts struct {
	client *Client

	mu   sync.Mutex
	list map[lcr.HopName]*host
}

type host struct {
	addrs  []netip.AddrPort
	used   time.Time
	failed time.Time     // when a lookup brought nothing
	wait   chan struct{} // closed when the lookup under way has ended; nil for none
	late   bool          // somebody has gone on without it
}

func newHosts(c *Client) *hosts { return &hosts{client: c, list: make(map[lcr.HopName]*host)} }

func target(n lcr.HopName) dns.Target {
	return dns.Target{Name: n.Name, Port: n.Port, Transport: n.Transport}
}

// resolve sees that the names are looked up, all at once, and waits for it within ctx.
// Answers that are kept without an address get it when it comes late.
func (h *hosts) resolve(ctx context.Context, names []lcr.HopName) {
	waits := make([]chan struct{}, len(names))
	for i, n := range names {
		waits[i] = h.begin(n)
	}
	for i, w := range waits {
		if w == nil {
			continue
		}
		select {
		case <-w:
		case <-ctx.Done():
			h.lag(names[i:])
			return
		}
	}
}

// lag notes that somebody goes on without these names.
func (h *hosts) lag(names []lcr.HopName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range names {
		if x := h.list[n]; x != nil && len(x.addrs) == 0 {
			x.late = true
		}
	}
}

// caughtUp reports whether a name has an address by now that somebody went on without.
func (h *hosts) caughtUp(n lcr.HopName) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.list[n]
	if x == nil || !x.late || len(x.addrs) == 0 {
		return false
	}
	x.late = false
	return true
}

// begin starts the lookup of a name that is not known, and returns what to wait for.
func (h *hosts) begin(n lcr.HopName) chan struct{} {
	if h.client.cfg.Names == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	x := h.list[n]
	if x == nil {
		if !h.makeRoom() {
			return nil // the route has no far end, and the next one is tried
		}
		x = &host{}
		h.list[n] = x
	}
	x.used = now
	if len(x.addrs) > 0 || x.wait != nil || now.Sub(x.failed) < failedFor {
		return x.wait
	}
	x.wait = make(chan struct{})
	wait := x.wait
	h.client.wg.Go(func() { h.lookup(n, wait) })
	return wait
}

// lookup asks for a name, which is kept fresh from then on.
func (h *hosts) lookup(n lcr.HopName, wait chan struct{}) {
	ctx, cancel := context.WithTimeout(h.client.ctx, lookupTime)
	defer cancel()
	addrs, err := h.client.cfg.Names.Lookup(ctx, target(n))
	h.mu.Lock()
	if x := h.list[n]; x != nil && x.wait == wait {
		x.wait = nil
		if err == nil && x.addrs == nil {
			x.addrs = addrs
		} else if err != nil {
			x.failed = time.Now()
		}
	}
	h.watch()
	h.mu.Unlock()
	close(wait)
	if h.caughtUp(n) {
		h.client.rehost(n)
	}
	if err != nil && h.client.ctx.Err() == nil {
		h.client.log.Debug("the next hop of a route is not resolved", "name", n.Name, "error", err)
	}
}

// watch says which names are kept fresh; the lock is held.
func (h *hosts) watch() {
	targets := make([]dns.Target, 0, len(h.list))
	for n := range h.list {
		targets = append(targets, target(n))
	}
	h.client.cfg.Names.Watch(targets)
}

// makeRoom forgets the name that was used least lately when there are too many. It reports
// false when all of them are being looked up; the lock is held.
func (h *hosts) makeRoom() bool {
	if len(h.list) < maxHosts {
		return true
	}
	var oldest lcr.HopName
	var at *host
	for n, x := range h.list {
		if x.wait == nil && (at == nil || x.used.Before(at.used)) {
			oldest, at = n, x
		}
	}
	if at == nil {
		return false
	}
	delete(h.list, oldest)
	return true
}

// addresses are those that are known now. The slice is shared.
func (h *hosts) addresses(n lcr.HopName) []netip.AddrPort {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.list[n]; x != nil {
		return x.addrs
	}
	return nil
}

// retain forgets names that no kept answer has and that were not used since a time.
func (h *hosts) retain(used map[lcr.HopName]bool, since time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.list)
	for n, x := range h.list {
		if !used[n] && x.wait == nil && x.used.Before(since) {
			delete(h.list, n)
		}
	}
	if len(h.list) != before {
		h.watch()
	}
}

// Renamed tells that the addresses of a watched name have changed: kept answers get
// them. It does not call Names.
func (c *Client) Renamed(t dns.Target, addrs []netip.AddrPort) {
	n := lcr.HopName{Name: t.Name, Port: t.Port, Transport: t.Transport}
	c.hosts.mu.Lock()
	x := c.hosts.list[n]
	same := x == nil || slices.Equal(x.addrs, addrs)
	if !same {
		x.addrs = slices.Clone(addrs)
	}
	c.hosts.mu.Unlock()
	if !same {
		c.rehost(n)
	}
}

// rehost gives kept answers the addresses that a name has now.
func (c *Client) rehost(n lcr.HopName) {
	c.cache.Sweep(func(_ lcr.Key, e *lcr.Entry) *lcr.Entry {
		if !slices.Contains(e.Names, n) {
			return e
		}
		fresh := *e
		fresh.Set = lcr.Resolve(e.Set, c.hosts.addresses)
		return &fresh
	})
}

// cached is a set as calls get it later.
func cached(set *trunkgroup.RouteSet) *trunkgroup.RouteSet {
	out := *set
	out.Source = trunkgroup.RoutesCached
	return &out
}
