package client

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Client asks the decision servers of a node. Its methods may be called from any
// goroutine.
type Client struct {
	cfg   Config
	log   *slog.Logger
	cache *lcr.Cache
	http  *http.Client
	wire  *http.Transport
	hosts *hosts

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	plans  atomic.Pointer[map[string]*plan] // replaced whole, under mu

	mu      sync.Mutex
	stopped bool
	flights map[lcr.Key]*flight
	flushed map[string]time.Time // when plans were last told to forget; "" for all
}

// New makes a client; nothing is asked before a call asks.
func New(cfg Config) *Client {
	cfg.setDefaults()
	c := &Client{
		cfg: cfg, log: cfg.Logger, cache: lcr.NewCache(cfg.Entries, cfg.Octets, maphash.MakeSeed()),
		flights: make(map[lcr.Key]*flight), flushed: make(map[string]time.Time),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.wire = newTransport(c.ctx, &c.cfg)
	c.http = &http.Client{
		Transport: c.wire,
		// Whoever follows a redirect shows the Authorization to somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.hosts = newHosts(c)
	c.plans.Store(&map[string]*plan{})
	return c
}

// Start begins to look after what is kept.
func (c *Client) Start() { c.wg.Go(c.tend) }

// Stop ends all questions, whose calls get no decision, and waits for them.
func (c *Client) Stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.cancel()
	c.wg.Wait()
	c.wire.CloseIdleConnections()
}

// Use takes the plans of a new table: those that are gone are forgotten.
func (c *Client) Use(list []*trunkgroup.RoutePlan) {
	c.mu.Lock()
	was := *c.plans.Load()
	now := make(map[string]*plan, len(list))
	for _, rp := range list {
		if rp.Decision == nil {
			continue
		}
		p := was[rp.Name]
		if p == nil {
			p = &plan{name: rp.Name}
		}
		p.use(rp.Decision)
		now[rp.Name] = p
	}
	c.plans.Store(&now)
	c.mu.Unlock()
	c.cfg.OnServers()
}

// plan returns what is known of a plan's server.
func (c *Client) plan(rp *trunkgroup.RoutePlan) *plan {
	if p := (*c.plans.Load())[rp.Name]; p != nil {
		return p
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	was := *c.plans.Load()
	if p := was[rp.Name]; p != nil {
		return p
	}
	p := &plan{name: rp.Name, server: rp.Decision}
	now := maps.Clone(was)
	now[rp.Name] = p
	c.plans.Store(&now)
	return p
}

// Known returns an answer that is still good, or nil. It takes no lock and allocates
// nothing.
func (c *Client) Known(q *Query) *trunkgroup.RouteSet {
	if q.Alone {
		return nil
	}
	set := c.cache.Get(q.key(), q.Now)
	if p := (*c.plans.Load())[q.Plan.Name]; p != nil {
		if set != nil {
			p.hits.Add(1)
		} else {
			p.misses.Add(1)
		}
	}
	return set
}

// Ask asks the plan's server, and calls done once, from any goroutine, within the
// plan's timeout. What it needs of the query it has copied when it returns.
func (c *Client) Ask(q *Query, done func(*trunkgroup.RouteSet)) {
	p, s := c.plan(q.Plan), q.Plan.Decision
	now := time.Now()
	w := &waiter{question: q.request(), deadline: now.Add(s.Timeout), done: done}
	key := q.key()
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		done(&trunkgroup.RouteSet{Absent: true, Why: errStopped.Error()})
		return
	}
	alone := q.Alone || p.alone.Load()
	if f := c.flights[key]; f != nil && !alone {
		f.others = append(f.others, w)
		c.mu.Unlock()
		return
	}
	trial, why, ok := p.admit(now, s)
	if !ok {
		c.mu.Unlock()
		p.results[why].Add(1)
		done(p.without(s, p.refusal(why)))
		return
	}
	f := &flight{client: c, plan: p, server: s, key: key, asked: now, trial: trial, own: q.Alone, first: w}
	if !alone {
		f.shared = true
		c.flights[key] = f
	}
	c.wg.Go(f.run)
	c.mu.Unlock()
}

var errStopped = errors.New("the node stops")

// refusal words why a server is not asked.
func (p *plan) refusal(r Result) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r == Busy {
		return "too many questions are under way: max_pending"
	}
	return "the decision server is left alone, since it fails: " + p.why
}
