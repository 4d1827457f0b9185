package app

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster/lease"
	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// limitFrame is the kind of the frames by which nodes share limits out.
	limitFrame byte = 44
	// limitWait is how long a call waits for a share of a limit that its node does
	// not have.
	limitWait = 500 * time.Millisecond
	// maxWaiting bounds the calls that wait.
	maxWaiting = 10_000
	// maxLimitFrames bounds the frames that wait for the engine; they are all
	// repeated.
	maxLimitFrames = 4096
	// waitTick is the pause between two looks at the calls that wait.
	waitTick = 20 * time.Millisecond
	// manyWaiting calls are not looked at again at once, but after waitRest: going
	// through them costs time.
	manyWaiting = 100
	waitRest    = 5 * time.Millisecond
)

// limits is the shell around lease.Engine: one goroutine owns the engine and the
// calls that wait. Shards use the meters alone.
type limits struct {
	app     *App
	log     *slog.Logger
	set     *limit.Set
	engine  *lease.Engine
	queue   *limit.Queue
	waiting atomic.Int32
	inForce atomic.Pointer[trunkgroup.Table]
	wake    chan struct{}
	roster  *roster

	mu     sync.Mutex // guards what follows: hand-over to the goroutine
	orders []func(now time.Time)
	frames []limitMail

	dones   map[uint64]func(bool) // of waiting calls, by their Ref
	last    uint64
	refused atomic.Uint64 // frames that could not be read
	stopped chan struct{}
	cancel  context.CancelFunc
}

type limitMail struct {
	from    string
	payload []byte
}

func newLimits(a *App) (*limits, error) {
	r, err := openRoster(a.cfg.DataDir, a.cfg.Name)
	if err != nil {
		return nil, err
	}
	l := &limits{
		app: a, log: a.log.With("component", "limits"), set: limit.NewSet(), wake: make(chan struct{}, 1), roster: r,
		dones: make(map[uint64]func(bool)), stopped: make(chan struct{}),
	}
	l.queue = limit.NewQueue(l.set, maxWaiting)
	l.engine = lease.New(lease.Config{
		Node: a.cfg.Name, Site: a.cfg.Site, Boot: a.node.Boot(), Alone: len(a.cfg.Cluster.Peers) == 0 && r.empty(),
	}, l.set, time.Now())
	return l, nil
}

func (l *limits) start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.look()
	go l.run(ctx)
	go l.watchLost(ctx)
}

func (l *limits) stop(context.Context) error {
	if l.cancel != nil {
		l.cancel()
		<-l.stopped
	}
	return nil
}

// Admit implements sbc.Limits.
func (l *limits) Admit(now time.Time, uses []limit.Use) limit.Verdict { return l.set.Admit(now, uses) }

// Release implements sbc.Limits.
func (l *limits) Release(uses []limit.Use) {
	l.set.Release(uses)
	if l.waiting.Load() > 0 {
		l.rouse()
	}
}

// Wait implements sbc.Limits.
func (l *limits) Wait(uses []limit.Use, done func(ok bool)) {
	l.waiting.Add(1)
	l.do(func(now time.Time) {
		l.last++
		if !l.queue.Add(limit.Waiter{Ref: l.last, Uses: uses, Deadline: now.Add(limitWait)}) {
			l.waiting.Add(-1)
			done(false)
			return
		}
		l.dones[l.last] = done
	})
}

// do lets the goroutine run something soon.
func (l *limits) do(order func(now time.Time)) {
	l.mu.Lock()
	l.orders = append(l.orders, order)
	l.mu.Unlock()
	l.rouse()
}

func (l *limits) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// frame takes a frame of another node.
func (l *limits) frame(from string, _ byte, payload []byte) {
	l.mu.Lock()
	if len(l.frames) < maxLimitFrames {
		l.frames = append(l.frames, limitMail{from, payload})
	}
	l.mu.Unlock()
	l.rouse()
}

