package transport

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// connState is the life of a connection. It only grows.
type connState uint8

const (
	connOpening connState = iota // dialling, or in the handshake of TLS or a WebSocket: what is sent waits
	connOpen
	connEnded
)

// conn is one stream connection. Its reader goroutine owns the framer and the deadlines; the fields under mu belong to whoever
// sends.
type conn struct {
	set       *Set
	flow      Flow
	transport trunkgroup.Transport
	listener  int
	remote    netip.AddrPort
	local     netip.AddrPort
	pooled    bool         // dialled; key is set
	key       poolKey      // of a dialled connection
	source    netip.Prefix // of an accepted one, for its count

	used atomic.Int64 // last traffic, since opened

	mu         sync.Mutex
	state      connState
	tcp        *net.TCPConn
	stream     net.Conn      // tcp, or the TLS connection over it
	direct     *directWriter // plain TCP only, else nil
	writing    bool          // a writer goroutine runs
	current    entry         // in the writer's hands and not in unanswered
	queue      []entry       // waits for the writer
	queueBytes int
	unanswered []entry // requests written to a pooled connection that nobody answered yet

	opened  time.Time
	framer  sip.Framer
	packets []Packet
	greeted bool      // a whole message has arrived
	served  bool      // a good message came
	partial time.Time // when the incomplete message began; zero = none
	armed   time.Time // the read deadline that is set
}

func newConn(s *Set, t trunkgroup.Transport, listener int) *conn {
	return &conn{
		set: s, flow: Flow(s.streams.nextFlow.Add(1)), transport: t, listener: listener, opened: time.Now(),
	}
}

// attach takes the established TCP connection. Plain TCP is ready to write; the others are not before their handshake.
func (c *conn) attach(nc net.Conn) bool {
	local := addrPort(nc.LocalAddr())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == connEnded {
		_ = nc.Close()
		return false
	}
	c.set.counters.opened(c.transport, 1)
	c.local = local
	c.stream = nc
	if tcp, ok := nc.(*net.TCPConn); ok {
		c.tcp = tcp
		tuneTCP(tcp, c.set.limits.Write)
		if c.transport == trunkgroup.TCP {
			c.direct = newDirectWriter(tcp)
		}
	}
	return true
}

// open makes the connection ready: what waited is written. stream is the TLS connection, or what attach got.
func (c *conn) open(stream net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == connEnded {
		return false
	}
	c.stream, c.state = stream, connOpen
	c.startWriter()
	return true
}

// serve is the goroutine of an accepted connection.
func (c *conn) serve(l *streamListener) {
	stream := c.stream
	if l.tls != nil {
		secure := tls.Server(stream, l.tls)
		if err := c.handshake(secure); err != nil {
			c.end(err)
			return
		}
		stream = secure
	}
	if l.websocket != nil {
		c.serveWebSocket(stream, l.websocket)
		return
	}
	if c.open(stream) {
		c.read(stream)
	}
}

// handshake runs a TLS handshake in its time.
func (c *conn) handshake(secure *tls.Conn) error {
	if err := secure.SetDeadline(time.Now().Add(c.set.limits.Handshake)); err != nil {
		return err
	}
	if err := secure.Handshake(); err != nil {
		if isTimeout(err) {
			c.set.counters.Expired.Add(1)
		}
		return err
	}
	return secure.SetDeadline(time.Time{})
}

// touch notes traffic.
func (c *conn) touch() { c.used.Store(int64(time.Since(c.opened))) }

// end closes the connection once and settles what it still owed: requests that a pooled connection swallowed are sent again
// over a fresh one, the rest fails with err.
func (c *conn) end(err error) {
	c.mu.Lock()
	if c.state == connEnded {
		c.mu.Unlock()
		return
	}
	known := c.state == connOpen // a Packet may have named the flow
	c.state = connEnded
	stream, tcp := c.stream, c.tcp
	lost := c.unanswered
	if c.current.data != nil {
		lost = append(lost, c.current)
	}
	lost = append(lost, c.queue...)
	c.current, c.unanswered, c.queue, c.direct = entry{}, nil, nil, nil
	c.mu.Unlock()

	s := c.set
	if c.pooled {
		s.streams.pool.CompareAndDelete(c.key, any(c))
		s.streams.unbook(c.source)
	} else {
		s.streams.leave(c.source)
	}
	s.streams.flows.Delete(c.flow)
	if stream != nil {
		s.counters.opened(c.transport, -1)
		closeStream(stream, tcp)
	}
	if known {
		s.handler.Closed(c.flow)
	}
	c.settle(lost, err)
}

// closeStream closes the TCP connection under a TLS one directly: the close_notify of a peer that does not read would block.
func closeStream(stream net.Conn, tcp *net.TCPConn) {
	if tcp != nil {
		_ = tcp.Close()
		return
	}
	_ = stream.Close()
}
