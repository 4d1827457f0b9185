package prober

import (
	"context"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Assignment is a target that this node is to watch, with what is known of it from elsewhere.
type Assignment struct {
	Target
	Admin trunkgroup.AdminState
	// Inherit is the state that another node found (DEC-13: newcomers inherit the old record until their first own result), with its reason,
	// since when, and since when the target gets no calls. Unknown when nobody did.
	Inherit trunkgroup.State
	Reason  string
	Since   time.Time
	Out     time.Time
	Latency trunkgroup.RoundTrips
}

// Prober watches targets. Its methods may be called from any goroutine and never block.
type Prober struct {
	cfg  Config
	wake chan struct{} // capacity 1: orders wait

	mu     sync.Mutex
	orders []func(*loop, time.Time)

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// New makes a prober without targets.
func New(cfg Config) (*Prober, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	p := &Prober{cfg: cfg, wake: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// Start begins probing.
func (p *Prober) Start() {
	l := &loop{p: p, targets: make(map[verdict.Key]*target), results: make(chan result, p.cfg.Parallel)}
	p.wg.Go(l.run)
}

// Stop ends all probes and waits for them. OnUpdate is not called after it.
func (p *Prober) Stop() {
	p.cancel()
	p.wg.Wait()
}

// SetTargets says what to watch from now on. Targets that were watched before keep their state; those that are no longer named are forgotten.
func (p *Prober) SetTargets(list []Assignment) {
	p.order(func(l *loop, now time.Time) { l.setTargets(now, list) })
}

// Inherit gives a target that has no result yet the state that another node found. It does nothing for one that has, or is not watched.
func (p *Prober) Inherit(a Assignment) {
	p.order(func(l *loop, now time.Time) {
		t := l.targets[a.Key()]
		if t == nil || !sameFarEnd(t.Target, a.Target) || t.health.State() != trunkgroup.Unknown {
			return
		}
		if _, at := t.health.LastProbe(); at.IsZero() {
			t.inherit(now, a)
			l.schedule.place(t)
		}
	})
}

// SetAdmin takes an operator's word about all addresses of a member. Only AdminDisabled stops the probes. AdminUp, even when said again, ends
// a pause and probes a member that is down at once.
func (p *Prober) SetAdmin(member string, a trunkgroup.AdminState) {
	p.order(func(l *loop, now time.Time) {
		for key, t := range l.targets {
			if key.Member == member {
				l.setAdmin(now, t, a, true)
			}
		}
	})
}

// Evidence takes what a call saw of a target (DEC-11): ok for a response of any kind, else the cause of a transport error or a silence. It
// does nothing for a target that this node does not watch.
func (p *Prober) Evidence(key verdict.Key, ok bool, cause string) {
	p.order(func(l *loop, now time.Time) {
		if l.paused {
			return // no probe could decide
		}
		l.change(now, key, func(t *target) { t.health.Evidence(now, ok, cause) })
	})
}

// RetryAfter takes the Retry-After of a 503 that a call got (DEC-11).
func (p *Prober) RetryAfter(key verdict.Key, d time.Duration) {
	p.order(func(l *loop, now time.Time) {
		l.change(now, key, func(t *target) { t.health.RetryAfter(now, d) })
	})
}

// order hands work to the loop.
func (p *Prober) order(f func(*loop, time.Time)) {
	p.mu.Lock()
	p.orders = append(p.orders, f)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *Prober) takeOrders() []func(*loop, time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	orders := p.orders
	p.orders = nil
	return orders
}
