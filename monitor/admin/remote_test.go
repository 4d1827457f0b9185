package admin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// selfSigned is a certificate that is its own authority.
func selfSigned(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	spec := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, spec, spec, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

// Other machines are served over TLS, and only those that show the token or a certificate: also of
// what is open to this machine.
func TestRemote(t *testing.T) {
	node, trust := selfSigned(t, "node")
	friend, friends := selfSigned(t, "operator")
	stranger, _ := selfSigned(t, "stranger")
	for _, tc := range []struct {
		name   string
		token  string // of the node
		client *x509.CertPool
		shown  []tls.Certificate
		says   string // the token that the client shows
		want   int    // 0: no connection
	}{
		{"token", "sixteen-and-more!", nil, nil, "sixteen-and-more!", 200},
		{"no token", "sixteen-and-more!", nil, nil, "", 401},
		{"wrong token", "sixteen-and-more!", nil, nil, "seventeen", 401},
		{"certificate", "", friends, []tls.Certificate{friend}, "", 200},
		{"no certificate", "", friends, nil, "", 0},
		{"foreign certificate", "", friends, []tls.Certificate{stranger}, "", 0},
		{"certificate without token", "sixteen-and-more!", friends, []tls.Certificate{friend}, "", 401},
		{"nothing asked for", "", nil, nil, "", 401},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0") // finds a port that is free
			if err != nil {
				t.Fatal(err)
			}
			at := netip.MustParseAddrPort(l.Addr().String())
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			cfg := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{node}}
			if tc.client != nil {
				cfg.ClientCAs, cfg.ClientAuth = tc.client, tls.RequireAndVerifyClientCert
			}
			c := serve(t, func(s *Settings) {
				s.Token, s.Remote, s.RemoteTLS = tc.token, at, cfg
				s.Backend = (&fake{live: []Check{{Name: "process"}}}).backend()
			})
			c.base, c.token = "https://"+at.String(), tc.says
			c.http.Transport = &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trust, Certificates: tc.shown}}
			for _, path := range []string{"/metrics", "/livez"} {
				res, err := c.http.Do(c.get(path))
				switch {
				case tc.want == 0:
					if err == nil {
						t.Errorf("%s: %s", path, res.Status)
						res.Body.Close()
					}
				case err != nil:
					t.Error(err)
				default:
					if res.StatusCode != tc.want {
						t.Errorf("%s: %s; want %d", path, res.Status, tc.want)
					}
					res.Body.Close()
				}
			}
		})
	}
}

// An address that cannot be had leaves nothing bound.
func TestRemoteAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	node, _ := selfSigned(t, "node")
	_, err = New(Settings{
		Network: "tcp", Address: "127.0.0.1:0", Remote: netip.MustParseAddrPort(l.Addr().String()),
		RemoteTLS: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{node}},
	})
	if err == nil || !strings.Contains(err.Error(), "remote") {
		t.Errorf("%v", err)
	}
}

func (c *client) get(path string) *http.Request {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.base+path, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r
}
