package transport

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

type tcpConn = net.TCPConn

// dialFrom opens a connection from one of the loopback addresses.
func dialFrom(t testing.TB, ip string, to netip.AddrPort) *tcpConn {
	t.Helper()
	c, err := net.DialTCP("tcp", &net.TCPAddr{IP: net.ParseIP(ip)}, net.TCPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestIncompleteMessage: a message that stays incomplete is answered 400 and closed, however its bytes drip (RFC 4475 3.1.2.2,
// slowloris).
func TestIncompleteMessage(t *testing.T) {
	server, served := open(t, Config{
		Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")},
		Limits:    Limits{Incomplete: 100 * time.Millisecond, CloseLinger: 100 * time.Millisecond},
	})
	c := dialRaw(t, server.Addr(0))
	raw := bytes.Replace(request(1), []byte("Content-Length: 0"), []byte("Content-Length: 9999"), 1)
	if _, err := c.Write(raw); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var drip sync.WaitGroup
	drip.Go(func() { // one byte per few milliseconds does not buy time
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				_, _ = c.Write([]byte("x"))
			}
		}
	})
	got := readUntil(t, c, "\r\n\r\n")
	expectEnd(t, c)
	close(stop)
	drip.Wait()
	if !strings.HasPrefix(got, "SIP/2.0 400 Incomplete Message\r\n") {
		t.Fatalf("answer %q", got)
	}
	if r := wait(t, "rejection", served.rejected); !r.fault.Close || r.packet.Flow == 0 {
		t.Fatalf("rejection %+v", r)
	}
	wait(t, "end of the flow", served.closed)
}

// TestStreamFaults: a defect that leaves the framing whole keeps the connection, one that does not closes it behind the answer,
// and what stands behind it is never executed.
func TestStreamFaults(t *testing.T) {
	server, served := open(t, Config{
		Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}, Limits: Limits{CloseLinger: 100 * time.Millisecond},
	})
	mismatch := bytes.Replace(request(1), []byte(" OPTIONS\r\n"), []byte(" INFO\r\n"), 1)
	c := dialRaw(t, server.Addr(0))
	_, _ = c.Write(append(mismatch, request(2)...))
	got := readUntil(t, c, "CSeq: 2 OPTIONS\r\nContent-Length: 0\r\n\r\n")
	if !strings.HasPrefix(got, "SIP/2.0 400 CSeq Method Mismatch\r\n") || !strings.Contains(got, "SIP/2.0 200 OK\r\n") {
		t.Fatalf("answers %q", got)
	}
	wait(t, "request", served.packets)

	smuggle := bytes.Replace(request(3), []byte("Content-Length: 0\r\n"), []byte("Content-Length: 0\r\nl: 5\r\n"), 1)
	_, _ = c.Write(append(smuggle, request(4)...))
	if got := readUntil(t, c, "\r\n\r\n"); !strings.HasPrefix(got, "SIP/2.0 400 Repeated Content-Length\r\n") {
		t.Fatalf("answer %q", got)
	}
	expectEnd(t, c)
	if len(served.packets) != 0 {
		t.Error("a message behind lost framing was executed")
	}

	noise := dialRaw(t, server.Addr(0))
	_, _ = noise.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	expectEnd(t, noise)

	half := dialRaw(t, server.Addr(0)) // a client that shuts its sending side still gets the answer
	_, _ = half.Write(smuggle)
	_ = half.CloseWrite()
	if got := readUntil(t, half, "\r\n\r\n"); !strings.HasPrefix(got, "SIP/2.0 400 ") {
		t.Fatalf("answer %q", got)
	}
}

// TestKeepAlive: CRLFCRLF between messages is answered CRLF (RFC 5626 3.5.1).
func TestKeepAlive(t *testing.T) {
	server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "[::1]:0")}})
	c := dialRaw(t, server.Addr(0))
	_, _ = c.Write([]byte("\r\n\r"))
	_, _ = c.Write([]byte("\n"))
	if got := readUntil(t, c, "\r\n"); got != "\r\n" {
		t.Fatalf("pong %q", got)
	}
	_, _ = c.Write(request(1))
	wait(t, "request", served.packets)
	if server.Counters().Sent[trunkgroup.TCP].Load() > 1 {
		t.Error("a pong was counted as a message")
	}
}

