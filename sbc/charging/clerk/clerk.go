package clerk

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/peers"
	"github.com/tandem-sbc/tandem/sbc/charging/spool"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Sender sends one request and says to whom; what becomes of it comes back by the order's Done. It must
// not block.
type Sender interface {
	Send(o peers.Order) (host string)
}

// Config is what a Clerk is built from.
type Config struct {
	Host string // our identity: Session-Ids begin with it
	Boot uint32 // of this node: Session-Ids are never used twice
	// Timeout is how long one request may take (Tx); default 5s.
	Timeout time.Duration
	Peers   Sender
	Spool   *spool.Spool
	// IDs returns identifiers of requests.
	IDs    func() uint32
	Logger *slog.Logger
}

// Ticket is what a call knows of its charging.
type Ticket struct {
	Key             uint64
	Online, Offline string // Session-Ids; empty where there is none
	// Wait is how long the call may have to wait for credit; 0: it need not.
	Wait time.Duration
}

// Notice tells a call what became of its credit.
type Notice struct {
	Kind   charging.ActionKind // Grant, Refuse or Teardown
	Why    charging.Why
	Result uint32 // the last result code; 0 = none
}

const (
	defaultTimeout = 5 * time.Second
	beatEvery      = time.Second
)

// Clerk owns sessions. Its methods may be called by any goroutine and do not block.
type Clerk struct {
	cfg  Config
	keys atomic.Uint64

	mu      sync.Mutex
	inbox   []func(now time.Time)
	stopped bool

	wake chan struct{}
	quit chan struct{}
	done sync.WaitGroup
	// patience is how long what is left may take when the work ends; set before quit is closed.
	patience time.Duration

	// What follows belongs to the goroutine.
	sessions map[uint64]*session
	byName   map[string]*session
	due      schedule
	courier  courier
	counts   counts
	page     atomic.Pointer[Status]
}

// New returns a clerk that has what the spool kept to be told.
func New(cfg Config) *Clerk {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Clerk{
		cfg: cfg, wake: make(chan struct{}, 1), quit: make(chan struct{}),
		sessions: make(map[uint64]*session), byName: make(map[string]*session),
		counts: newCounts(),
	}
	c.courier = newCourier(c)
	for _, item := range cfg.Spool.Items() {
		c.courier.add(item)
	}
	c.page.Store(&Status{})
	return c
}

// Start begins to work.
func (c *Clerk) Start() { c.done.Go(c.run) }

// Stop ends the work. For a while it still tells what there is to be told; the rest stays on the
// spool. Calls end before.
func (c *Clerk) Stop(patience time.Duration) {
	c.mu.Lock()
	stopped := c.stopped
	c.stopped = true
	c.mu.Unlock()
	if !stopped {
		c.patience = patience
		close(c.quit)
	}
	c.done.Wait()
}

// Begin begins to charge a call. tell is called with what becomes of it, from the clerk's goroutine.
func (c *Clerk) Begin(rules *trunkgroup.Charging, call charging.Call, tell func(Notice)) Ticket {
	key := c.keys.Add(1)
	t := Ticket{Key: key}
	call.Account = charging.AccountOf(rules, &call)
	name := func(app int) string {
		return fmt.Sprintf("%s;%d;%d;%s", c.cfg.Host, c.cfg.Boot, 2*uint32(key)+uint32(app), call.ID)
	}
	if rules.Offline {
		t.Offline = name(0)
	}
	if rules.Online {
		t.Online = name(1)
		t.Wait = c.cfg.Timeout
		if rules.OnFailure == trunkgroup.ChargingRetry {
			t.Wait *= 2
		}
	}
	c.push(func(now time.Time) { c.begin(now, &t, rules, &call, tell) })
	return t
}

// Connect tells that a call was answered.
func (c *Clerk) Connect(key uint64, call charging.Call) {
	c.push(func(now time.Time) { c.connect(now, key, &call) })
}

// End tells that a call is over.
func (c *Clerk) End(key uint64, call charging.Call) {
	c.push(func(now time.Time) { c.end(now, key, &call) })
}

// Asked takes a server's request about a session (RFC 6733 8.3, 8.5).
func (c *Clerk) Asked(name string, abort bool) bool {
	known := make(chan bool, 1)
	c.push(func(now time.Time) { known <- c.asked(now, name, abort) })
	select {
	case ok := <-known:
		return ok
	case <-time.After(time.Second):
		return false
	case <-c.quit:
		return false
	}
}

func (c *Clerk) push(fn func(time.Time)) {
	c.mu.Lock()
	c.inbox = append(c.inbox, fn)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Clerk) run() {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := time.Now()
		c.work(now)
		timer.Reset(max(c.until(now), 0))
		select {
		case <-c.wake:
		case <-timer.C:
		case now := <-beat.C:
			c.cfg.Spool.Beat(now)
			c.publish()
		case <-c.quit:
			c.finish()
			return
		}
	}
}

// finish tells what is left.
func (c *Clerk) finish() {
	end := time.NewTimer(c.patience)
	defer end.Stop()
	for {
		c.work(time.Now())
		c.publish()
		if c.courier.idle() {
			return
		}
		select {
		case <-c.wake:
		case <-end.C:
			return
		}
	}
}

// work does all that was said and all that is due.
func (c *Clerk) work(now time.Time) {
	c.mu.Lock()
	list := c.inbox
	c.inbox = nil
	c.mu.Unlock()
	for _, fn := range list {
		fn(now)
	}
	for s := c.due.pop(now); s != nil; s = c.due.pop(now) {
		c.expire(now, s)
	}
	c.courier.work(now)
}

func (c *Clerk) until(now time.Time) time.Duration {
	d := time.Hour
	for _, at := range [...]time.Time{c.due.next(), c.courier.next()} {
		if !at.IsZero() {
			d = min(d, at.Sub(now))
		}
	}
	return d
}
