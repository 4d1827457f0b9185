package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// fakeDoor shuts 127.0.0.9 out, and what holds the word "scanner".
type fakeDoor struct{ asked, malformed atomic.Int64 }

func (d *fakeDoor) Connect(_ time.Time, _ int, source netip.AddrPort) bool {
	return source.Addr() != netip.MustParseAddr("127.0.0.9")
}

func (d *fakeDoor) Message(_ time.Time, _ int, source netip.AddrPort, raw []byte) bool {
	d.asked.Add(1)
	return source.Addr() != netip.MustParseAddr("127.0.0.9") && !bytes.Contains(raw, []byte("scanner"))
}

func (d *fakeDoor) Known(_ time.Time, source netip.Addr) bool {
	return source == netip.MustParseAddr("127.0.0.7")
}

func (d *fakeDoor) Malformed(time.Time, int, netip.AddrPort) { d.malformed.Add(1) }

func scan(n int) []byte {
	return bytes.Replace(request(n), []byte("\r\n\r\n"), []byte("\r\nUser-Agent: scanner\r\n\r\n"), 1)
}

func TestDoorOfDatagrams(t *testing.T) {
	door := &fakeDoor{}
	s, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0")}, Door: door})
	for _, ip := range []string{"127.0.0.9", "127.0.0.8"} {
		c, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(ip)}, net.UDPAddrFromAddrPort(s.Addr(0)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		for _, b := range [][]byte{scan(1), request(2), []byte("rubbish that is no message\r\n\r\n")} {
			if _, err := c.Write(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if p := wait(t, "packet", got.packets); p.Source.Addr() != netip.MustParseAddr("127.0.0.8") {
		t.Errorf("a packet from %s came in", p.Source)
	}
	poll(t, "all are judged", func() bool {
		return door.asked.Load() == 6 && s.Counters().FaultSilent.Load()+s.Counters().Fault400.Load() == 1
	})
	if len(got.packets) > 0 || door.malformed.Load() != 0 {
		t.Errorf("%d more came in, %d datagrams count as malformed", len(got.packets), door.malformed.Load())
	}
}

func TestDoorOfConnections(t *testing.T) {
	door := &fakeDoor{}
	s, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0"), wsListener(WebSocket{})}, Door: door})
	expectReset(t, "127.0.0.9", s.Addr(0))
	if n := s.Counters().Accepted.Load(); n != 0 {
		t.Errorf("%d connections of a source that is shut out were served", n)
	}

	c := dialRaw(t, s.Addr(0))
	_, _ = c.Write(request(1))
	flow := wait(t, "packet", got.packets).Flow
	_, _ = c.Write(scan(2))
	expectEnd(t, c)
	if f := wait(t, "closed", got.closed); f != flow {
		t.Errorf("flow %d closed, want %d", f, flow)
	}

	w := dialWS(t, s.Addr(1))
	say(t, w, websocket.MessageText, string(scan(3)))
	ended(t, w)
	if len(got.packets) > 0 || len(got.rejected) > 0 {
		t.Error("a scanner was heard")
	}

	c = dialRaw(t, s.Addr(0))
	_, _ = io.WriteString(c, "OPTIONS sip:x SIP/2.0\r\nContent-Length: -1\r\n\r\n")
	poll(t, "the fault counts", func() bool { return door.malformed.Load() == 1 })
}

func TestCloseFrom(t *testing.T) {
	s, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}})
	bad, good := dialFrom(t, "127.0.0.9", s.Addr(0)), dialFrom(t, "127.0.0.8", s.Addr(0))
	poll(t, "two connections", func() bool { return s.Counters().Open.Load() == 2 })
	spared := func(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.8") }
	if n := s.CloseFrom(netip.MustParsePrefix("127.0.0.0/24"), spared); n != 1 {
		t.Errorf("%d connections closed, want 1", n)
	}
	expectEnd(t, bad)
	_, _ = good.Write(request(1))
	wait(t, "packet of the other", got.packets)
}

// Whom we dialled may be a stranger who had us call: he meets the door there too, a ban
// ends his connection, and there are not more of them than may come in.
func TestDoorOfDialledConnections(t *testing.T) {
	addr, conns := rawListener(t, "127.0.0.1:0")
	door := &fakeDoor{}
	limits := DefaultLimits()
	limits.MaxConnsPerSource = 2
	s, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}, Door: door, Limits: limits})
	b, answer := s.NewBatch(), []byte("SIP/2.0 200 OK\r\n\r\n") // unlike a request it is not sent again
	dialled := func() net.Conn {
		t.Helper()
		b.Send(tcpTarget(addr), answer, 0)
		c := wait(t, "connection", conns)
		readUntil(t, c, "\r\n\r\n")
		return c
	}
	c := dialled()
	_, _ = c.Write(request(1))
	wait(t, "packet of the far end", got.packets)
	_, _ = c.Write([]byte("OPTIONS sip:x SIP/2.0\r\nVia: SIP/2.0/TCP h;branch=z9hG4bK1\r\nCall-ID: 1\r\nContent-Length: 0\r\n\r\n"))
	poll(t, "the fault counts", func() bool { return door.malformed.Load() == 1 })
	_, _ = c.Write(scan(2))
	wait(t, "end of the connection", got.closed)
	dialled()
	if n := s.CloseFrom(netip.MustParsePrefix("127.0.0.1/32"), func(netip.Addr) bool { return false }); n != 1 {
		t.Errorf("%d connections closed, want 1", n)
	}

	wait(t, "end of the connection", got.closed)
	for range 2 {
		other, _ := rawListener(t, "127.0.0.1:0")
		b.Send(tcpTarget(other), answer, 0)
	}
	third, _ := rawListener(t, "127.0.0.1:0")
	b.Send(tcpTarget(third), answer, 44)
	f := wait(t, "failure", got.failed)
	for f.ref != 44 { // an answer of the recorder's to the connection that was ended
		f = wait(t, "failure", got.failed)
	}
	if !errors.Is(f.err, ErrTooMany) || !errors.Is(f.err, ErrNotSent) {
		t.Errorf("%+v", f)
	}
	if n := s.CloseFrom(netip.MustParsePrefix("127.0.0.1/32"), func(netip.Addr) bool { return false }); n != 2 {
		t.Errorf("%d connections closed, want 2", n)
	}
	dialled() // there is room again
}

// Strangers who take all places do not keep those out who are known: the oldest of
// their connections ends. A known one is not ended for another, and nobody has more than
// his share.
func TestStrangersGiveWay(t *testing.T) {
	limits := DefaultLimits()
	limits.MaxConns, limits.MaxConnsPerSource = 4, 3
	s, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}, Door: &fakeDoor{}, Limits: limits})
	speak := func(ip string) *tcpConn {
		t.Helper()
		c := dialFrom(t, ip, s.Addr(0))
		_, _ = c.Write(request(1))
		wait(t, "packet", got.packets)
		return c
	}
	strangers := []*tcpConn{speak("127.0.0.2"), speak("127.0.0.2"), speak("127.0.0.3"), speak("127.0.0.4")}
	expectReset(t, "127.0.0.5", s.Addr(0))
	for i := range 3 {
		speak("127.0.0.7")
		expectEnd(t, strangers[i])
	}
	expectReset(t, "127.0.0.7", s.Addr(0)) // its share
	_, _ = strangers[3].Write(request(2))
	wait(t, "packet of the youngest stranger", got.packets)
}
