package transport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the ceiling of every wait; nothing takes near as long unless it is broken.
const patience = 10 * time.Second

// sendFailure is one call of Failed.
type sendFailure struct {
	ref    uint64
	target Target
	err    error
}

// rejection is one call of Reject.
type rejection struct {
	packet Packet
	fault  sip.Fault
}

// recorder is a Handler that passes everything to channels. With answer it sends 200 to every request and the fault's code to
// every rejection.
type recorder struct {
	packets  chan Packet
	rejected chan rejection
	failed   chan sendFailure
	closed   chan Flow
	answer   *Set
}

func newRecorder() *recorder {
	return &recorder{
		packets: make(chan Packet, 4096), rejected: make(chan rejection, 4096),
		failed: make(chan sendFailure, 4096), closed: make(chan Flow, 4096),
	}
}

func (r *recorder) Packets(batch []Packet) {
	for _, p := range batch {
		if r.answer != nil && p.Message.IsRequest() && p.Message.Method() != sip.ACK {
			r.reply(p, 200, "")
		}
		r.packets <- p
	}
}

func (r *recorder) Reject(p Packet, f *sip.Fault) {
	if r.answer != nil {
		r.reply(p, f.Code, f.Reason)
	}
	r.rejected <- rejection{p, *f}
}

func (r *recorder) reply(p Packet, code int, reason string) {
	b := r.answer.NewBatch()
	b.Send(p.Reply(), sip.AppendResponse(nil, p.Message, code, reason, []byte("t"), p.Source, nil, nil, nil), 0)
	b.Flush()
}

func (r *recorder) Failed(ref uint64, t Target, err error) { r.failed <- sendFailure{ref, t, err} }
func (r *recorder) Closed(f Flow)                          { r.closed <- f }

// wait takes the next value of a channel.
func wait[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s in %s", what, patience)
		panic("unreachable")
	}
}

// poll waits for a condition.
func poll(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not in %s", what, patience)
		}
	}
}

// open starts a Set that answers and that the end of the test closes.
func open(t testing.TB, cfg Config) (*Set, *recorder) {
	t.Helper()
	r := newRecorder()
	s, err := Open(cfg, r)
	if err != nil {
		t.Fatal(err)
	}
	r.answer = s
	s.Start()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, r
}

// on is a listener on loopback.
func on(transport trunkgroup.Transport, addr string) ListenerConfig {
	return ListenerConfig{Name: transport.String(), Transport: transport, Addr: netip.MustParseAddrPort(addr)}
}

// request builds an OPTIONS whose branch is unique by n.
func request(n int) []byte {
	return fmt.Appendf(nil, "OPTIONS sip:x@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK%d\r\nMax-Forwards: 70\r\n"+
		"From: <sip:a@b>;tag=1\r\nTo: <sip:c@d>\r\nCall-ID: call-%d\r\nCSeq: %d OPTIONS\r\nContent-Length: 0\r\n\r\n", n, n, n)
}

// dialRaw opens a plain connection to a listener, closed by the end of the test.
func dialRaw(t testing.TB, to netip.AddrPort) *net.TCPConn {
	t.Helper()
	c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// readUntil reads from a raw connection until what it got ends with suffix.
func readUntil(t testing.TB, c net.Conn, suffix string) string {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	var got strings.Builder
	buf := make([]byte, 4096)
	for !strings.HasSuffix(got.String(), suffix) {
		n, err := c.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			t.Fatalf("read: %v after %q", err, got.String())
		}
	}
	return got.String()
}

// expectEnd wants the peer to close the connection.
func expectEnd(t testing.TB, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	buf := make([]byte, 4096)
	for {
		if _, err := c.Read(buf); err != nil {
			if isTimeout(err) {
				t.Fatalf("still open after %s", patience)
			}
			return
		}
	}
}

// rawListener accepts connections and gives them to the test.
func rawListener(t testing.TB, addr string) (netip.AddrPort, <-chan *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan *net.TCPConn, 64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			conns <- c.(*net.TCPConn)
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return addrPort(ln.Addr()), conns
}

// certificate makes a self-signed certificate for a name and the loopback addresses, and the pool that trusts it.
func certificate(t testing.TB, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// wantErr checks a failure.
func wantErr(t testing.TB, f sendFailure, ref uint64, want error) {
	t.Helper()
	if f.ref != ref || !errors.Is(f.err, want) {
		t.Fatalf("failure of %d: %v, want %d: %v", f.ref, f.err, ref, want)
	}
}
