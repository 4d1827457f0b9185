package transport

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// tcpTarget reaches a stream listener over the pool.
func tcpTarget(addr netip.AddrPort) Target {
	return Target{Transport: trunkgroup.TCP, Addr: addr, Listener: -1}
}

func TestTCPRoundTrip(t *testing.T) {
	for name, addr := range families {
		t.Run(name, func(t *testing.T) {
			server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, addr)}})
			client, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, addr)}})
			b := client.NewBatch()
			const n = 300
			for i := range n { // the first ones wait for the dial
				b.Send(tcpTarget(server.Addr(0)), request(i), uint64(i))
			}
			var flow Flow
			for i := range n {
				p := wait(t, "request", served.packets)
				if int(p.Message.CSeq()) != i || p.Local != server.Addr(0) || p.Flow == 0 || p.Source.Addr() != client.Addr(0).Addr() {
					t.Fatalf("packet %d: %+v", i, p)
				}
				if r := wait(t, "response", got.packets); r.Message.Status() != 200 || r.Source != server.Addr(0) || r.Listener != 0 {
					t.Fatalf("response %d: %+v", i, r)
				}
				if flow == 0 {
					flow = p.Flow
				}
				if p.Flow != flow {
					t.Fatal("requests went over more than one connection")
				}
			}
			// A request the other way over the accepted flow, never over a connection picked by address.
			sb := server.NewBatch()
			sb.Send(Target{Transport: trunkgroup.TCP, Flow: flow}, request(9000), 1)
			if p := wait(t, "request on the flow", got.packets); p.Message.CSeq() != 9000 {
				t.Fatalf("got %s", p.Message.Raw())
			}
			if client.Counters().Dialled.Load() != 1 || server.Counters().Accepted.Load() != 1 {
				t.Error("more than one connection")
			}
		})
	}
}

// G-07: the name is asked for in the handshake (SNI).
func TestG07_TLSRoundTrip(t *testing.T) {
	cert, pool := certificate(t, "sbc.example.com")
	listener := on(trunkgroup.TLS, "127.0.0.1:0")
	names := make(chan string, 10)
	listener.TLS = &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		names <- hello.ServerName
		return &cert, nil
	}}
	server, served := open(t, Config{Listeners: []ListenerConfig{listener}})
	client, got := open(t, Config{ClientTLS: func(string) *tls.Config { return &tls.Config{RootCAs: pool} }})
	b := client.NewBatch()
	target := Target{Transport: trunkgroup.TLS, Addr: server.Addr(0), Listener: -1, ServerName: "sbc.example.com"}
	for i := range 100 {
		b.Send(target, request(i), uint64(i))
	}
	for i := range 100 {
		if p := wait(t, "request", served.packets); int(p.Message.CSeq()) != i || p.Transport != trunkgroup.TLS {
			t.Fatalf("packet %d: %+v", i, p)
		}
		wait(t, "response", got.packets)
	}
	if name := <-names; name != target.ServerName {
		t.Errorf("asked for %q", name)
	}
	t.Run("no shared connection between names", func(t *testing.T) {
		other := target
		other.ServerName = "" // the address, which the certificate names too
		b.Send(other, request(200), 200)
		wait(t, "request", served.packets)
		if n := client.Counters().Dialled.Load(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
	})
	t.Run("wrong name", func(t *testing.T) {
		other := target
		other.ServerName = "evil.example.com"
		b.Send(other, request(201), 201)
		if f := wait(t, "failure", got.failed); f.ref != 201 || !strings.Contains(f.err.Error(), "tls") {
			t.Fatalf("failure %d: %v", f.ref, f.err)
		}
	})
	t.Run("no client configuration", func(t *testing.T) {
		plain, failed := open(t, Config{})
		plain.NewBatch().Send(target, request(202), 202)
		wantErr(t, wait(t, "failure", failed.failed), 202, ErrNoTLS)
	})
	t.Run("old versions are refused", func(t *testing.T) {
		_, err := tls.Dial("tcp", server.Addr(0).String(), &tls.Config{RootCAs: pool, ServerName: "sbc.example.com", MaxVersion: tls.VersionTLS11})
		if err == nil {
			t.Fatal("TLS 1.1 was accepted")
		}
	})
}

// TestTLSHandshakeStall: a client that never speaks TLS is cut off in time (RELIABILITY class 24).
func TestTLSHandshakeStall(t *testing.T) {
	cert, _ := certificate(t, "sbc")
	listener := on(trunkgroup.TLS, "127.0.0.1:0")
	listener.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server, _ := open(t, Config{Listeners: []ListenerConfig{listener}, Limits: Limits{Handshake: 50 * time.Millisecond}})
	expectEnd(t, dialRaw(t, server.Addr(0)))
	if n := server.Counters().Expired.Load(); n != 1 {
		t.Errorf("%d expired", n)
	}
}

