package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/netip"
	"testing"

	"github.com/coder/websocket"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// wsListener is a WS listener on loopback, or a WSS one when it gets a certificate.
func wsListener(rules WebSocket, certs ...tls.Certificate) ListenerConfig {
	l := on(trunkgroup.WS, "127.0.0.1:0")
	if len(certs) > 0 {
		l = on(trunkgroup.WSS, "127.0.0.1:0")
		l.TLS = &tls.Config{Certificates: certs}
	}
	l.WebSocket = rules
	return l
}

// wsClient says how a test dials.
type wsClient struct {
	scheme   string // "ws" unless set
	path     string // "/" unless set
	origin   string
	protocol string // "sip" unless set; "-" for none
	roots    *x509.CertPool
	onPing   func() bool
}

// dial opens a WebSocket. The connection ends with the test.
func (w wsClient) dial(t testing.TB, to netip.AddrPort) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: w.roots}}
	o := &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}, HTTPHeader: http.Header{}}
	if w.protocol != "-" {
		o.Subprotocols = []string{or(w.protocol, "sip")}
	}
	if w.origin != "" {
		o.HTTPHeader.Set("Origin", w.origin)
	}
	if w.onPing != nil {
		o.OnPingReceived = func(context.Context, []byte) bool { return w.onPing() }
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, response, err := websocket.Dial(ctx, or(w.scheme, "ws")+"://"+to.String()+or(w.path, "/"), o)
	if c != nil {
		t.Cleanup(func() { _ = c.CloseNow() })
	}
	return c, response, err
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// dialWS opens a WebSocket that must be accepted.
func dialWS(t testing.TB, to netip.AddrPort) *websocket.Conn {
	t.Helper()
	c, _, err := wsClient{}.dial(t, to)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// say sends one message.
func say(t testing.TB, c *websocket.Conn, kind websocket.MessageType, message string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.Write(ctx, kind, []byte(message)); err != nil {
		t.Fatal(err)
	}
}

// hear takes one message.
func hear(t testing.TB, c *websocket.Conn) (websocket.MessageType, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	kind, message, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return kind, string(message)
}

// ended waits for the end of a WebSocket and returns the status with which it was closed, -1 without one.
func ended(t testing.TB, c *websocket.Conn) websocket.StatusCode {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, _, err := c.Read(ctx); err != nil {
			if ctx.Err() != nil {
				t.Fatalf("still open after %s", patience)
			}
			return websocket.CloseStatus(err)
		}
	}
}
