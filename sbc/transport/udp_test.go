package transport

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// families are the loopback addresses that every UDP and TCP test runs over.
var families = map[string]string{"ipv4": "127.0.0.1:0", "ipv6": "[::1]:0"}

func TestUDPRoundTrip(t *testing.T) {
	for name, addr := range families {
		t.Run(name, func(t *testing.T) {
			server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, addr)}})
			client, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, addr)}})
			b := client.NewBatch()
			const n = 200
			for i := range n {
				b.Send(Target{Transport: trunkgroup.UDP, Addr: server.Addr(0), Listener: -1}, request(i), uint64(i))
			}
			b.Flush()
			for i := range n {
				p := wait(t, "request", served.packets)
				if int(p.Message.CSeq()) != i || p.Source != client.Addr(0) || p.Local != server.Addr(0) || p.Flow != 0 {
					t.Fatalf("packet %d: %+v", i, p)
				}
				if r := wait(t, "response", got.packets); r.Message.Status() != 200 || int(r.Message.CSeq()) != i {
					t.Fatalf("response %d: %s", i, r.Message.Raw())
				}
			}
			if c := client.Counters(); c.Sent[trunkgroup.UDP].Load() != n || c.Received[trunkgroup.UDP].Load() != n {
				t.Errorf("sent %d, received %d", c.Sent[trunkgroup.UDP].Load(), c.Received[trunkgroup.UDP].Load())
			}
		})
	}
}

// TestAddressTaken: an address that another listener has is refused, also when both spread over several sockets.
func TestAddressTaken(t *testing.T) {
	for _, proto := range []trunkgroup.Transport{trunkgroup.UDP, trunkgroup.TCP} {
		lc := on(proto, "127.0.0.1:0")
		lc.Sockets = 2
		first, _ := open(t, Config{Listeners: []ListenerConfig{lc}})
		lc.Addr = first.Addr(0)
		second, err := Open(Config{Listeners: []ListenerConfig{lc}}, newRecorder())
		if err == nil {
			t.Errorf("%s: a second listener got %s", proto, second.Addr(0))
			_ = second.Close()
		} else if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("%s: %v", proto, err)
		}
	}
}

// TestUDPRefused: a closed port is known by its ICMP error at once, with the branch of what was refused, though the batch holds
// datagrams for others before and behind it.
func TestUDPRefused(t *testing.T) {
	for name, addr := range families {
		t.Run(name, func(t *testing.T) {
			server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, addr)}})
			client, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, addr)}})
			closed := closedUDP(t, addr)
			b := client.NewBatch()
			start := time.Now()
			for i, to := range []netip.AddrPort{server.Addr(0), closed, server.Addr(0)} {
				b.Send(Target{Transport: trunkgroup.UDP, Addr: to, Listener: 0}, request(i), uint64(i))
			}
			b.Flush()
			f := wait(t, "failure", got.failed)
			var icmp *ICMPError
			if !errors.As(f.err, &icmp) || f.ref != 0 || string(icmp.Branch) != "z9hG4bK1" || icmp.Addr != closed || f.target.Addr != closed {
				t.Fatalf("failure %+v: %v", f, f.err)
			}
			if !errors.Is(f.err, syscall.ECONNREFUSED) {
				t.Fatalf("error %v", f.err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("known after %s", took)
			}
			for range 2 {
				wait(t, "request", served.packets)
			}
			// The socket is not hurt: sends right behind an ICMP error get through, whoever reads the error.
			for i := range 50 {
				b.Send(Target{Transport: trunkgroup.UDP, Addr: closed, Listener: 0}, request(100), 1)
				b.Send(Target{Transport: trunkgroup.UDP, Addr: server.Addr(0), Listener: 0}, request(200+i), 2)
				b.Flush()
				if p := wait(t, "request behind an ICMP error", served.packets); int(p.Message.CSeq()) != 200+i {
					t.Fatalf("got %d, want %d", p.Message.CSeq(), 200+i)
				}
			}
		})
	}
}