func TestTCPConnectFailures(t *testing.T) {
	client, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}, Limits: Limits{Connect: 100 * time.Millisecond}})
	b := client.NewBatch()
	b.Send(tcpTarget(closedUDP(t, "127.0.0.1:0")), request(1), 1)
	wantErr(t, wait(t, "failure", got.failed), 1, syscall.ECONNREFUSED)
	b.Send(tcpTarget(netip.AddrPort{}), request(2), 2)
	if f := wait(t, "failure", got.failed); f.ref != 2 {
		t.Fatalf("failure %+v", f)
	}
	b.Send(Target{Transport: trunkgroup.TCP, Flow: 99999}, request(3), 3)
	wantErr(t, wait(t, "failure", got.failed), 3, ErrFlowGone)
	if len(got.closed) != 0 {
		t.Error("a connection that never was is reported closed")
	}
}

// TestReturnPort: "if that connection is no longer open, the server SHOULD open a connection to the IP address in the
// "received" parameter, using the port in the "sent-by" value" (RFC 3261 18.2.2).
func TestReturnPort(t *testing.T) {
	addr, conns := rawListener(t, "127.0.0.1:0")
	server, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}})
	c := dialRaw(t, server.Addr(0))
	_, _ = c.Write(request(1))
	p := wait(t, "request", got.packets)
	_ = c.Close()
	wait(t, "end of the flow", got.closed)
	to := p.Reply()
	to.ReturnPort = addr.Port()
	server.NewBatch().Send(to, []byte("SIP/2.0 200 OK\r\n\r\n"), 0)
	readUntil(t, wait(t, "connection", conns), "\r\n\r\n")
}

// Flows of one process never name those of another.
func TestFlowsBeginAnywhere(t *testing.T) {
	a, _ := open(t, Config{})
	b, _ := open(t, Config{})
	if x, y := a.streams.nextFlow.Load(), b.streams.nextFlow.Load(); x == y || x == 0 {
		t.Errorf("flows begin at %d and %d", x, y)
	}
}

// TestCON01Resend: a pooled connection that died while idle costs one try, not the call: same bytes, one copy seen by the peer.
func TestCON01Resend(t *testing.T) {
	addr, conns := rawListener(t, "127.0.0.1:0")
	client, got := open(t, Config{})
	b := client.NewBatch()
	b.Send(tcpTarget(addr), request(1), 1)
	first := wait(t, "connection", conns)
	readUntil(t, first, "\r\n\r\n")
	reply(t, first, 1)
	wait(t, "response", got.packets)

	// The peer dies with the second request unread: RST, and nothing came back.
	b.Send(tcpTarget(addr), request(2), 2)
	_ = first.SetLinger(0)
	_ = first.Close()
	second := wait(t, "second connection", conns)
	if seen := readUntil(t, second, "\r\n\r\n"); seen != string(request(2)) {
		t.Fatalf("the peer saw %q", seen)
	}
	reply(t, second, 2)
	wait(t, "response", got.packets)
	if n := client.Counters().Resent.Load(); n != 1 || len(got.failed) != 0 {
		t.Errorf("%d resent, %d failed", n, len(got.failed))
	}
}

// TestCON01Once: the second try is the last one, and answered requests, responses and ACKs are never repeated.
func TestCON01Once(t *testing.T) {
	addr, conns := rawListener(t, "127.0.0.1:0")
	client, got := open(t, Config{})
	b := client.NewBatch()
	b.Send(tcpTarget(addr), request(1), 1)
	first := wait(t, "connection", conns)
	readUntil(t, first, "\r\n\r\n")
	reply(t, first, 1)
	wait(t, "response", got.packets)

	ack := bytes.ReplaceAll(request(3), []byte("OPTIONS"), []byte("ACK"))
	b.Send(tcpTarget(addr), request(2), 2)
	b.Send(tcpTarget(addr), ack, 3)
	readUntil(t, first, string(ack))
	_ = first.Close()
	second := wait(t, "second connection", conns)
	if seen := readUntil(t, second, "\r\n\r\n"); seen != string(request(2)) {
		t.Fatalf("the peer saw %q", seen)
	}
	_ = second.SetLinger(0)
	_ = second.Close()
	f := wait(t, "failure", got.failed)
	if f.ref == 3 { // the peer closed before the writer knew that the ACK had left: reported, never repeated
		f = wait(t, "failure", got.failed)
	}
	if f.ref != 2 {
		t.Fatalf("failure %d: %v", f.ref, f.err)
	}
	if n := client.Counters().Resent.Load(); n != 1 || len(conns) != 0 {
		t.Errorf("%d resent, %d more connections", n, len(conns))
	}
}

