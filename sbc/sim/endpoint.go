package sim

import (
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

	mu    sync.Mutex
	set   *transport.Set // nil while closed
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

func newEndpoint() *endpoint {
	return &endpoint{kick: make(chan struct{}, 1), quit: make(chan struct{})}
}

// open binds the sockets; start lets them read.
func (e *endpoint) open(cfg transport.Config) (*transport.Set, error) {
	set, err := transport.Open(cfg, e)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.set, e.batch = set, set.NewBatch()
	e.mu.Unlock()
	return set, nil
}

// start runs the timer goroutine until stop.
func (e *endpoint) start() { e.wg.Go(e.timers) }

// shut closes the sockets; open may follow.
func (e *endpoint) shut() error {
	e.mu.Lock()
	set := e.set
	e.set, e.batch = nil, nil
	e.mu.Unlock()
	if set == nil {
		return nil
	}
	return set.Close()
}

// stop ends the timer goroutine.
func (e *endpoint) stop() {
	close(e.quit)
	e.wg.Wait()
}

// send is the core's Sender. It runs under the lock.
func (e *endpoint) send(t transport.Target, data []byte, ref uint64) {
	if e.batch != nil {
		e.batch.Send(t, data, ref)
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
