package front

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Backend is one node.
type Backend struct {
	Name string
	Addr netip.AddrPort
	// Healthy asks the node whether it takes calls; it must end soon.
	Healthy func() error
}

// unhealthyAfter is how many failed questions in a row take a node out.
const unhealthyAfter = 2

// Front is a running balancer. Its methods may be called by many goroutines.
type Front struct {
	conn     *net.UDPConn
	backends []*backend
	stop     chan struct{}
	tasks    sync.WaitGroup

	mu    sync.Mutex
	next  int
	calls map[string]*call
	order []*call
}

type backend struct {
	Backend
	failed int
	out    bool
}

// call is one call on its way through the front.
type call struct {
	Call
	caller netip.AddrPort
	node   *backend
}

// Start begins to balance what comes on conn, which the Front closes, and to ask
// each backend for its health every so often.
func Start(conn *net.UDPConn, every time.Duration, backends ...Backend) *Front {
	f := &Front{conn: conn, stop: make(chan struct{}), calls: map[string]*call{}}
	for _, b := range backends {
		f.backends = append(f.backends, &backend{Backend: b})
	}
	f.tasks.Go(f.relay)
	for _, b := range f.backends {
		f.tasks.Go(func() { f.ask(b, every) })
	}
	return f
}

// Addr is where callers send to.
func (f *Front) Addr() netip.AddrPort { return f.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// Close ends the balancer.
func (f *Front) Close() error {
	close(f.stop)
	err := f.conn.Close()
	f.tasks.Wait()
	if err != nil {
		return fmt.Errorf("front: %w", err)
	}
	return nil
}

// ask follows the health of one backend.
func (f *Front) ask(b *backend, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := b.Healthy()
		f.mu.Lock()
		if b.failed++; err == nil {
			b.failed = 0
		}
		b.out = b.failed >= unhealthyAfter
		f.mu.Unlock()
		select {
		case <-f.stop:
			return
		case <-tick.C:
		}
	}
}

// relay moves datagrams both ways until the socket is closed.
func (f *Front) relay() {
	buf := make([]byte, 65535)
	for {
		n, from, err := f.conn.ReadFromUDPAddrPort(buf)
		select {
		case <-f.stop:
			return
		default:
		}
		if err != nil {
			continue // an ICMP error of an earlier datagram
		}
		if to := f.route(buf[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), time.Now()); to.IsValid() {
			// What is lost here is lost as anywhere on a network.
			_, _ = f.conn.WriteToUDPAddrPort(buf[:n], to)
		}
	}
}

// route says where a datagram goes and notes what it means.
func (f *Front) route(b []byte, from netip.AddrPort, now time.Time) netip.AddrPort {
	m, ok := read(b)
	if !ok {
		return netip.AddrPort{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.calls[m.callID]
	if f.isBackend(from) {
		if c == nil {
			return netip.AddrPort{}
		}
		c.note(m, now)
		return c.caller
	}
	if c == nil {
		c = &call{Call: Call{CallID: m.callID, Started: now}, caller: from}
		f.calls[m.callID] = c
		f.order = append(f.order, c)
	}
	if c.node == nil || c.node.out {
		c.node = f.pick(c.node)
		c.Nodes = append(c.Nodes, c.node.Name)
	}
	return c.node.Addr
}

func (f *Front) isBackend(a netip.AddrPort) bool {
	for _, b := range f.backends {
		if b.Addr == a {
			return true
		}
	}
	return false
}

// pick returns the next backend that is healthy; the one that was when none is.
func (f *Front) pick(was *backend) *backend {
	for range f.backends {
		b := f.backends[f.next%len(f.backends)]
		f.next++
		if !b.out {
			return b
		}
	}
	if was != nil {
		return was
	}
	return f.backends[f.next%len(f.backends)]
}