// TestFreshConnectionNotRetried: a peer that accepts and closes is not a dead pool entry.
func TestFreshConnectionNotRetried(t *testing.T) {
	addr, conns := rawListener(t, "127.0.0.1:0")
	client, got := open(t, Config{})
	client.NewBatch().Send(tcpTarget(addr), request(1), 1)
	_ = wait(t, "connection", conns).Close()
	if f := wait(t, "failure", got.failed); f.ref != 1 || client.Counters().Resent.Load() != 0 {
		t.Fatalf("failure %d: %v", f.ref, f.err)
	}
}

// reply writes a 200 to request n.
func reply(t testing.TB, c interface{ Write([]byte) (int, error) }, n int) {
	t.Helper()
	if _, err := fmt.Fprintf(c, "SIP/2.0 200 OK\r\nVia: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK%d\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\n"+
		"Call-ID: call-%d\r\nCSeq: %d OPTIONS\r\nContent-Length: 0\r\n\r\n", n, n, n); err != nil {
		t.Fatal(err)
	}
}

// TestSlowReader: a peer that does not read costs its own messages and its connection, and nobody waits for it (CON-08).
func TestSlowReader(t *testing.T) {
	addr, conns := rawListener(t, "127.0.0.1:0")
	server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}})
	client, got := open(t, Config{Limits: Limits{Write: 300 * time.Millisecond, QueueMessages: 64, QueueBytes: 1 << 20}})
	b := client.NewBatch()
	big := bytes.Replace(request(1), []byte("Content-Length: 0\r\n"), fmt.Appendf(nil, "Content-Length: 60000\r\n"), 1)
	big = append(big, bytes.Repeat([]byte("x"), 60000)...)
	b.Send(tcpTarget(addr), request(0), 1)
	wait(t, "connection", conns) // and it is never read
	full := false
	for start := time.Now(); !full; {
		b.Send(tcpTarget(addr), big, 2)
		if time.Since(start) > patience {
			t.Fatal("the queue never fills")
		}
		select {
		case f := <-got.failed:
			wantErr(t, f, 2, ErrQueueFull)
			full = true
		default:
		}
	}
	start := time.Now()
	b.Send(tcpTarget(server.Addr(0)), request(3), 3)
	wait(t, "request to another peer", served.packets)
	if took := time.Since(start); took > time.Second {
		t.Errorf("another peer waited %s", took)
	}
	poll(t, "end of the stuck connection", func() bool { return client.Counters().Open.Load() == 1 })
}

// TestIdleConnections: 500 connections that say nothing are cut off, and a call beside them is not hurt (CON-08).
func TestIdleConnections(t *testing.T) {
	server, served := open(t, Config{
		Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")},
		Limits:    Limits{FirstMessage: 500 * time.Millisecond},
	})
	client, got := open(t, Config{})
	for range 500 {
		dialRaw(t, server.Addr(0))
	}
	poll(t, "500 accepted", func() bool { return server.Counters().Open.Load() == 500 })
	b := client.NewBatch()
	b.Send(tcpTarget(server.Addr(0)), request(1), 1)
	wait(t, "request", served.packets)
	wait(t, "response", got.packets)
	poll(t, "500 closed", func() bool { return server.Counters().Open.Load() == 1 })
	b.Send(tcpTarget(server.Addr(0)), request(2), 2)
	wait(t, "request on the connection that spoke", served.packets)
	if n := server.Counters().Expired.Load(); n != 500 {
		t.Errorf("%d expired", n)
	}
}

func TestConnectionCaps(t *testing.T) {
	server, _ := open(t, Config{
		Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")},
		Limits:    Limits{MaxConns: 3, MaxConnsPerSource: 2},
	})
	from := func(ip string) *tcpConn { return dialFrom(t, ip, server.Addr(0)) }
	from("127.0.0.1")
	second := from("127.0.0.1")
	poll(t, "two accepted", func() bool { return server.Counters().Accepted.Load() == 2 })
	expectReset(t, "127.0.0.1", server.Addr(0))
	from("127.0.0.2")
	poll(t, "three accepted", func() bool { return server.Counters().Accepted.Load() == 3 })
	expectReset(t, "127.0.0.3", server.Addr(0))
	if n := server.Counters().Capped.Load(); n != 2 {
		t.Errorf("%d capped", n)
	}
	_ = second.Close() // its place is free again
	poll(t, "one closed", func() bool { return server.Counters().Open.Load() == 2 })
	from("127.0.0.1")
	poll(t, "a fourth accepted", func() bool { return server.Counters().Accepted.Load() == 4 })
}

// expectReset wants a connection that is reset at once, before or behind its first use.
func expectReset(t testing.TB, ip string, to netip.AddrPort) {
	t.Helper()
	c, err := net.DialTCP("tcp", &net.TCPAddr{IP: net.ParseIP(ip)}, net.TCPAddrFromAddrPort(to))
	if err != nil {
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		return
	}
	defer c.Close()
	expectEnd(t, c)
}
