//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// memoryRoom is what a flood of a test's size may add to a node's resident
// memory. It is far above what was measured and far below what keeping anything
// per message would take.
const memoryRoom = 96 << 20

// resident is the node's resident memory in bytes.
func (s *stronghold) resident(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// descriptors is the number of the node's file descriptors: connections that it holds.
func (s *stronghold) descriptors(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// goodCalls places calls of the carrier until stop is called, which returns their
// report: what a flood does to those who are no part of it.
func (s *stronghold) goodCalls(t testing.TB) (stop func() *sim.Report) {
	t.Helper()
	var load *sim.Load
	err := theLab(t).Namespace(fortress).Do(func() (err error) {
		load, err = sim.NewLoad(sim.LoadConfig{
			CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: s.UDP()}}}, To: []string{"+12145550100..+12145550199"},
			Rate: 25, Hold: 100 * time.Millisecond, Local: []netip.AddrPort{netip.AddrPortFrom(fortCarrier, 0)}, Grace: 20 * time.Second,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan *sim.Report, 1)
	go func() {
		r, err := load.Run(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		done <- r
	}()
	return func() *sim.Report {
		load.Finish()
		r := <-done
		cancel()
		_ = load.Close()
		return r
	}
}

// under runs a flood beside good calls and judges what became of both.
func (s *stronghold) under(t *testing.T, flood func(until time.Time)) {
	t.Helper()
	s.answers(t)
	before := s.resident(t)
	stop := s.goodCalls(t)
	flood(time.Now().Add(2 * time.Second))
	took := s.answers(t) // while what was sent may still wait
	r := stop()
	after := s.resident(t)
	t.Logf("good calls %d, failed %d, delay p50 %.1f ms, p99 %.1f ms; OPTIONS within %v; memory %d MiB, was %d MiB",
		r.Counts.Started, r.Counts.Failed, r.PDD.P50/1000, r.PDD.P99/1000, took.Round(time.Millisecond), after>>20, before>>20)
	if r.Counts.Started < 20 || r.Counts.Failed != 0 || r.Left != 0 || r.FaultsN != 0 {
		t.Errorf("good calls: %d started, %d failed, %d left, faults %v, %+v", r.Counts.Started, r.Counts.Failed, r.Left, r.Faults, r.Failures)
	}
	if after-before > memoryRoom {
		t.Errorf("the node grew by %d MiB", (after-before)>>20)
	}
	if !s.Running() {
		t.Fatal("the node has ended")
	}
	if os.Getenv("TANDEM_SOAK") != "" && r.PDD.P99 > 50_000 {
		t.Errorf("p99 of the good calls is %.1f ms", r.PDD.P99/1000)
	}
}

// datagrams sends what make gives, as fast as one socket takes it.
func (s *stronghold) datagrams(t testing.TB, from netip.Addr, make func(n int) string) func(until time.Time) {
	return func(until time.Time) {
		c := s.dial(t, "udp", from)
		defer c.Close()
		go func() { _, _ = io.Copy(io.Discard, c) }()
		n := 0
		for ; time.Now().Before(until); n++ {
			if _, err := io.WriteString(c, make(n)); err != nil && !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ENOBUFS) {
				t.Fatal(err)
			}
		}
		t.Logf("%d datagrams from one source", n)
	}
}

// TestFloodFromOneSource: a stranger who sends as fast as he can is no trouble of
// anybody else.
func TestFloodFromOneSource(t *testing.T) {
	s := theFortress(t)
	to := "<sip:+12145550100@" + s.IPv4.String() + ">"
	uri := "sip:+12145550100@" + s.IPv4.String()
	for i, f := range []struct {
		name string
		make func(n int) string
	}{
		{"INVITE", func(int) string { return request("INVITE", uri, "UDP", "127.0.5.1:5060", to, "") }},
		{"REGISTER", func(int) string {
			return request("REGISTER", "sip:"+s.IPv4.String(), "UDP", "127.0.5.2:5060", "<sip:a@"+tandem.Realm+">", "")
		}},
		{"bad digest", func(n int) string {
			return request("REGISTER", "sip:"+s.IPv4.String(), "UDP", "127.0.5.3:5060", "<sip:a@"+tandem.Realm+">",
				fmt.Sprintf(`Authorization: Digest username="u%d", realm=%q, nonce="abc", uri="sip:%v", response="00000000000000000000000000000000", algorithm=MD5, qop=auth, nc=00000001, cnonce="x"`,
					n, tandem.Realm, s.IPv4))
		}},
		{"malformed", func(int) string {
			return strings.Replace(request("INVITE", uri, "UDP", "127.0.5.4:5060", to, ""), "CSeq: 1 INVITE", "CSeq: x", 1)
		}},
		{"emergency", func(int) string {
			return request("INVITE", "sip:911@"+s.IPv4.String(), "UDP", "127.0.5.5:5060", to, "Priority: emergency")
		}},
		{"To tag", func(int) string { return request("BYE", uri, "UDP", "127.0.5.6:5060", to+";tag=x", "") }},
	} {
		t.Run(f.name, func(t *testing.T) {
			s.under(t, s.datagrams(t, netip.AddrFrom4([4]byte{127, 0, 5, byte(i + 1)}), f.make))
			m, err := s.Metrics()
			if err != nil {
				t.Fatal(err)
			}
			if n := m.Sum("tandem_emergency_calls_total"); n != 0 {
				t.Errorf("%v calls of strangers passed as emergency calls", n)
			}
		})
	}
}

// TestFloodOfInvitesWithoutAck: a trunk whose INVITEs are all refused and never
// confirmed costs what timer H allows, and its own place only.
func TestFloodOfInvitesWithoutAck(t *testing.T) {
	s := theFortress(t)
	c := s.dial(t, "udp", netip.MustParseAddr("127.0.1.1"))
	go func() { _, _ = io.Copy(io.Discard, c) }()
	uri := "sip:+13105550123@" + s.IPv4.String() // no group's number: 404
	s.under(t, func(until time.Time) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		n := 0
		for ; time.Now().Before(until); n++ {
			if _, err := io.WriteString(c, request("INVITE", uri, "UDP", c.LocalAddr().String(), "<"+uri+">", "")); err != nil {
				t.Fatal(err)
			}
			<-tick.C
		}
		t.Logf("%d INVITEs without ACK", n)
	})
}

// amplified is the most that an answer may be larger than what it answers, over
// the shortest requests that there are: a 401 has to hold a challenge. Requests
// with a body or the headers of a real phone are answered with less than they are,
// and one source is answered as often as its bucket allows.
const amplified = 1.25

// TestFloodOfSpoofedSources: datagrams from thousands of addresses that never
// asked for anything. They are worth no attacker's while, and the node keeps
// nothing of them.
func TestFloodOfSpoofedSources(t *testing.T) {
	s := theFortress(t)
	const sources = 3000
	var in, out int
	s.under(t, func(time.Time) {
		var list []*net.UDPConn
		err := theLab(t).Namespace(fortress).Do(func() error {
			for i := range sources {
				at := &net.UDPAddr{IP: net.IPv4(127, 1, byte(i>>8), byte(i)), Port: 5060}
				c, err := net.DialUDP("udp", at, net.UDPAddrFromAddrPort(s.UDP()))
				if err != nil {
					return err
				}
				list = append(list, c)
			}
			return nil
		})
		defer func() {
			for _, c := range list {
				c.Close()
			}
		}()
		if err != nil {
			t.Fatal(err)
		}
		methods := []string{"INVITE", "REGISTER", "OPTIONS", "MESSAGE", "BYE"}
		for i, c := range list {
			at := c.LocalAddr().String()
			uri := "sip:+12145550100@" + s.IPv4.String()
			text := request(methods[i%len(methods)], uri, "UDP", at, "<"+uri+">", "")
			if i%7 == 0 {
				text = strings.Replace(text, "CSeq: 1", "CSeq: x", 1)
			}
			n, err := io.WriteString(c, text)
			if err != nil {
				t.Fatal(err)
			}
			in += n
		}
		buf := make([]byte, 65535)
		for _, c := range list {
			_ = c.SetReadDeadline(time.Now().Add(2 * time.Millisecond))
			for {
				n, err := c.Read(buf)
				if err != nil {
					break
				}
				out += n
			}
		}
	})
	t.Logf("%d bytes in the name of %d sources, %d bytes to them: x%.2f", in, sources, out, float64(out)/float64(in))
	if float64(out) > amplified*float64(in) {
		t.Errorf("%d bytes came out for %d", out, in)
	}
	in, out = 0, 0
	victim := s.dial(t, "udp", netip.MustParseAddr("127.0.8.1"))
	answers := make(chan int)
	go func() {
		n, _ := io.Copy(io.Discard, victim)
		answers <- int(n)
	}()
	for range 5000 {
		n, err := io.WriteString(victim, request("INVITE", "sip:+12145550100@"+s.IPv4.String(), "UDP", victim.LocalAddr().String(), "<sip:x@"+s.IPv4.String()+">", ""))
		if err != nil {
			t.Fatal(err)
		}
		in += n
	}
	s.answers(t)
	_ = victim.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	out = <-answers
	t.Logf("%d bytes in the name of one source, %d bytes to it: x%.2f", in, out, float64(out)/float64(in))
	if out > in/2 {
		t.Errorf("one victim got %d bytes for %d", out, in)
	}
}

// hold opens connections and leaves them as begin leaves them until the test ends.
func (s *stronghold) hold(t *testing.T, n int, to netip.AddrPort, begin func(c net.Conn)) {
	var all sync.WaitGroup
	for i := range n {
		c, err := s.dialTo("tcp", netip.AddrFrom4([4]byte{127, 0, 6, byte(i%200 + 1)}), to)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		all.Go(func() { begin(c) })
	}
	all.Wait()
}

// TestFloodOfHalfOpenConnections: connections that say nothing, half a message or
// a byte at a time hold up nobody and end at their deadlines.
func TestFloodOfHalfOpenConnections(t *testing.T) {
	s := theFortress(t)
	idle := s.descriptors(t)
	s.under(t, func(end time.Time) {
		sip := netip.AddrPortFrom(s.IPv4, tandem.PortSIP)
		s.hold(t, 200, sip, func(net.Conn) {})
		s.hold(t, 200, sip, func(c net.Conn) { _, _ = io.WriteString(c, "INVITE sip:x@y SIP/2.0\r\nVia: SIP/2.0/TCP h;branch=") })
		s.hold(t, 100, sip, func(c net.Conn) { _, _ = io.WriteString(c, "INVITE sip:x@y SIP/2.0\r\nContent-Length: 60000\r\n\r\nx") })
		until(end)
	})
	eventually(t, 60*time.Second, "the end of connections that say nothing", func() error {
		if n := s.descriptors(t); n > idle+20 {
			return fmt.Errorf("%d descriptors, %d before", n, idle)
		}
		return nil
	})
}

// TestFloodOfTLSHandshakes: handshakes that stall or are nonsense end at their
// deadline; those that complete cost what they cost.
func TestFloodOfTLSHandshakes(t *testing.T) {
	s := theFortress(t)
	idle := s.descriptors(t)
	s.under(t, func(until time.Time) {
		s.hold(t, 150, s.TLS(), func(net.Conn) {})
		s.hold(t, 100, s.TLS(), func(c net.Conn) { _, _ = c.Write([]byte{22, 3, 1, 2, 0, 1, 0}) }) // part of a ClientHello
		s.hold(t, 50, s.TLS(), func(c net.Conn) { _, _ = io.WriteString(c, "INVITE sip:x@y SIP/2.0\r\n\r\n") })
		for n := 0; time.Now().Before(until); n++ {
			c, err := s.dialTo("tcp", netip.AddrFrom4([4]byte{127, 0, 7, byte(n%200 + 1)}), s.TLS())
			if err != nil {
				t.Fatal(err)
			}
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			_ = tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake() //nolint:gosec // whose certificate it is does not matter here
			c.Close()
		}
	})
	eventually(t, 30*time.Second, "the end of handshakes that stall", func() error {
		if n := s.descriptors(t); n > idle+20 {
			return fmt.Errorf("%d descriptors, %d before", n, idle)
		}
		return nil
	})
}