// TestIdle: a connection without traffic ends, either side.
func TestIdle(t *testing.T) {
	limits := Limits{Idle: 200 * time.Millisecond}
	server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}, Limits: limits})
	client, got := open(t, Config{Limits: limits})
	client.NewBatch().Send(tcpTarget(server.Addr(0)), request(1), 1)
	p := wait(t, "request", served.packets)
	wait(t, "response", got.packets)
	if f := wait(t, "end of the flow", served.closed); f != p.Flow {
		t.Fatalf("flow %d ended, want %d", f, p.Flow)
	}
	wait(t, "end at the client", got.closed)
	server.NewBatch().Send(p.Reply(), request(2), 2)
	wantErr(t, wait(t, "failure", served.failed), 2, ErrFlowGone)
}

// failingListener gives errors before it gives connections.
type failingListener struct {
	net.Listener
	mu     sync.Mutex
	errors []error
}

func (l *failingListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	if len(l.errors) > 0 {
		err := l.errors[0]
		l.errors = l.errors[1:]
		l.mu.Unlock()
		return nil, err
	}
	l.mu.Unlock()
	return l.Listener.Accept()
}

// TestAcceptSurvives: a process without descriptors accepts again when it has some.
func TestAcceptSurvives(t *testing.T) {
	h := newRecorder()
	s, err := Open(Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}}, h)
	if err != nil {
		t.Fatal(err)
	}
	h.answer = s
	defer s.Close()
	l := s.listeners[0].stream
	l.net = &failingListener{Listener: l.net, errors: []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, errors.New("odd")}}
	s.Start()
	c := dialRaw(t, s.Addr(0))
	if _, err := c.Write(request(1)); err != nil {
		t.Fatal(err)
	}
	wait(t, "request", h.packets)
	if n := s.Counters().AcceptErrors.Load(); n != 4 {
		t.Errorf("%d accept errors", n)
	}
}

// TestClose: Close ends everything at once, fails what waits, and may be repeated.
func TestClose(t *testing.T) {
	addr, conns := rawListener(t, "127.0.0.1:0")
	h := newRecorder()
	s, err := Open(Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0"), on(trunkgroup.UDP, "[::1]:0")}}, h)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	s.Start()
	b := s.NewBatch()
	b.Send(tcpTarget(addr), request(1), 1)
	peer := wait(t, "connection", conns)
	readUntil(t, peer, "\r\n\r\n")
	accepted := dialRaw(t, s.Addr(0))
	poll(t, "accept", func() bool { return s.Counters().Accepted.Load() == 1 })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantErr(t, wait(t, "failure", h.failed), 1, ErrClosed)
	expectEnd(t, peer)
	expectEnd(t, accepted)
	b.Send(tcpTarget(addr), request(2), 2)
	wantErr(t, wait(t, "failure", h.failed), 2, ErrClosed)
	b.Send(Target{Transport: trunkgroup.UDP, Addr: s.Addr(1), Listener: 1}, request(3), 3)
	b.Flush()
	if f := wait(t, "failure", h.failed); f.ref != 3 {
		t.Fatalf("failure %+v", f)
	}
	if err := s.Close(); err != nil || s.Counters().Open.Load() != 0 {
		t.Errorf("second close: %v, %d open", err, s.Counters().Open.Load())
	}
}

// TestSourcesStayBounded: nothing is kept of a source that has gone.
func TestSourcesStayBounded(t *testing.T) {
	server, _ := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}})
	for i := range 20 {
		c := dialFrom(t, fmt.Sprintf("127.0.0.%d", i+1), server.Addr(0))
		_ = c.Close()
	}
	poll(t, "all accepted and gone", func() bool {
		server.streams.mu.Lock()
		defer server.streams.mu.Unlock()
		return server.Counters().Accepted.Load() == 20 && len(server.streams.sources) == 0 && server.streams.accepted == 0
	})
}
