package transport

import (
	"errors"
	"net/netip"
	"time"
)

// Door is asked before anything is read of what strangers send. Its methods are called by reader goroutines at once and must not block.
// What we dialled ourselves never meets it.
type Door interface {
	// Connect tells whether a connection may be served; it is asked before any handshake. One that may not is reset.
	Connect(now time.Time, listener int, source netip.AddrPort) bool
	// Message tells whether a datagram, or a whole message of an accepted connection, may be parsed. A connection whose message may not
	// is closed. raw is the caller's.
	Message(now time.Time, listener int, source netip.AddrPort, raw []byte) bool
	// Malformed tells of a message of an accepted connection that the gate refused.
	Malformed(now time.Time, listener int, source netip.AddrPort)
}

// ErrShut is the error of a flow that the Door closed, or CloseFrom.
var ErrShut = errors.New("transport: the source is shut out")

// admits asks the Door about one message of the connection, and ends the connection when it may not come in.
func (c *conn) admits(raw []byte) bool {
	door := c.set.cfg.Door
	if door == nil || c.pooled || door.Message(time.Now(), c.listener, c.remote, raw) {
		return true
	}
	c.end(ErrShut)
	return false
}

// malformed tells the Door of a message of the connection that the gate refused.
func (c *conn) malformed() {
	if door := c.set.cfg.Door; door != nil && !c.pooled {
		door.Malformed(time.Now(), c.listener, c.remote)
	}
}

// CloseFrom ends the accepted connections from a network, but those from addresses that are spared, and returns how many there were.
func (s *Set) CloseFrom(p netip.Prefix, spared func(netip.Addr) bool) (n int) {
	s.streams.flows.Range(func(_, v any) bool {
		c := v.(*conn)
		if a := c.remote.Addr().Unmap().WithZone(""); !c.pooled && p.Contains(a) && !spared(a) {
			c.end(ErrShut)
			n++
		}
		return true
	})
	return n
}
