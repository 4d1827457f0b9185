package transport

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// upgradeRequest asks for a WebSocket.
const upgradeRequest = "GET / HTTP/1.1\r\nHost: sbc\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: sip\r\n\r\n"

// rawWS opens a WebSocket by hand.
func rawWS(t testing.TB, s *Set) *net.TCPConn {
	t.Helper()
	c := dialRaw(t, s.Addr(0))
	if _, err := io.WriteString(c, upgradeRequest); err != nil {
		t.Fatal(err)
	}
	readUntil(t, c, "\r\n\r\n")
	return c
}

// frame builds a masked frame; the mask is zero, so that the payload stands as it is.
func frame(first byte, payload []byte) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = append(b, 0x80|126, byte(n>>8), byte(n))
	default:
		b = append(b, 0x80|127, 0, 0, 0, 0, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(append(b, 0, 0, 0, 0), payload...)
}

// Half-open upgrades, and WebSockets that say nothing, are cut off in time and are bounded meanwhile (RELIABILITY class 24); a caller
// beside them is served.
func TestWebSocketStalls(t *testing.T) {
	limits := Limits{Handshake: 300 * time.Millisecond, FirstMessage: 300 * time.Millisecond, MaxConnsPerSource: 300}
	server, got := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}, Limits: limits})
	var silent []net.Conn
	for i := range 299 {
		switch c := dialRaw(t, server.Addr(0)); i % 3 {
		case 0:
			silent = append(silent, c)
		case 1:
			_, _ = io.WriteString(c, upgradeRequest[:40])
			silent = append(silent, c)
		default:
			_, _ = io.WriteString(c, upgradeRequest)
			silent = append(silent, c)
		}
	}
	poll(t, "299 accepted", func() bool { return server.Counters().Accepted.Load() == 299 })
	c := dialWS(t, server.Addr(0))
	expectReset(t, "127.0.0.1", server.Addr(0)) // the source has all it may have
	say(t, c, websocket.MessageText, string(request(1)))
	wait(t, "request", got.packets)
	hear(t, c)
	for _, s := range silent {
		expectEnd(t, s)
	}
	poll(t, "one left", func() bool { return server.Counters().Open.Load() == 1 })
	say(t, c, websocket.MessageText, string(request(2)))
	wait(t, "request on the one that spoke", got.packets)
	if n := server.Counters().Expired.Load(); n != 299 {
		t.Errorf("%d expired", n)
	}
}

// A message that does not end costs its connection after Limits.Incomplete, however it is dripped.
func TestWebSocketIncomplete(t *testing.T) {
	server, _ := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}, Limits: Limits{Incomplete: 200 * time.Millisecond}})
	c := rawWS(t, server)
	whole := frame(0x81, request(1))
	if _, err := c.Write(whole[:30]); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	expectEnd(t, c)
	if took := time.Since(start); took > patience/2 {
		t.Errorf("cut off after %s", took)
	}
	if n := server.Counters().Expired.Load(); n != 1 {
		t.Errorf("%d expired", n)
	}
}

// Fragments make one message; what breaks RFC 6455 ends the connection, and what is too long says so.
func TestWebSocketFrames(t *testing.T) {
	server, got := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}, Limits: Limits{CloseLinger: 50 * time.Millisecond}})
	t.Run("fragments", func(t *testing.T) {
		c, m := rawWS(t, server), request(5)
		for _, f := range [][]byte{frame(0x01, m[:10]), frame(0x89, []byte("ping")), frame(0x00, m[10:50]), frame(0x80, m[50:])} {
			if _, err := c.Write(f); err != nil {
				t.Fatal(err)
			}
		}
		if p := wait(t, "request", got.packets); !bytes.Equal(p.Message.Raw(), m) {
			t.Errorf("got %q", p.Message.Raw())
		}
	})
	unmasked := append([]byte{0x81, 5}, "hello"...)
	for name, bytes := range map[string][]byte{
		"unmasked":            unmasked,
		"reserved bit":        frame(0xC1, []byte("hello")),
		"unknown opcode":      frame(0x83, []byte("hello")),
		"stray continuation":  frame(0x80, []byte("hello")),
		"long control":        frame(0x89, make([]byte, 200)),
		"interrupted message": append(frame(0x01, []byte("a")), frame(0x81, []byte("b"))...),
	} {
		t.Run(name, func(t *testing.T) {
			c := rawWS(t, server)
			if _, err := c.Write(bytes); err != nil {
				t.Fatal(err)
			}
			expectEnd(t, c)
		})
	}
	t.Run("too long", func(t *testing.T) {
		c := dialWS(t, server.Addr(0))
		say(t, c, websocket.MessageText, string(request(6))+strings.Repeat("x", 70_000))
		if code := ended(t, c); code != websocket.StatusMessageTooBig {
			t.Errorf("closed with %d", code)
		}
	})
	poll(t, "all closed", func() bool { return server.Counters().Open.Load() <= 1 })
}

