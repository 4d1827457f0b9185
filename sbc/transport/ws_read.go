package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/coder/websocket"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// readWebSocket is the loop of the connection's goroutine over messages. The connection has ended when it returns.
func (c *conn) readWebSocket(s *wsStream) {
	defer func() { _ = s.ws.CloseNow() }() // the connection under it has ended, or does so now
	c.touch()
	var buf bytes.Buffer
	for {
		err := c.nextWebSocket(s.ws, &buf)
		switch {
		case err == nil:
			c.deliverWhole(buf.Bytes())
		case errors.Is(err, errExpired):
			c.set.counters.Expired.Add(1)
			c.end(errExpired)
			return
		case errors.Is(err, websocket.ErrMessageTooBig):
			// The library has told the peer so (RFC 6455 section 7.4.1, 1009).
			c.finish(s.Conn, make([]byte, readSize), &sip.Fault{Reason: "Message Too Large", Close: true})
			return
		case errors.Is(err, io.EOF), websocket.CloseStatus(err) != -1:
			c.end(ErrPeerClosed)
			return
		default:
			c.end(err)
			return
		}
	}
}

// nextWebSocket reads one message into buf. From its first frame on the time of an incomplete message runs.
func (c *conn) nextWebSocket(ws *websocket.Conn, buf *bytes.Buffer) error {
	if buf.Cap() > readSize {
		*buf = bytes.Buffer{} // a connection is idle most of its life
	}
	buf.Reset()
	_, r, err := ws.Reader(context.Background()) // deadlines are wsWire's
	if err != nil {
		return err
	}
	c.partial = time.Now()
	_, err = buf.ReadFrom(r)
	c.partial = time.Time{}
	return err
}

// deliverWhole hands over what one message of a WebSocket carried: one SIP message, whose Content-Length may be missing as in a
// datagram (RFC 7118 section 5.1), or a keep-alive, which is answered (section 6, RFC 5626 section 4.4.1). A faulty message does not
// cost the connection: where the next one begins is known.
func (c *conn) deliverWhole(message []byte) {
	if len(message) <= keepAlive {
		if string(message) == "\r\n\r\n" {
			c.pong(1)
		}
		return
	}
	c.greeted = true
	c.set.counters.Received[c.transport].Add(1)
	packets, fault := c.parse(c.packets[:0], bytes.Clone(message))
	c.packets = c.hand(packets)
	if fault != nil {
		open := *fault
		open.Close = false
		c.reject(&open)
	}
}
