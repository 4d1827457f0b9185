package vnet

import (
	"fmt"
	"net"
	"net/netip"
)

// Listener takes streams on one address.
type Listener struct {
	n       *Network
	host    *Host
	at      netip.AddrPort
	backlog []*Conn
	closed  bool
	changed signal
}

// Listen opens a listener on a port of the host; 0 picks one.
func (h *Host) Listen(port uint16) (*Listener, error) {
	h.n.mu.Lock()
	defer h.n.mu.Unlock()
	if port == 0 {
		port = h.n.port()
	}
	l := &Listener{n: h.n, host: h, at: netip.AddrPortFrom(h.addr, port)}
	if h.n.listeners[l.at] != nil {
		return nil, fmt.Errorf("vnet: %s is in use", l.at)
	}
	h.n.listeners[l.at] = l
	return l, nil
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	for {
		if l.closed {
			return nil, net.ErrClosed
		}
		if len(l.backlog) > 0 {
			c := l.backlog[0]
			l.backlog = l.backlog[1:]
			return c, nil
		}
		l.n.wait(&l.changed, noDeadline)
	}
}

// Close implements net.Listener; streams that were not accepted are reset.
func (l *Listener) Close() error {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	l.closed = true
	delete(l.n.listeners, l.at)
	for _, c := range l.backlog {
		c.in.fail(errReset)
		c.out.fail(errReset)
	}
	l.changed.wake()
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return tcpAddr(l.at) }
