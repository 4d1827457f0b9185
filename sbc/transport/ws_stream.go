package transport

import (
	"context"
	"errors"
	"net"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// wsWire is the connection under a WebSocket, as the library of WebSockets sees it: the deadlines are those of every stream of this
// package, and a pause in the traffic is filled with a ping.
type wsWire struct {
	net.Conn // TCP or TLS
	c        *conn
	ws       *websocket.Conn
}

// Read belongs to the connection's goroutine, as the deadlines do.
func (w *wsWire) Read(b []byte) (int, error) {
	c := w.c
	for {
		until := c.deadline()
		if ping := c.pingAt(); ping.Before(until) {
			until = ping
		}
		c.armUntil(w.Conn, until)
		n, err := w.Conn.Read(b)
		if n > 0 {
			c.touch()
			return n, nil
		}
		now := time.Now()
		switch {
		case !isTimeout(err):
			return 0, err
		case !now.Before(c.deadline()):
			return 0, errExpired
		case !now.Before(c.pingAt()):
			c.touch()
			c.set.spawn(w.ping)
		}
	}
}

// Write bounds the time in which the peer must take what it is sent. Pongs and closing frames, which the library writes, need a
// deadline as well.
func (w *wsWire) Write(b []byte) (int, error) {
	if err := w.Conn.SetWriteDeadline(time.Now().Add(w.c.set.limits.Write)); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

// pingAt is when the connection has been silent for long enough to be asked. Peers that have said nothing yet are not: their time runs.
func (c *conn) pingAt() time.Time {
	wait := c.set.limits.Ping
	if !c.greeted {
		wait += c.set.limits.FirstMessage
	}
	return c.opened.Add(time.Duration(c.used.Load()) + wait)
}

// ping asks the peer for a sign of life; one that gives none has gone (RFC 7118 section 6). The answer is traffic.
func (w *wsWire) ping() {
	ctx, cancel := context.WithTimeout(w.c.set.ctx, w.c.set.limits.Write)
	defer cancel()
	if err := w.ws.Ping(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			w.c.set.counters.Expired.Add(1)
		}
		w.c.end(errExpired)
	}
}

// pinged counts a ping of the peer, which the library answers.
func (c *conn) pinged(context.Context, []byte) bool {
	c.set.counters.Pings.Add(1)
	return true
}

// wsStream is what the writer of a connection sees of a WebSocket: each Write is one message (RFC 7118 section 5.1). What is
// read from it is below the WebSocket.
type wsStream struct{ *wsWire }

// Write sends one message. "SIP WebSocket Clients and Servers MUST accept both text and binary frames" (section 4.2), but a browser ends
// a connection over text that is not UTF-8, which a message from elsewhere may be.
func (s *wsStream) Write(b []byte) (int, error) {
	kind := websocket.MessageText
	if !utf8.Valid(b) {
		kind = websocket.MessageBinary
	}
	if err := s.ws.Write(context.Background(), kind, b); err != nil { // the deadline is wsWire's
		return 0, err
	}
	return len(b), nil
}

// SetWriteDeadline does nothing: wsWire sets one for every write.
func (s *wsStream) SetWriteDeadline(time.Time) error { return nil }