// closedUDP returns a port where nobody listens.
func closedUDP(t *testing.T, addr string) netip.AddrPort {
	t.Helper()
	c, err := net.ListenPacket("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return addrPort(c.LocalAddr())
}

// TestUDPSendErrors: what the kernel refuses at once fails by its ref, and the rest of the batch goes on.
func TestUDPSendErrors(t *testing.T) {
	server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0")}})
	client, got := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0"), on(trunkgroup.TCP, "127.0.0.1:0")}})
	b := client.NewBatch()
	to := Target{Transport: trunkgroup.UDP, Addr: server.Addr(0)}
	b.Send(to, bytes.Repeat([]byte("x"), 70000), 7)
	b.Send(to, request(1), 8)
	b.Flush()
	wantErr(t, wait(t, "failure", got.failed), 7, syscall.EMSGSIZE)
	wait(t, "request", served.packets)
	for ref, bad := range map[uint64]Target{
		21: {Transport: trunkgroup.UDP, Addr: netip.MustParseAddrPort("[::1]:5060"), Listener: -1},
		22: {Transport: trunkgroup.UDP, Addr: netip.MustParseAddrPort("[::1]:5060"), Listener: 0},
		23: {Transport: trunkgroup.UDP, Addr: server.Addr(0), Listener: 1},
		24: {Transport: trunkgroup.UDP, Addr: server.Addr(0), Listener: 9},
		25: {Transport: trunkgroup.UDP, Listener: 0},
		26: {Transport: trunkgroup.Interconnect, Addr: server.Addr(0), Listener: 0},
	} {
		b.Send(bad, request(1), ref)
		b.Flush()
		wantErr(t, wait(t, "failure", got.failed), ref, ErrNoListener)
	}
}

// TestUDPGate: keep-alives and noise cost nothing, faults that can be answered are.
func TestUDPGate(t *testing.T) {
	server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0")}})
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(server.Addr(0)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, datagram := range []string{"", "\r\n\r\n", "\x00\x00\x00\x00", "noise that is not SIP", strings.Replace(string(request(1)), "OPTIONS\r\n", "INVITE\r\n", 1)} {
		if _, err := c.Write([]byte(datagram)); err != nil {
			t.Fatal(err)
		}
	}
	r := wait(t, "rejection", served.rejected)
	if r.fault.Code != 400 || r.packet.Source != addrPort(c.LocalAddr()) || r.packet.Message != r.fault.Message {
		t.Fatalf("rejection %+v", r)
	}
	if got := readUntil(t, c, "\r\n\r\n"); !strings.HasPrefix(got, "SIP/2.0 400 CSeq Method Mismatch\r\n") {
		t.Fatalf("answer %q", got)
	}
	n := server.Counters()
	if n.Pings.Load() != 3 || n.FaultSilent.Load() != 1 || n.Fault400.Load() != 1 || n.Received[trunkgroup.UDP].Load() != 2 {
		t.Errorf("pings %d, silent %d, 400 %d", n.Pings.Load(), n.FaultSilent.Load(), n.Fault400.Load())
	}
	total := uint64(0)
	n.Faults(func(_ int, count uint64) { total += count })
	if total != 2 {
		t.Errorf("%d faults", total)
	}
}

// TestUDPOrder: the messages of one source reach the handler in the order in which they were sent, over several sockets.
func TestUDPOrder(t *testing.T) {
	lc := on(trunkgroup.UDP, "127.0.0.1:0")
	lc.Sockets = 4
	server, served := open(t, Config{Listeners: []ListenerConfig{lc}})
	client, _ := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0")}})
	b := client.NewBatch()
	for i := range 500 {
		b.Send(Target{Transport: trunkgroup.UDP, Addr: server.Addr(0)}, request(i), 0)
		if i%7 == 0 {
			b.Flush()
		}
	}
	b.Flush()
	for i := range 500 {
		if p := wait(t, "request", served.packets); int(p.Message.CSeq()) != i {
			t.Fatalf("message %d came as %d", p.Message.CSeq(), i)
		}
	}
}

func TestOpenFaults(t *testing.T) {
	taken, _ := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}})
	busy := on(trunkgroup.TCP, taken.Addr(0).String())
	for name, listeners := range map[string][]ListenerConfig{
		"transport": {{Transport: trunkgroup.Interconnect, Addr: taken.Addr(0)}},
		"address":   {{Transport: trunkgroup.UDP}},
		"tls":       {on(trunkgroup.TLS, "127.0.0.1:0")},
		"sockets":   {{Transport: trunkgroup.UDP, Addr: taken.Addr(0), Sockets: -1}},
		"busy":      {on(trunkgroup.UDP, "127.0.0.1:0"), busy},
	} {
		if s, err := Open(Config{Listeners: listeners}, newRecorder()); err == nil || s != nil {
			t.Errorf("%s: opened", name)
		}
	}
}
