package cluster

import (
	"context"
	"net"
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
	once    sync.Once
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
}

func newStreamLayer(ic *interconnect.Interconnect, address string, nameOf func(string) string) *streamLayer {
	l := &streamLayer{ic: ic, address: address, nameOf: nameOf, conns: make(chan net.Conn, 16)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	ic.OnStream(hello.Raft, l.take)
	return l
}

// take queues an accepted stream; what nobody accepts in time is closed.
func (l *streamLayer) take(conn net.Conn, _ hello.Remote) {
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
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *streamLayer) Close() error {
	l.once.Do(func() {
		l.cancel()
		for {
			select {
			case c := <-l.conns:
				_ = c.Close()
			default:
				return
			}
		}
	})
	return nil
}

// Addr implements net.Listener with the advertised raft address.
func (l *streamLayer) Addr() net.Addr { return namedAddr(l.address) }

// Dial implements raft.StreamLayer.
func (l *streamLayer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, timeout)
	defer cancel()
	conn, _, err := l.ic.Dial(ctx, string(address), hello.Raft, l.nameOf(string(address)))
	return conn, err
}

// namedAddr is an address that may hold a name instead of an IP.
type namedAddr string

func (a namedAddr) Network() string { return "tcp" }
func (a namedAddr) String() string  { return string(a) }