// run owns the engine.
func (l *limits) run(ctx context.Context) {
	defer close(l.stopped)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		l.step(time.Now())
		timer.Reset(l.pause(time.Now()))
		select {
		case <-l.wake:
			if l.queue.Len() > manyWaiting {
				timer.Reset(waitRest)
				<-timer.C
			}
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

func (l *limits) step(now time.Time) {
	l.mu.Lock()
	orders, frames := l.orders, l.frames
	l.orders, l.frames = nil, nil
	l.mu.Unlock()
	for _, do := range orders {
		do(now)
	}
	for _, m := range frames {
		if err := l.engine.Receive(now, m.from, m.payload); err != nil && l.refused.Add(1) == 1 {
			l.log.Warn("a frame about limits was not understood; more are counted only", "peer", m.from, "error", err)
		}
	}
	if d := l.engine.Deadline(); l.queue.Len() > 0 || !d.IsZero() && !now.Before(d) {
		l.engine.Advance(now)
	}
	for _, o := range l.queue.Step(now) {
		done := l.dones[o.Ref]
		delete(l.dones, o.Ref)
		l.waiting.Add(-1)
		done(o.OK)
	}
	for _, m := range l.engine.Output() {
		l.app.node.Send(m.To, limitFrame, m.Frame)
	}
}

// pause is how long the goroutine may sleep.
func (l *limits) pause(now time.Time) time.Duration {
	wait := time.Hour
	if d := l.engine.Deadline(); !d.IsZero() {
		wait = d.Sub(now)
	}
	if l.queue.Len() > 0 {
		wait = min(wait, waitTick)
	}
	return max(wait, time.Millisecond)
}

// table puts the limits of a table in force, before its first call.
func (l *limits) table(t *trunkgroup.Table) {
	if l.inForce.Swap(t) == t {
		return
	}
	list, done := limitsOf(t), make(chan struct{})
	l.do(func(now time.Time) {
		l.engine.SetLimits(now, list)
		close(done)
	})
	select {
	case <-done:
	case <-l.stopped:
	}
}

// look tells the engine who lives.
func (l *limits) look() {
	nodes := l.roster.nodes(l.app.node)
	l.do(func(now time.Time) { l.engine.SetNodes(now, nodes) })
}

// status lists all limits as this node sees them.
func (l *limits) status(ctx context.Context) ([]lease.Status, error) {
	answer := make(chan []lease.Status, 1)
	l.do(func(now time.Time) { answer <- l.engine.Status(now) })
	select {
	case list := <-answer:
		return list, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.stopped:
		return nil, context.Canceled
	}
}

// holdMargin is what a use may last beyond the longest call: the hunt before the
// answer and the BYEs after the end.
const holdMargin = 5 * time.Minute

// limitsOf lists the limits of a table. Where a document sets none, uses are
// counted all the same: they are there when it sets one later.
func limitsOf(t *trunkgroup.Table) []lease.Limit {
	longest := time.Duration(0)
	for _, g := range t.Groups() {
		longest = max(longest, g.Limits.MaxDuration)
	}
	var list []lease.Limit
	add := func(s limit.Scope, name string, l *trunkgroup.Limits) {
		list = append(list,
			lease.Limit{Key: limit.Key{Kind: limit.Calls, Scope: s, Name: name}, Shares: l.CallShares, Hold: longest + holdMargin})
		if l.CPS > 0 {
			list = append(list,
				lease.Limit{Key: limit.Key{Kind: limit.Rate, Scope: s, Name: name}, Shares: l.RateShares, Hold: limit.RateSpan})
		}
	}
	for _, c := range t.Customers() {
		add(limit.Customer, c.Name, &c.Limits)
	}
	for _, g := range t.Groups() {
		add(limit.Group, g.Name, &g.Limits)
	}
	for _, m := range t.Members() {
		add(limit.Member, m.Key, &m.Limits)
	}
	return slices.Clip(list)
}