// A silent peer is asked; one that answers stays though it says nothing for longer than Idle, one that does not is gone.
func TestWebSocketPing(t *testing.T) {
	limits := Limits{Ping: 30 * time.Millisecond, Idle: 300 * time.Millisecond, Write: 200 * time.Millisecond}
	server, got := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}, Limits: limits})
	var asked atomic.Int64
	c, _, err := wsClient{onPing: func() bool { return asked.Add(1) < 20 }}.dial(t, server.Addr(0))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	say(t, c, websocket.MessageText, string(request(1)))
	wait(t, "request", got.packets)
	if code := ended(t, c); code != -1 {
		t.Errorf("closed with %d", code)
	}
	if took := time.Since(start); took < 19*limits.Ping || asked.Load() < 20 {
		t.Errorf("gone after %s and %d pings", took, asked.Load())
	}
	wait(t, "end of the flow", got.closed)
	if n := server.Counters().Expired.Load(); n != 1 {
		t.Errorf("%d expired", n)
	}
}

// A peer that does not read costs its own messages and its connection.
func TestWebSocketSlowReader(t *testing.T) {
	limits := Limits{Write: 300 * time.Millisecond, QueueMessages: 64}
	server, got := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}, Limits: limits})
	c := rawWS(t, server)
	_, _ = c.Write(frame(0x81, request(1)))
	to := (&Packet{Transport: trunkgroup.WS, Flow: wait(t, "request", got.packets).Flow}).Reply()
	big := bytes.Repeat([]byte("x"), 60_000)
	b := server.NewBatch()
	for full := false; !full; {
		b.Send(to, big, 2)
		select {
		case f := <-got.failed:
			wantErr(t, f, 2, ErrQueueFull)
			full = true
		default:
		}
	}
	poll(t, "end of the stuck connection", func() bool { return server.Counters().Open.Load() == 0 })
}

// Close ends WebSockets and upgrades under way, and waits for them.
func TestWebSocketSetClose(t *testing.T) {
	r := newRecorder()
	s, err := Open(Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}}, r)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	_, _ = io.WriteString(dialRaw(t, s.Addr(0)), "GET / HT")
	var all []*websocket.Conn
	for range 20 {
		all = append(all, dialWS(t, s.Addr(0)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		ended(t, c)
	}
	if n := s.Counters().Open.Load(); n != 0 {
		t.Errorf("%d open", n)
	}
}

// scripted is a connection that gives some bytes and takes all.
type scripted struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func (s *scripted) Read(b []byte) (int, error)       { return s.in.Read(b) }
func (s *scripted) Write(b []byte) (int, error)      { return s.out.Write(b) }
func (s *scripted) Close() error                     { return nil }
func (s *scripted) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }

// play gives bytes to a listener as one connection, and returns what it wrote before it ended.
func play(t *testing.T, data []byte) string {
	r := newRecorder()
	s, err := Open(Config{Limits: Limits{CloseLinger: time.Nanosecond}}, r)
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(s, trunkgroup.WS, 0)
	nc := &scripted{in: bytes.NewReader(data)}
	s.streams.admit(c.source, &s.limits)
	c.attach(nc)
	c.serve(&streamListener{set: s, websocket: &WebSocket{}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := s.counters.Panics.Load(); n != 0 || c.state != connEnded {
		t.Fatalf("%d panics, state %d", n, c.state)
	}
	for len(r.packets) > 0 {
		if p := <-r.packets; len(p.Message.Raw()) > 65535 {
			t.Fatalf("a message of %d bytes", len(p.Message.Raw()))
		}
	}
	return nc.out.String()
}

// FuzzUpgrade: whatever asks for a WebSocket gets an answer of HTTP or none, and the connection ends.
func FuzzUpgrade(f *testing.F) {
	f.Add([]byte(upgradeRequest))
	f.Add([]byte("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte(strings.Replace(upgradeRequest, "sip", "sip, xmpp\r\nOrigin: https://a", 1)))
	f.Add([]byte("OPTIONS sip:a@b SIP/2.0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if out := play(t, data); out != "" && !strings.HasPrefix(out, "HTTP/1.1 ") {
			t.Errorf("answered %q", out)
		}
	})
}

// FuzzFrames: no frames of a stranger hurt more than their own connection.
func FuzzFrames(f *testing.F) {
	f.Add(frame(0x81, request(1)))
	f.Add(append(frame(0x01, request(1)[:9]), frame(0x80, request(1)[9:])...))
	f.Add(frame(0x88, []byte{3, 0xe8}))
	f.Add(frame(0x89, []byte("x")))
	f.Add(frame(0x82, fmt.Append(nil, "\r\n\r\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if out := play(t, append([]byte(upgradeRequest), data...)); !strings.HasPrefix(out, "HTTP/1.1 101 ") {
			t.Errorf("answered %q", out)
		}
	})
}
