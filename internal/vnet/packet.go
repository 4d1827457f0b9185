package vnet

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"
)

// noDeadline is the zero time: wait for a change only.
var noDeadline time.Time

// queueLength is how many packets wait at a socket before new ones are lost.
const queueLength = 4096

// PacketConn is a UDP-like socket.
type PacketConn struct {
	n       *Network
	host    *Host
	at      netip.AddrPort
	queue   []packet
	closed  bool
	readBy  time.Time
	changed signal
}

type packet struct {
	data []byte
	from netip.AddrPort
}

// ListenPacket opens a packet socket on a port of the host; 0 picks one.
func (h *Host) ListenPacket(port uint16) (*PacketConn, error) {
	h.n.mu.Lock()
	defer h.n.mu.Unlock()
	if port == 0 {
		port = h.n.port()
	}
	p := &PacketConn{n: h.n, host: h, at: netip.AddrPortFrom(h.addr, port)}
	if h.n.packets[p.at] != nil {
		return nil, fmt.Errorf("vnet: %s is in use", p.at)
	}
	h.n.packets[p.at] = p
	return p, nil
}

// ReadFrom implements net.PacketConn.
func (p *PacketConn) ReadFrom(b []byte) (int, net.Addr, error) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	for {
		switch {
		case p.closed:
			return 0, nil, net.ErrClosed
		case !p.readBy.IsZero() && !time.Now().Before(p.readBy):
			return 0, nil, os.ErrDeadlineExceeded
		case !p.n.idle(p.host).IsZero():
			p.n.wait(&p.changed, p.n.idle(p.host))
			continue
		case len(p.queue) > 0:
			got := p.queue[0]
			p.queue = p.queue[1:]
			return copy(b, got.data), net.UDPAddrFromAddrPort(got.from), nil
		}
		p.n.wait(&p.changed, p.readBy)
	}
}

// WriteTo implements net.PacketConn. A packet over a cut or lossy link, or to
// nobody, is gone without an error.
func (p *PacketConn) WriteTo(b []byte, to net.Addr) (int, error) {
	dest, err := netip.ParseAddrPort(to.String())
	if err != nil {
		return 0, err
	}
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	for until := p.n.idle(p.host); !p.closed && !until.IsZero(); until = p.n.idle(p.host) {
		p.n.wait(&p.changed, until)
	}
	if p.closed {
		return 0, net.ErrClosed
	}
	target := p.n.packets[dest]
	if target == nil {
		return len(b), nil
	}
	l := p.n.links[[2]string{p.host.zone, target.host.zone}]
	if l.cut || p.n.random.Float64() < l.loss {
		return len(b), nil
	}
	sent := packet{data: append([]byte(nil), b...), from: p.at}
	time.AfterFunc(l.delay, func() {
		p.n.mu.Lock()
		defer p.n.mu.Unlock()
		if !target.closed && len(target.queue) < queueLength {
			target.queue = append(target.queue, sent)
			target.changed.wake()
		}
	})
	return len(b), nil
}

// Close implements net.PacketConn.
func (p *PacketConn) Close() error {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	p.closed = true
	delete(p.n.packets, p.at)
	p.changed.wake()
	return nil
}

// LocalAddr implements net.PacketConn.
func (p *PacketConn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(p.at) }

// SetDeadline implements net.PacketConn; writes never block.
func (p *PacketConn) SetDeadline(t time.Time) error { return p.SetReadDeadline(t) }

// SetReadDeadline implements net.PacketConn.
func (p *PacketConn) SetReadDeadline(t time.Time) error {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	p.readBy = t
	p.changed.wake()
	return nil
}

// SetWriteDeadline implements net.PacketConn.
func (p *PacketConn) SetWriteDeadline(time.Time) error { return nil }
