package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// readSize is the buffer of a connection's reader: most messages fit, and ten thousand idle connections cost 40 MB.
const readSize = 4096

var errExpired = errors.New("transport: connection deadline passed")

// read is the loop of the connection's goroutine. The connection has ended when it returns.
func (c *conn) read(stream net.Conn) {
	defer c.end(ErrClosed) // for the case of a panic
	defer c.set.survive("stream reader")
	buf := make([]byte, readSize)
	c.touch()
	for {
		c.arm(stream)
		n, err := stream.Read(buf)
		if n > 0 {
			c.touch()
			c.framer.Write(buf[:n])
			if fault := c.deliver(); fault != nil {
				c.finish(stream, buf, fault)
				return
			}
		}
		switch {
		case err == nil:
		case isTimeout(err):
			if time.Now().Before(c.deadline()) {
				continue // there was traffic since the deadline was set
			}
			c.expire(stream, buf)
			return
		case errors.Is(err, io.EOF):
			c.end(ErrPeerClosed)
			return
		default:
			c.end(err)
			return
		}
	}
}

// deadline is when the connection has waited too long for what it waits for.
func (c *conn) deadline() time.Time {
	limits := &c.set.limits
	switch {
	case !c.partial.IsZero():
		return c.partial.Add(limits.Incomplete)
	case !c.greeted && !c.pooled:
		return c.opened.Add(limits.FirstMessage)
	}
	return c.opened.Add(time.Duration(c.used.Load()) + limits.Idle)
}

// arm sets the read deadline when it must come sooner. Later ones are left alone: on timeout the reader looks again, which is
// cheaper than a timer change per message.
func (c *conn) arm(stream net.Conn) { c.armUntil(stream, c.deadline()) }

// armUntil is arm for a deadline of the caller's.
func (c *conn) armUntil(stream net.Conn, want time.Time) {
	if c.armed.IsZero() || want.Before(c.armed) || !c.armed.After(time.Now()) {
		c.armed = want
		_ = stream.SetReadDeadline(want) // fails on a closed connection only, which Read reports
	}
}

// deliver hands over every message that is complete. A fault that ends the stream is returned, not handed over.
func (c *conn) deliver() (last *sip.Fault) {
	got := 0
	packets := c.packets[:0]
	for last == nil {
		raw, fault := c.framer.Next()
		if raw == nil && fault == nil {
			break
		}
		got++
		c.set.counters.Received[c.transport].Add(1)
		if raw == nil {
			last = fault
			break
		}
		packets, last = c.parse(packets, raw)
	}
	c.packets = c.hand(packets)
	c.pong(c.framer.Pings())
	switch {
	case !c.framer.Partial():
		c.partial = time.Time{}
	case got > 0 || c.partial.IsZero():
		c.partial = time.Now()
	}
	c.greeted = c.greeted || got > 0
	return last
}

// parse appends a good message to packets and lets the handler answer a faulty one, behind those before it. A fault that ends a byte
// stream is returned.
func (c *conn) parse(packets []Packet, raw []byte) ([]Packet, *sip.Fault) {
	if !c.admits(raw) {
		return packets, nil
	}
	m, fault := sip.Parse(raw)
	switch {
	case fault == nil:
		if !m.IsRequest() && c.pooled {
			c.answered(m.Branch())
		}
		c.served = true
		return append(packets, c.packet(m)), nil
	case fault.Close:
		return packets, fault
	}
	packets = c.hand(packets)
	c.reject(fault)
	return packets, nil
}

// hand gives the packets collected so far to the handler.
func (c *conn) hand(packets []Packet) []Packet {
	if len(packets) > 0 {
		c.set.handler.Packets(packets)
		clear(packets)
	}
	return packets[:0]
}

func (c *conn) packet(m *sip.Message) Packet {
	return Packet{
		Message: m, Source: c.remote, Local: c.local, Transport: c.transport, Listener: c.listener, Flow: c.flow,
	}
}

// reject counts a verdict and lets the handler answer it.
func (c *conn) reject(f *sip.Fault) {
	c.set.counters.fault(f.Code, f.Close)
	c.malformed()
	if f.Code != 0 {
		c.set.handler.Reject(c.packet(f.Message), f)
	}
}

// pong answers keep-alives with one CRLF (RFC 5626 3.5.1).
func (c *conn) pong(pings int) {
	if pings == 0 {
		return
	}
	c.set.counters.Pings.Add(uint64(pings))
	c.send(entry{data: []byte("\r\n"), pong: true})
}

// expire ends a connection whose deadline passed, with an answer when part of a message is there.
func (c *conn) expire(stream net.Conn, buf []byte) {
	c.set.counters.Expired.Add(1)
	if c.framer.Partial() {
		c.finish(stream, buf, c.framer.Abandon())
		return
	}
	c.end(errExpired)
}

// finish lets the handler answer the fault that ends the stream, gives that answer CloseLinger to leave, and ends the connection. A
// fault that is not answered waits as long when good messages came before it: their answers are on the way.
func (c *conn) finish(stream net.Conn, buf []byte, fault *sip.Fault) {
	c.reject(fault)
	if fault.Code != 0 || c.served {
		c.linger(stream, buf)
	}
	c.end(fault)
}

// linger waits until CloseLinger has passed or the peer is gone. What arrives is thrown away: closing a socket with unread bytes
// resets it, which can destroy the answer on its way. A peer that has shut its sending side gets the answer too.
func (c *conn) linger(stream net.Conn, buf []byte) {
	end := time.Now().Add(c.set.limits.CloseLinger)
	_ = stream.SetReadDeadline(end)
	for {
		if _, err := stream.Read(buf); err == nil {
			continue
		} else if errors.Is(err, io.EOF) {
			c.set.pause(time.Until(end))
		}
		return
	}
}

// isTimeout tells a deadline from other errors.
func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
