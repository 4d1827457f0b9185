package cluster

import (
	"context"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/interconnect"
)

// streamLayer carries raft over the streams of the interconnect: behind its
// handshake, so that no stranger speaks raft, and through its dial map.
type streamLayer struct {
	ic      *interconnect.Interconnect
	address string
	nameOf  func(address string) string // the node behind a raft address; empty when unknown
	conns   chan net.Conn
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc

	// raft's transport closes neither the streams that it accepted nor those that
	// it pools when it is closed, so the layer remembers all of them.
	mu   sync.Mutex
	open map[*raftConn]struct{}
}

// raftConn is a stream of raft that the layer closes at the end.
type raftConn struct {
	net.Conn
	layer *streamLayer
}

// Close implements net.Conn.
func (c *raftConn) Close() error {
	c.layer.mu.Lock()
	delete(c.layer.open, c)
	c.layer.mu.Unlock()
	return c.Conn.Close()
}

// remember wraps a stream; it fails when the layer is closed.
func (l *streamLayer) remember(conn net.Conn) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	c := &raftConn{Conn: conn, layer: l}
	l.open[c] = struct{}{}
	return c, nil
}

func newStreamLayer(ic *interconnect.Interconnect, address string, nameOf func(string) string) *streamLayer {
	l := &streamLayer{ic: ic, address: address, nameOf: nameOf, conns: make(chan net.Conn, 16), open: make(map[*raftConn]struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	ic.OnStream(hello.Raft, l.take)
	return l
}

// take queues an accepted stream; what nobody accepts in time is closed.
func (l *streamLayer) take(conn net.Conn, _ hello.Remote) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		select {
		case l.conns <- conn:
			return
		default:
		}
	}
	// The peer sees the end of the stream and dials again.
	_ = conn.Close()
}

// Accept implements net.Listener.
func (l *streamLayer) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return l.remember(c)
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener: it ends every stream of raft.
func (l *streamLayer) Close() error {
	l.mu.Lock()
	l.cancel()
	open := slices.Collect(maps.Keys(l.open))
	l.mu.Unlock()
	for _, c := range open {
		// An error says only that it was closed before.
		_ = c.Close()
	}
	for {
		select {
		case c := <-l.conns:
			_ = c.Close()
		default:
			return nil
		}
	}
}

// Addr implements net.Listener with the advertised raft address.
func (l *streamLayer) Addr() net.Addr { return namedAddr(l.address) }

// Dial implements raft.StreamLayer.
func (l *streamLayer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, timeout)
	defer cancel()
	conn, _, err := l.ic.Dial(ctx, string(address), hello.Raft, l.nameOf(string(address)))
	if err != nil {
		return nil, err
	}
	return l.remember(conn)
}

// namedAddr is an address that may hold a name instead of an IP.
type namedAddr string

func (a namedAddr) Network() string { return "tcp" }
func (a namedAddr) String() string  { return string(a) }
