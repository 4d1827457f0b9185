package sim

import (
	"net/netip"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// core is what an endpoint puts on the wire.
type core interface {
	Receive(now time.Time, p *transport.Packet)
	Malformed(now time.Time, f *sip.Fault)
	Failed(now time.Time, ref uint64, err error)
	Closed(now time.Time, f transport.Flow)
	Expire(now time.Time)
	Deadline() time.Time
}

// endpoint runs one core on real sockets. Readers call the core in the order in
// which the socket gave the messages; one goroutine serves its deadlines. The
// lock makes one event loop of them: it is held for one batch of messages.
type endpoint struct {
	core core
	loop *Loop // nil: sockets of package transport and a timer goroutine

	mu    *sync.Mutex // the loop's, if there is one
	live  bool        // sockets are open
	set   *transport.Set
	batch *transport.Batch
	armed time.Time // what the timer goroutine waits for; zero = nothing

	failMu   sync.Mutex
	failures []failure // told by the transport while the lock may be held

	kick chan struct{}
	quit chan struct{}
	wg   sync.WaitGroup
}

type failure struct {
	ref  uint64
	err  error
	flow transport.Flow // a closed flow when not 0
}

func newEndpoint(loop *Loop) *endpoint {
	e := &endpoint{loop: loop, mu: new(sync.Mutex), kick: make(chan struct{}, 1), quit: make(chan struct{})}
	if loop != nil {
		e.mu = &loop.mu
	}
	return e
}

// open binds the sockets, begins to read and returns the bound addresses.
func (e *endpoint) open(cfg transport.Config) ([]netip.AddrPort, error) {
	if e.loop != nil {
		addrs, err := e.loop.attach(e, cfg.Listeners)
		e.setLive(err == nil)
		return addrs, err
	}
	set, err := transport.Open(cfg, e)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.live, e.set, e.batch = true, set, set.NewBatch()
	e.mu.Unlock()
	addrs := make([]netip.AddrPort, len(cfg.Listeners))
	for i := range addrs {
		addrs[i] = set.Addr(i)
	}
	return addrs, nil
}

func (e *endpoint) setLive(live bool) {
	e.mu.Lock()
	e.live = live
	e.mu.Unlock()
}

// setCore gives the endpoint its core; a loop may be serving it already.
func (e *endpoint) setCore(c core) {
	e.mu.Lock()
	e.core = c
	e.mu.Unlock()
}

// read lets the sockets read; the core must be there.
func (e *endpoint) read() {
	if e.set != nil {
		e.set.Start()
	}
}

// start runs the timer goroutine until stop.
func (e *endpoint) start() {
	if e.loop == nil {
		e.wg.Go(e.timers)
	}
}

// shut closes the sockets; open may follow.
func (e *endpoint) shut() error {
	e.mu.Lock()
	live, set := e.live, e.set
	e.live, e.set, e.batch = false, nil, nil
	e.mu.Unlock()
	switch {
	case !live:
		return nil
	case set != nil:
		return set.Close()
	default:
		return e.loop.detach(e)
	}
}

// stop ends the timer goroutine.
func (e *endpoint) stop() {
	close(e.quit)
	e.wg.Wait()
}

// send is the core's Sender. It runs under the lock.
func (e *endpoint) send(t transport.Target, data []byte, ref uint64) {
	switch {
	case e.batch != nil:
		e.batch.Send(t, data, ref)
	case e.live:
		e.loop.send(e, t, data)
	}
}

// do runs fn on the core, then sends what it queued.
func (e *endpoint) do(fn func(now time.Time)) {
	e.mu.Lock()
	fn(time.Now())
	e.finish()
	e.mu.Unlock()
}

// finish flushes and wakes the timer goroutine when it would sleep too long.
func (e *endpoint) finish() {
	if e.loop != nil {
		e.loop.flush(e)
		return
	}
	if e.batch != nil {
		e.batch.Flush()
	}
	if next := e.core.Deadline(); !next.IsZero() && (e.armed.IsZero() || next.Before(e.armed)) {
		e.wake()
	}
}

func (e *endpoint) wake() {
	select {
	case e.kick <- struct{}{}:
	default:
	}
}

// timers serves the deadlines of the core and the failures that the transport
// reported.
func (e *endpoint) timers() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		e.mu.Lock()
		now := time.Now()
		e.drain(now)
		e.core.Expire(now)
		if e.batch != nil {
			e.batch.Flush()
		}
		e.armed = e.core.Deadline()
		wait := time.Hour
		if !e.armed.IsZero() {
			wait = time.Until(e.armed)
		}
		e.mu.Unlock()
		timer.Reset(max(wait, 0))
		select {
		case <-timer.C:
		case <-e.kick:
		case <-e.quit:
			return
		}
	}
}

func (e *endpoint) drain(now time.Time) {
	e.failMu.Lock()
	list := e.failures
	e.failures = nil
	e.failMu.Unlock()
	for _, f := range list {
		if f.flow != 0 {
			e.core.Closed(now, f.flow)
		} else {
			e.core.Failed(now, f.ref, f.err)
		}
	}
}

// Packets implements transport.Handler.
func (e *endpoint) Packets(batch []transport.Packet) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.set == nil {
		return
	}
	now := time.Now()
	for i := range batch {
		e.core.Receive(now, &batch[i])
	}
	e.finish()
}

// Reject implements transport.Handler.
func (e *endpoint) Reject(_ transport.Packet, f *sip.Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.core.Malformed(time.Now(), f)
}

// Failed implements transport.Handler. It may run inside Send and so under the
// lock: the news waits for the timer goroutine.
func (e *endpoint) Failed(ref uint64, _ transport.Target, err error) {
	e.note(failure{ref: ref, err: err})
}

// Closed implements transport.Handler.
func (e *endpoint) Closed(f transport.Flow) { e.note(failure{flow: f}) }

func (e *endpoint) note(f failure) {
	e.failMu.Lock()
	e.failures = append(e.failures, f)
	e.failMu.Unlock()
	e.wake()
}
