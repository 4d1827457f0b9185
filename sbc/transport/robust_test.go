package transport

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// TestUDPLongMessage: a request above 1,300 bytes goes out all the same (row B1 of the list of known faults in SIP stacks).
func TestUDPLongMessage(t *testing.T) {
	server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0")}})
	client, _ := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0")}})
	for _, size := range []int{1200, 1400, 9000, 60000} {
		body := bytes.Repeat([]byte("v"), size)
		long := bytes.Replace(request(size), []byte("Length: 0\r\n\r\n"), fmt.Appendf(nil, "Length: %d\r\n\r\n%s", size, body), 1)
		b := client.NewBatch()
		b.Send(Target{Transport: trunkgroup.UDP, Addr: server.Addr(0)}, long, 0)
		b.Flush()
		if p := wait(t, "request", served.packets); !bytes.Equal(p.Message.Body(), body) {
			t.Errorf("body of %d bytes came as %d", size, len(p.Message.Body()))
		}
	}
}

// TestNoSharedInbound: a request to an address is never written to an accepted connection, not even one from that address (B6).
func TestNoSharedInbound(t *testing.T) {
	server, served := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0")}})
	stranger := dialRaw(t, server.Addr(0))
	_, _ = stranger.Write(request(1))
	wait(t, "request", served.packets)
	readUntil(t, stranger, "\r\n\r\n")
	server.NewBatch().Send(Target{Transport: trunkgroup.TCP, Addr: addrPort(stranger.LocalAddr()), Listener: 0}, request(2), 2)
	if f := wait(t, "failure", served.failed); f.ref != 2 {
		t.Fatalf("failure %+v", f)
	}
}

// TestListenersOfOneTransport: several ports of one transport all work (B21).
func TestListenersOfOneTransport(t *testing.T) {
	server, served := open(t, Config{Listeners: []ListenerConfig{
		on(trunkgroup.UDP, "127.0.0.1:0"), on(trunkgroup.UDP, "127.0.0.1:0"), on(trunkgroup.UDP, "[::1]:0"), on(trunkgroup.TCP, "127.0.0.1:0"),
	}})
	client, _ := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0"), on(trunkgroup.UDP, "[::1]:0")}})
	b := client.NewBatch()
	for i, transport := range []trunkgroup.Transport{trunkgroup.UDP, trunkgroup.UDP, trunkgroup.UDP, trunkgroup.TCP} {
		b.Send(Target{Transport: transport, Addr: server.Addr(i), Listener: -1}, request(i), 0)
		b.Flush()
		if p := wait(t, "request", served.packets); p.Listener != i || p.Local != server.Addr(i) {
			t.Errorf("listener %d: arrived at %d %s", i, p.Listener, p.Local)
		}
	}
}

// TestUDPAddressTaken: a second process on the same address is found, not silently given half of the traffic.
func TestUDPAddressTaken(t *testing.T) {
	first, _ := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0")}})
	if _, err := Open(Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, first.Addr(0).String())}}, newRecorder()); err == nil {
		t.Error("bound twice")
	}
}

// panicking is a Handler that panics on one Call-ID.
type panicking struct{ *recorder }

func (p panicking) Packets(batch []Packet) {
	for i := range batch {
		if string(batch[i].Message.CallID()) == "call-13" {
			panic("defect")
		}
	}
	p.recorder.Packets(batch)
}

// TestPanicSurvived: a panic while a message is read costs that message, or its connection, and nothing else (B19).
func TestPanicSurvived(t *testing.T) {
	h := panicking{newRecorder()}
	s, err := Open(Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0"), on(trunkgroup.TCP, "127.0.0.1:0")}}, h)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Start()
	client, _ := open(t, Config{Listeners: []ListenerConfig{on(trunkgroup.UDP, "127.0.0.1:0")}})
	b := client.NewBatch()
	for _, n := range []int{13, 14} {
		b.Send(Target{Transport: trunkgroup.UDP, Addr: s.Addr(0)}, request(n), 0)
		b.Flush()
		poll(t, "datagram read", func() bool { return s.Counters().Received[trunkgroup.UDP].Load() == uint64(n-12) })
	}
	wait(t, "datagram behind the panic", h.packets)
	c := dialRaw(t, s.Addr(1))
	_, _ = c.Write(request(13))
	expectEnd(t, c)
	_, _ = dialRaw(t, s.Addr(1)).Write(request(14))
	wait(t, "request behind the panic", h.packets)
	poll(t, "one connection closed", func() bool { return s.Counters().Open.Load() == 1 })
	if n := s.Counters().Panics.Load(); n != 2 {
		t.Errorf("%d panics", n)
	}
}

// TestNothingLost: against a peer that resets connections at random, every request ends in an answer or in a failure.
func TestNothingLost(t *testing.T) {
	addr, conns := rawListener(t, "127.0.0.1:0")
	var peers sync.WaitGroup
	stop := make(chan struct{})
	peers.Go(func() { servePeers(conns, stop, &peers) })
	client, got := open(t, Config{})
	const rounds, senders, each = 20, 4, 25
	for round := range rounds {
		var sending sync.WaitGroup
		for s := range senders {
			sending.Go(func() {
				b := client.NewBatch()
				for i := range each {
					n := (round*senders+s)*each + i
					b.Send(tcpTarget(addr), request(n), uint64(n))
				}
			})
		}
		sending.Wait()
		settle(t, got, uint64(round*senders*each), senders*each)
	}
	close(stop)
	client.Close()
	peers.Wait()
}

// settle waits until the n requests from number first on have an answer or a failure.
func settle(t *testing.T, got *recorder, first uint64, n int) {
	t.Helper()
	settled := map[uint64]bool{}
	late := time.After(patience)
	for len(settled) < n {
		select {
		case p := <-got.packets:
			if number := uint64(p.Message.CSeq()); number >= first { // not a late one of an earlier round
				settled[number] = true
			}
		case f := <-got.failed:
			if f.err == nil || errors.Is(f.err, ErrClosed) {
				t.Fatalf("failure %+v", f)
			}
			if f.ref >= first {
				settled[f.ref] = true
			}
		case <-late:
			t.Fatalf("%d of %d settled", len(settled), n)
		}
	}
}

// servePeers answers every request, or resets the connection instead.
func servePeers(conns <-chan *net.TCPConn, stop <-chan struct{}, wg *sync.WaitGroup) {
	random := rand.New(rand.NewPCG(1, 2))
	for {
		select {
		case <-stop:
			return
		case c := <-conns:
			seed := random.Uint64()
			wg.Go(func() { servePeer(c, rand.New(rand.NewPCG(seed, 3))) })
		}
	}
}

func servePeer(c *net.TCPConn, random *rand.Rand) {
	defer c.Close()
	var f sip.Framer
	buf := make([]byte, 2048)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		f.Write(buf[:n])
		for {
			raw, _ := f.Next()
			if raw == nil {
				break
			}
			if random.IntN(20) == 0 {
				_ = c.SetLinger(0)
				return
			}
			m, fault := sip.Parse(raw)
			if fault != nil {
				return
			}
			_, _ = c.Write(sip.AppendResponse(nil, m, 200, strings.Repeat("k", 5), nil, addrPort(c.RemoteAddr()), nil, nil, nil))
		}
	}
}
