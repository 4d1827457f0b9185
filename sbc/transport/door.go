package transport

import (
	"errors"
	"net/netip"
	"time"
)

// Door is asked before anything is read of what strangers send. Its methods are called by reader goroutines at once and must not block.
type Door interface {
	// Connect tells whether a connection may be served; it is asked before any handshake. One that may not is reset.
	Connect(now time.Time, listener int, source netip.AddrPort) bool
	// Message tells whether a datagram, or a whole message of an accepted connection, may be parsed. A connection whose message may not
	// is closed. raw is the caller's. The listener of a connection that we dialled is Outward: whom we call needs nobody's leave to be
	// called, but may be a stranger who had us call.
	Message(now time.Time, listener int, source netip.AddrPort, raw []byte) bool
	// Known tells whether somebody at this address is known: a far end, a registration or a digest user. When there is no room for a
	// connection of his, a stranger's ends for it.
	Known(now time.Time, source netip.Addr) bool
	// Malformed tells of a message of a connection that the gate refused.
	Malformed(now time.Time, listener int, source netip.AddrPort)
}

// Outward stands for the listener of a connection that we dialled.
const Outward = -1

// ErrGaveWay is the error of a stranger's connection that ended for want of room.
var ErrGaveWay = errors.New("transport: closed for somebody who is known")

// makeRoom ends the oldest accepted connection whose source nobody knows, for one of somebody who is known.
func (s *Set) makeRoom(now time.Time, source netip.Addr) bool {
	door := s.cfg.Door
	if door == nil || !door.Known(now, source) {
		return false
	}
	var oldest *conn
	s.streams.flows.Range(func(_, v any) bool {
		c := v.(*conn)
		if !c.pooled && (oldest == nil || c.opened.Before(oldest.opened)) && !door.Known(now, c.remote.Addr()) {
			oldest = c
		}
		return true
	})
	if oldest != nil {
		oldest.end(ErrGaveWay)
	}
	return oldest != nil
}

// ErrShut is the error of a flow that the Door closed, or CloseFrom.
var ErrShut = errors.New("transport: the source is shut out")

// admits asks the Door about one message of the connection, and ends the connection when it may not come in.
func (c *conn) admits(raw []byte) bool {
	door := c.set.cfg.Door
	if door == nil || door.Message(time.Now(), c.entrance(), c.remote, raw) {
		return true
	}
	c.end(ErrShut)
	return false
}

// malformed tells the Door of a message of the connection that the gate refused.
func (c *conn) malformed() {
	if door := c.set.cfg.Door; door != nil {
		door.Malformed(time.Now(), c.entrance(), c.remote)
	}
}

// entrance is the listener that the Door hears of.
func (c *conn) entrance() int {
	if c.pooled {
		return Outward
	}
	return c.listener
}

// CloseFrom ends the connections with a network, but those from addresses that are spared, and returns how many there were.
func (s *Set) CloseFrom(p netip.Prefix, spared func(netip.Addr) bool) (n int) {
	s.streams.flows.Range(func(_, v any) bool {
		c := v.(*conn)
		if a := c.remote.Addr().Unmap().WithZone(""); p.Contains(a) && !spared(a) {
			c.end(ErrShut)
			n++
		}
		return true
	})
	return n
}
