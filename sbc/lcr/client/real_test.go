package client

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// real is a client of a server with sockets.
func real(t *testing.T, url string, cfg Config, change func(*trunkgroup.DecisionSpec)) *world {
	t.Helper()
	w := &world{t: t, plan: planOf(t, func(s *trunkgroup.DecisionSpec) {
		s.URL, s.Timeout = url, trunkgroup.Duration(20*time.Second) // a machine may be busy
		if change != nil {
			change(s)
		}
	})}
	w.client = New(cfg)
	w.client.Use([]*trunkgroup.RoutePlan{w.plan})
	t.Cleanup(w.client.Stop)
	return w
}

func TestTLSServers(t *testing.T) {
	server := httptest.NewTLSServer(body(oneRoute))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	w := real(t, server.URL, Config{TLS: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}}, nil)
	if set := w.route("+1"); set.Source != trunkgroup.RoutesLive {
		t.Errorf("%+v", set)
	}
	stranger := real(t, server.URL, Config{}, nil) // whose authority nobody knows
	if set := stranger.route("+1"); !isFallback(set) || !has(set.Why, "certificate") {
		t.Errorf("%+v", set)
	}
}

// A socket that takes connections and says nothing, in TLS and without.
func TestHalfOpenServers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for _, scheme := range []string{"http://", "https://"} {
		w := real(t, scheme+l.Addr().String()+"/route", Config{}, func(s *trunkgroup.DecisionSpec) { s.Timeout = trunkgroup.Duration(500 * time.Millisecond) })
		if set := w.route("+1"); !isFallback(set) || !has(set.Why, "no answer within 500ms") {
			t.Errorf("%+v", set)
		}
	}
}

func TestServersThatAreDown(t *testing.T) {
	server := httptest.NewServer(body(oneRoute))
	url := server.URL
	server.Close()
	w := real(t, url, Config{}, nil)
	if set := w.route("+1"); !isFallback(set) || !has(set.Why, "refused") {
		t.Errorf("%+v", set)
	}
	unknown := real(t, "http://lcr.invalid/route", Config{}, nil)
	if set := unknown.route("+1"); !isFallback(set) || unknown.status().Results[Routed] != 0 {
		t.Errorf("%+v", set)
	}
}

// A server that restarts between two questions costs no call its decision.
func TestServersThatRestart(t *testing.T) {
	handle := body(`{"routes":[{"carrier_id":"a","gateway_group":"g"}],"cache_ttl_secs":0}`)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	first := &http.Server{Handler: handle}
	go func() { _ = first.Serve(l) }()
	w := real(t, "http://"+at+"/route", Config{}, nil)
	w.route("+1")
	_ = first.Close()
	if l, err = net.Listen("tcp", at); err != nil {
		t.Fatal(err)
	}
	second := &http.Server{Handler: handle}
	go func() { _ = second.Serve(l) }()
	defer func() { _ = second.Close() }()
	if set := w.route("+1"); set.Source != trunkgroup.RoutesLive {
		t.Errorf("%+v", set)
	}
}
