package webhook

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// Defaults of a Config.
const (
	defaultQueue   = 10_000
	defaultWorkers = 4
	defaultTries   = 10
	firstPause     = time.Second
	longestPause   = time.Minute
	// openTime bounds how long a connection is being opened.
	openTime = 15 * time.Second
)

// Config is what a Sender is built from. Zero values mean the defaults.
type Config struct {
	Queue   int // events that wait for one webhook; default 10,000
	Workers int // requests of one webhook at a time; default 4
	Tries   int // of one event; default 10
	// Transport carries the requests; nil is one of its own, which keeps connections open.
	Transport http.RoundTripper
	// Lookup reads a variable of the node's environment (S-094).
	Lookup func(name string) (value string, ok bool)
	// Agent is the User-Agent.
	Agent string
	// Logger gets what an operator should know; nil discards it.
	Logger *slog.Logger
}

// Sender sends the events of a node. It implements what calls tell their hooks to.
type Sender struct {
	cfg    Config
	client *http.Client
	owned  *http.Transport // nil for one that was given
	ctx    context.Context // ends when nothing is sent any more
	cancel context.CancelFunc
	lines  atomic.Pointer[lineTable]

	mu      sync.Mutex // of what follows
	current map[key]*line
	newest  map[string]*trunkgroup.RoutePolicy
	older   []generation // tables before, whose calls may still hunt
	closed  bool
	working sync.WaitGroup
}

// lineTable says which lines the events of a policy take. It never changes.
type lineTable map[*trunkgroup.RoutePolicy][]*line

// generation is the webhooks of one table.
type generation struct {
	table lineTable
	keys  []key
}

// keptGenerations is how many tables before the newest are remembered: a call that hunts
// goes by the table that it began with.
const keptGenerations = 16

// key tells webhooks apart over tables.
type key struct {
	plan, url, auth, secret string
	timeout                 time.Duration
}

// New makes a Sender that has nobody to tell yet.
func New(cfg Config) *Sender {
	if cfg.Queue <= 0 {
		cfg.Queue = defaultQueue
	}
	if cfg.Workers <= 0 {
		cfg.Workers = defaultWorkers
	}
	if cfg.Tries <= 0 {
		cfg.Tries = defaultTries
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Sender{cfg: cfg, current: make(map[key]*line)}
	if cfg.Transport == nil {
		s.owned = &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: cfg.Workers, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
			MaxResponseHeaderBytes: 64 << 10,
			// net/http goes on to open a connection when nobody waits for it any more: it has to
			// end by itself. One of HTTP/2 that the network has lost is found out by a ping.
			DialContext: (&net.Dialer{Timeout: openTime}).DialContext, TLSHandshakeTimeout: openTime,
			HTTP2: &http.HTTP2Config{SendPingTimeout: openTime, PingTimeout: openTime},
		}
		cfg.Transport = s.owned
	}
	s.client = &http.Client{
		Transport: cfg.Transport,
		// Nobody who was not named is told anything.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.lines.Store(&lineTable{})
	return s
}

// Use takes the policies that are in force, by the names of their plans. Webhooks that are
// new begin; those that are gone end once no call can have anything for them any more and
// their queues are empty. The policies that are in force already are no news: tables change
// with each called number that comes or goes.
func (s *Sender) Use(plans map[string]*trunkgroup.RoutePolicy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.newest != nil && maps.Equal(plans, s.newest) {
		return
	}
	s.newest = maps.Clone(plans)
	now := generation{table: make(lineTable)}
	for plan, p := range plans {
		if p == nil {
			continue
		}
		for _, w := range p.Webhooks {
			k := key{plan, w.URL, w.AuthHeader, w.Secret, w.Timeout}
			l := s.current[k]
			if l == nil {
				l = s.begin(k)
			}
			now.table[p] = append(now.table[p], l)
			now.keys = append(now.keys, k)
		}
	}
	s.older = append(s.older, now)
	if len(s.older) > keptGenerations+1 {
		s.older = slices.Delete(s.older, 0, 1)
	}
	all := make(lineTable)
	needed := make(map[key]bool)
	for _, g := range s.older {
		maps.Copy(all, g.table)
		for _, k := range g.keys {
			needed[k] = true
		}
	}
	s.lines.Store(&all)
	for k, l := range s.current {
		l.inForce.Store(slices.Contains(now.keys, k))
		if !needed[k] {
			delete(s.current, k)
			l.end()
		}
	}
}

// Tell queues an event for the webhooks of a policy that want its kind. It does not block
// and takes no lock.
func (s *Sender) Tell(p *trunkgroup.RoutePolicy, e *policy.Event) {
	lines := (*s.lines.Load())[p]
	for i, l := range lines {
		if slices.Contains(p.Webhooks[i].Events, e.Kind) {
			l.put(e)
		}
	}
}

// begin starts the line of a webhook.
func (s *Sender) begin(k key) *line {
	l := &line{key: k, sender: s, queue: make(chan *policy.Event, s.cfg.Queue), ended: make(chan struct{})}
	s.current[k] = l
	for range s.cfg.Workers {
		s.working.Go(l.work)
	}
	return l
}

// Close lets the workers send what is queued until ctx ends, then gives up what is left. No
// goroutine is left afterwards.
func (s *Sender) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	for _, l := range s.current {
		l.end()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.working.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	s.cancel()
	<-done
	left := 0
	for _, l := range s.current { // closed: nobody changes it any more
		left += len(l.queue)
		l.failed.Add(uint64(len(l.queue)))
	}
	if left > 0 {
		s.cfg.Logger.Warn("events of webhooks were given up, for the node ends", "events", left)
	}
	if s.owned != nil {
		s.owned.CloseIdleConnections()
	}
}

// Stats is what became of the events of one webhook.
type Stats struct {
	Plan   string
	Host   string // of its URL
	Queued int
	// Delivered were taken; Failed were given up after all tries, or could not be sent at
	// all; Dropped found the queue full.
	Delivered, Failed, Dropped uint64
	// Fault says why the last event that ended was not delivered; empty when it was.
	Fault string
	Since time.Time // of Fault
}

// Stats returns those of the webhooks in force, by plan and host.
func (s *Sender) Stats() []Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Stats, 0, len(s.current))
	for _, l := range s.current {
		if l.inForce.Load() {
			list = append(list, l.stats())
		}
	}
	slices.SortFunc(list, func(a, b Stats) int {
		if a.Plan != b.Plan {
			return strings.Compare(a.Plan, b.Plan)
		}
		return strings.Compare(a.Host, b.Host)
	})
	return list
}
