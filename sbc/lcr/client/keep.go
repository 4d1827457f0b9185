package client

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// tendEvery is how often answers that are over are let go.
const tendEvery = 30 * time.Second

// keep puts an answer where calls find it, unless it was asked before an order to
// forget.
func (c *Client) keep(k lcr.Key, x *exchange, set *trunkgroup.RouteSet, asked time.Time, ttl time.Duration) {
	now := time.Now()
	if c.forgotten(k.Plan, asked) {
		return
	}
	c.put(k, x, set, asked, now.Add(ttl))
}

func (c *Client) put(k lcr.Key, x *exchange, set *trunkgroup.RouteSet, asked, until time.Time) {
	c.cache.Put(time.Now(), k, &lcr.Entry{Set: cached(set), Asked: asked, Until: until, Names: x.names, Size: len(x.body)})
	if len(x.names) == 0 {
		return
	}
	for i := range set.Routes { // addresses may have come between
		r := &set.Routes[i]
		if _, n, ok, err := lcr.NextHop(r); err == nil && ok && n.Name != "" && !sameHops(r.Hops, c.hosts.addresses(n)) {
			c.rehost(n)
		}
	}
}

func sameHops(hops []trunkgroup.Hop, addrs []netip.AddrPort) bool {
	return slices.EqualFunc(hops, addrs, func(h trunkgroup.Hop, a netip.AddrPort) bool { return h.Addr == a })
}

// Hear takes an answer that another node has got, as it came, asked at a time and good
// until another one by this node's clock. False means that it is none: whoever wants
// to know asks (S-092). Hosts that it names are looked up first, off this goroutine.
func (c *Client) Hear(key string, body []byte, asked, until time.Time) bool {
	k, ok := lcr.ParseKey(key)
	if !ok {
		return false
	}
	x := &exchange{}
	if x.read(body); x.result.failed() {
		return false
	}
	if c.forgotten(k.Plan, asked) || !time.Now().Before(until) {
		return true
	}
	if len(x.names) == 0 {
		c.put(k, x, &x.answer.Set, asked, until)
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return true
	}
	c.wg.Go(func() {
		ctx, cancel := context.WithTimeout(c.ctx, lookupTime)
		defer cancel()
		c.hosts.resolve(ctx, x.names)
		if !c.forgotten(k.Plan, asked) {
			c.put(k, x, lcr.Resolve(&x.answer.Set, c.hosts.addresses), asked, until)
		}
	})
	return true
}

// Forget lets the answer under a key go.
func (c *Client) Forget(key string) bool {
	k, ok := lcr.ParseKey(key)
	return ok && c.cache.Delete(k)
}

// Flush forgets the answers of a plan, or of all plans with an empty name, that were
// asked for before a time. What comes of them later is forgotten too.
func (c *Client) Flush(plan string, before time.Time) (n int) {
	c.mu.Lock()
	if before.After(c.flushed[plan]) {
		c.flushed[plan] = before
	}
	c.mu.Unlock()
	return c.cache.Sweep(func(k lcr.Key, e *lcr.Entry) *lcr.Entry {
		if (plan == "" || k.Plan == plan) && e.Asked.Before(before) {
			return nil
		}
		return e
	})
}

// forgotten reports whether an answer of that time is to be forgotten.
func (c *Client) forgotten(plan string, asked time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return asked.Before(c.flushed[plan]) || asked.Before(c.flushed[""])
}

// tend lets go what is over, and names that nobody needs.
func (c *Client) tend() {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		used := make(map[lcr.HopName]bool)
		c.cache.Sweep(func(_ lcr.Key, e *lcr.Entry) *lcr.Entry {
			if !now.Before(e.Until) {
				return nil
			}
			for _, n := range e.Names {
				used[n] = true
			}
			return e
		})
		if c.cfg.Names != nil {
			c.hosts.retain(used, now.Add(-tendEvery))
		}
		c.mu.Lock()
		for plan, at := range c.flushed {
			if now.Sub(at) > lcr.MaxTTL {
				delete(c.flushed, plan)
			}
		}
		c.mu.Unlock()
	}
}
