package transport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

const (
	// maxUpgrade bounds the HTTP request that asks for a WebSocket. A browser sends less than 1 KB, and cookies with it.
	maxUpgrade = 8192
	// subprotocol is what both sides must agree on (RFC 7118 section 4.1).
	subprotocol = "sip"
)

var errUpgrade = errors.New("transport: no WebSocket")

// serveWebSocket is the rest of the goroutine of an accepted connection: one HTTP request within Limits.Handshake, then messages.
func (c *conn) serveWebSocket(stream net.Conn, rules *WebSocket) {
	defer c.end(ErrClosed) // for the case of a panic
	defer c.set.survive("websocket upgrade")
	ws, err := c.upgrade(stream, rules)
	if err != nil {
		c.end(err)
		return
	}
	if c.open(ws) {
		c.readWebSocket(ws)
	}
}

// upgrade reads the HTTP request and answers it. What is no request for a WebSocket of SIP gets an error of HTTP.
func (c *conn) upgrade(stream net.Conn, rules *WebSocket) (*wsStream, error) {
	if err := stream.SetDeadline(time.Now().Add(c.set.limits.Handshake)); err != nil {
		return nil, err
	}
	answer := &upgradeAnswer{
		stream: &wsWire{Conn: stream, c: c}, header: http.Header{},
		reader: bufio.NewReaderSize(io.LimitReader(stream, maxUpgrade), readSize),
	}
	ws, err := c.negotiate(answer, rules)
	switch {
	case err == nil:
	case isTimeout(err):
		c.set.counters.Expired.Add(1)
		return nil, err
	default:
		c.set.counters.NotUpgraded.Add(1)
		if answer.refused {
			c.linger(stream, make([]byte, readSize))
		}
		return nil, err
	}
	ws.SetReadLimit(sip.MaxMessage)
	answer.stream.ws = ws
	return &wsStream{wsWire: answer.stream}, nil
}

// negotiate accepts the WebSocket or answers why not. Every answer is the same for everybody: nothing in it names this product.
func (c *conn) negotiate(w *upgradeAnswer, rules *WebSocket) (*websocket.Conn, error) {
	r, err := http.ReadRequest(w.reader)
	if err != nil {
		if isTimeout(err) || errors.Is(err, io.EOF) {
			return nil, err
		}
		c.malformed()
		http.Error(w, "Bad Request", http.StatusBadRequest)
		return nil, fmt.Errorf("%w: %w", errUpgrade, err)
	}
	code, why := 0, ""
	switch {
	case r.Host == "" || r.ContentLength != 0:
		code, why = http.StatusBadRequest, "Bad Request"
	case r.URL.Path != rules.path():
		code, why = http.StatusNotFound, "Not Found"
	case !rules.admits(r.Header.Get("Origin"), r.Host):
		code, why = http.StatusForbidden, "Origin Not Allowed"
	case !offersSIP(r.Header):
		code, why = http.StatusBadRequest, "Subprotocol sip Required"
	}
	if code != 0 {
		http.Error(w, why, code)
		return nil, fmt.Errorf("%w: %s", errUpgrade, why)
	}
	return websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true, // admits has judged the origin
		OnPingReceived:     c.pinged,
	})
}

// offersSIP tells whether a request for a WebSocket offers our subprotocol. What asks for no WebSocket is not judged here.
func offersSIP(h http.Header) bool {
	if h.Get("Upgrade") == "" {
		return true
	}
	for _, line := range h.Values("Sec-Websocket-Protocol") {
		for one := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(one), subprotocol) {
				return true
			}
		}
	}
	return false
}

// upgradeAnswer is the http.ResponseWriter of one request on a connection of ours. A server of package net/http would own the
// connection, and caps, deadlines and the end of connections are this package's.
type upgradeAnswer struct {
	stream  *wsWire
	reader  *bufio.Reader
	header  http.Header
	refused bool
}

// Header implements http.ResponseWriter.
func (w *upgradeAnswer) Header() http.Header { return w.header }

// WriteHeader writes the status line and the header. Whoever is refused is not listened to any longer.
func (w *upgradeAnswer) WriteHeader(code int) {
	if w.refused = code != http.StatusSwitchingProtocols; w.refused {
		w.header.Set("Connection", "close")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", code, http.StatusText(code))
	_ = w.header.Write(&b) // a strings.Builder does not fail
	b.WriteString("\r\n")
	_, _ = w.Write([]byte(b.String())) // a dead connection shows when it is read
}

// Write implements http.ResponseWriter.
func (w *upgradeAnswer) Write(b []byte) (int, error) { return w.stream.Conn.Write(b) }

// Hijack hands the connection over to the WebSocket (http.Hijacker).
func (w *upgradeAnswer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if err := w.stream.SetDeadline(time.Time{}); err != nil {
		return nil, nil, err
	}
	return w.stream, bufio.NewReadWriter(w.reader, bufio.NewWriterSize(w.stream, readSize)), nil
}
