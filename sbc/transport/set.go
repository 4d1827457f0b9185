package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Set is the sockets of a node. Open binds them, Start begins to read, Close ends everything. Its methods may be called by
// several goroutines; Batches may not be shared.
type Set struct {
	cfg       Config
	limits    Limits
	log       *slog.Logger
	handler   Handler
	counters  Counters
	listeners []*listener
	streams   streams
	batches   atomic.Uint32

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	started atomic.Bool

	mu     sync.Mutex // guards closed and the growth of wg
	closed bool
	wg     sync.WaitGroup // every goroutine of the Set
}

// listener is one bound address: UDP sockets, or one stream listener.
type listener struct {
	cfg    ListenerConfig
	addr   netip.AddrPort
	udp    []*udpSocket
	stream *streamListener
}

// Open binds all listeners, or none when one fails.
func Open(cfg Config, h Handler) (*Set, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("transport: %w", err)
	}
	s := &Set{cfg: cfg, limits: cfg.Limits.withDefaults(), log: cfg.Logger, handler: h}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.streams.sources, s.streams.dialled = map[netip.Prefix]int{}, map[netip.Prefix]int{}
	s.streams.nextFlow.Store(rand.Uint64() >> 1)
	for i, lc := range cfg.Listeners {
		l, err := s.bind(i, lc)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("transport: listener %s: %w", lc.Name, err), s.Close())
		}
		s.listeners = append(s.listeners, l)
	}
	return s, nil
}

// bind opens the sockets of one listener. Further UDP sockets take the port that the first one got.
func (s *Set) bind(index int, lc ListenerConfig) (*listener, error) {
	l := &listener{cfg: lc, addr: lc.Addr}
	if lc.Transport != trunkgroup.UDP {
		stream, err := s.listenStream(index, lc)
		if err != nil {
			return nil, err
		}
		l.stream, l.addr = stream, stream.local
		return l, nil
	}
	if lc.Sockets > 1 && lc.Addr.Port() != 0 {
		// SO_REUSEPORT lets two processes of one user have the same address, and the kernel would split the calls between them. A
		// socket without it finds out.
		alone, err := s.openUDP(index, l.addr, false)
		if err != nil {
			return nil, err
		}
		if err := alone.conn.Close(); err != nil {
			return nil, fmt.Errorf("udp %s: %w", l.addr, err)
		}
	}
	for range max(lc.Sockets, 1) {
		u, err := s.openUDP(index, l.addr, lc.Sockets > 1)
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.udp = append(l.udp, u)
		l.addr = u.local
	}
	return l, nil
}

// Start begins to read and to accept. It may be called once.
func (s *Set) Start() {
	if s.started.Swap(true) {
		return
	}
	for _, l := range s.listeners {
		for _, u := range l.udp {
			s.spawn(u.read)
		}
		if l.stream != nil {
			s.spawn(l.stream.accept)
		}
		s.log.Info("listening", "listener", l.cfg.Name, "transport", l.cfg.Transport.String(), "address", l.addr.String())
	}
}

// Addr returns the bound address of a listener, with the port that the system chose.
func (s *Set) Addr(listener int) netip.AddrPort { return s.listeners[listener].addr }

// Counters returns the live counters.
func (s *Set) Counters() *Counters { return &s.counters }

// Close closes every socket and connection and waits until no goroutine of the Set runs. What waits to be sent is lost. Handler
// methods may still be called until it returns. It may be called more than once.
func (s *Set) Close() error {
	var errs []error
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		s.cancel()
		for _, l := range s.listeners {
			errs = append(errs, l.close())
		}
		s.streams.closeAll()
	}
	s.wg.Wait()
	return errors.Join(errs...)
}

// spawn runs a goroutine that Close waits for; false when the Set is closed.
func (s *Set) spawn(run func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Go(run)
	return true
}

func (l *listener) close() error {
	var errs []error
	for _, u := range l.udp {
		errs = append(errs, u.conn.Close())
	}
	if l.stream != nil {
		errs = append(errs, l.stream.close())
	}
	return errors.Join(errs...)
}

// pause waits, or returns false at once when the Set closes.
func (s *Set) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// survive is deferred where a stranger's bytes are read: a panic costs the message that found it, not the process.
func (s *Set) survive(where string) {
	if p := recover(); p != nil {
		s.counters.Panics.Add(1)
		s.log.Error("panic while reading", "where", where, "panic", p, "stack", string(debug.Stack()))
	}
}

// fail reports bytes that did not get through.
func (s *Set) fail(ref uint64, t Target, err error) {
	if int(t.Transport) < transports {
		s.counters.Failed[t.Transport].Add(1)
	}
	s.handler.Failed(ref, t, err)
}

// pick returns the listener that sends to t: the one it names, else the first of its transport and address family.
func (s *Set) pick(t *Target) *listener {
	if t.Listener >= 0 {
		if t.Listener >= len(s.listeners) {
			return nil
		}
		return s.listeners[t.Listener]
	}
	four := t.Addr.Addr().Unmap().Is4()
	for _, l := range s.listeners {
		if l.cfg.Transport == t.Transport && l.addr.Addr().Is4() == four {
			return l
		}
	}
	return nil
}
