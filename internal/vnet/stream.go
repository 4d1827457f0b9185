package vnet

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"time"
)

// window is how many octets of a stream may be under way before a writer blocks.
const window = 1 << 20

// half is one direction of a stream. Guarded by Network.mu.
type half struct {
	n        *Network
	from, to *Host
	segments []segment
	size     int
	err      error // what both ends see after a reset
	closed   bool  // the reader has gone
	ends     int   // how many of the two ends are closed
	changed  signal
}

// segment is one write on its way; fin says that the writer closed. at is when it
// can be read: never before the segment ahead of it, which is TCP's head-of-line
// wait.
type segment struct {
	at   time.Time
	data []byte
	fin  bool
}

func (h *half) link() link { return h.n.links[[2]string{h.from.zone, h.to.zone}] }

func (h *half) push(s segment) {
	s.at = time.Now().Add(h.link().delay + h.n.lateBy(h, len(s.data)))
	if last := len(h.segments) - 1; last >= 0 && h.segments[last].at.After(s.at) {
		s.at = h.segments[last].at
	}
	h.segments = append(h.segments, s)
	h.size += len(s.data)
	h.changed.wake()
}

func (h *half) fail(err error) {
	h.err = err
	h.changed.wake()
	delete(h.n.streams, h)
}

// Conn is one end of a stream.
type Conn struct {
	n             *Network
	in, out       *half
	local, remote netip.AddrPort
	closed        bool
	readBy        time.Time
	writeBy       time.Time
}

func (n *Network) pair(a, b *Host, local, remote netip.AddrPort) (*Conn, *Conn) {
	ab, ba := &half{n: n, from: a, to: b}, &half{n: n, from: b, to: a}
	n.streams[ab], n.streams[ba] = struct{}{}, struct{}{}
	return &Conn{n: n, in: ba, out: ab, local: local, remote: remote},
		&Conn{n: n, in: ab, out: ba, local: remote, remote: local}
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	for {
		now := time.Now()
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case c.in.err != nil:
			return 0, c.in.err
		case !c.readBy.IsZero() && !now.Before(c.readBy):
			return 0, os.ErrDeadlineExceeded
		}
		wake := c.readBy
		if idle := c.n.idle(c.in.to); !idle.IsZero() {
			wake = idle
		} else if len(c.in.segments) > 0 && !c.in.link().cut {
			s := &c.in.segments[0]
			if !now.Before(s.at) {
				if s.fin {
					return 0, io.EOF
				}
				n := copy(b, s.data)
				c.in.size -= n
				if s.data = s.data[n:]; len(s.data) == 0 {
					c.in.segments = c.in.segments[1:]
				}
				c.in.changed.wake()
				return n, nil
			}
			if wake.IsZero() || s.at.Before(wake) {
				wake = s.at
			}
		}
		c.n.wait(&c.in.changed, wake)
	}
}

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (int, error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case c.out.err != nil:
			return 0, c.out.err
		case c.out.closed && !c.out.link().cut:
			return 0, errors.New("vnet: broken pipe")
		case !c.writeBy.IsZero() && !time.Now().Before(c.writeBy):
			return 0, os.ErrDeadlineExceeded
		case !c.n.idle(c.out.from).IsZero():
			c.n.wait(&c.out.changed, c.n.idle(c.out.from))
			continue
		case c.out.size < window:
			c.out.push(segment{data: append([]byte(nil), b...)})
			return len(b), nil
		}
		c.n.wait(&c.out.changed, c.writeBy)
	}
}

// Close implements net.Conn: the other end sees the end of the stream after the
// link's delay, or when the link heals.
func (c *Conn) Close() error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed, c.in.closed = true, true
	c.out.push(segment{fin: true})
	c.in.changed.wake()
	for _, h := range []*half{c.in, c.out} {
		if h.ends++; h.ends == 2 {
			delete(c.n.streams, h)
		}
	}
	return nil
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return tcpAddr(c.local) }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return tcpAddr(c.remote) }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error { return c.deadlines(&t, &t) }

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.deadlines(&t, nil) }

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.deadlines(nil, &t) }

func (c *Conn) deadlines(read, write *time.Time) error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	if read != nil {
		c.readBy = *read
	}
	if write != nil {
		c.writeBy = *write
	}
	c.in.changed.wake()
	c.out.changed.wake()
	return nil
}

// Dial connects to an address of another host. It hangs over a cut link until
// the context ends and is refused where nobody listens.
func (h *Host) Dial(ctx context.Context, address string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() {
		h.n.mu.Lock()
		defer h.n.mu.Unlock()
		h.n.dials.wake()
	})
	defer stop()
	h.n.mu.Lock()
	defer h.n.mu.Unlock()
	var arrives time.Time
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := h.n.listeners[to]
		if l == nil {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		}
		there, back := h.n.links[[2]string{h.zone, l.host.zone}], h.n.links[[2]string{l.host.zone, h.zone}]
		switch {
		case there.cut || back.cut:
			arrives = time.Time{}
		case arrives.IsZero():
			arrives = time.Now().Add(there.delay + back.delay + h.n.connectLateBy(there, back))
		}
		if !arrives.IsZero() && !time.Now().Before(arrives) {
			mine, theirs := h.n.pair(h, l.host, netip.AddrPortFrom(h.addr, h.n.port()), to)
			l.backlog = append(l.backlog, theirs)
			l.changed.wake()
			return mine, nil
		}
		h.n.wait(&h.n.dials, arrives)
	}
}
