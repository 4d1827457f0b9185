package admin

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// What strangers do to the listener for other machines does not fill the log.
func TestFaultsOfConnectionsAreLoggedWithALimit(t *testing.T) {
	var text bytes.Buffer
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	l := slog.NewLogLogger(&faultLog{Handler: slog.NewTextHandler(&text, nil), now: func() time.Time { return now }}, slog.LevelWarn)
	for range 1000 {
		l.Print("http: TLS handshake error from 192.0.2.1:40000: EOF")
	}
	if got := strings.Count(text.String(), "\n"); got != maxFaults {
		t.Errorf("%d lines", got)
	}
	now = now.Add(faultSpan)
	l.Print("http: TLS handshake error from 192.0.2.1:40000: EOF")
	if got := strings.Count(text.String(), "\n"); got != maxFaults+1 || !strings.Contains(text.String(), "hushed=995") {
		t.Errorf("%d lines after the span:\n%s", got, text.String())
	}
}

// lockedBuffer is a buffer that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) lines() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.String(), "\n")
}

// The limit is in force where strangers are: connections that speak no TLS.
func TestStrangersOfRemoteAreLoggedWithALimit(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	node, _ := selfSigned(t, "node")
	var text lockedBuffer
	c := serve(t, func(s *Settings) {
		s.Token, s.Remote = "sixteen-and-more!", netip.MustParseAddrPort(at)
		s.RemoteTLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{node}}
		s.Logger = slog.New(slog.NewTextHandler(&text, nil))
		s.Probes = netip.MustParseAddrPort("127.0.0.1:0")
	})
	for range 10 * maxFaults {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		_, _ = conn.Read(make([]byte, 100)) // until the node has hung up
		_ = conn.Close()
	}
	if n := text.lines(); n == 0 || n > maxFaults {
		t.Errorf("%d lines of %d connections", n, 10*maxFaults)
	}
	if got := c.s.ProbesAddr(); got == nil || got.String() == at {
		t.Errorf("the probes answer at %v, and %s is remote", got, at)
	}
}
