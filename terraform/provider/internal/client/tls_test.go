package client_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/client"
)

// pemFile writes one block of PEM.
func pemFile(t *testing.T, kind string, der []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A node that answers https is believed by its certificate alone, and asks for ours and for the token.
func TestHTTPS(t *testing.T) {
	f := &fake{revision: 1, text: first, keys: map[string]uint64{}}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer token-of-a-test" {
			f.say(w, http.StatusUnauthorized, map[string]any{"title": "Unauthorized", "status": 401})
			return
		}
		f.serve(0, w, req)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	pair := s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert := pemFile(t, "CERTIFICATE", s.Certificate().Raw)
	full := client.Config{
		Endpoints: []string{s.URL}, CA: cert, Cert: cert, Key: pemFile(t, "PRIVATE KEY", key), ServerName: "example.com",
		Token: "token-of-a-test", Patience: 2 * time.Second,
	}
	ask := func(change func(cfg *client.Config)) error {
		t.Helper()
		cfg := full
		change(&cfg)
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Document(t.Context())
		return err
	}
	if err := ask(func(*client.Config) {}); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(cfg *client.Config){
		"certificate":  func(cfg *client.Config) { cfg.CA = "" },
		"other.name":   func(cfg *client.Config) { cfg.ServerName = "other.name" },
		"tls":          func(cfg *client.Config) { cfg.Cert, cfg.Key = "", "" },
		"TANDEM_TOKEN": func(cfg *client.Config) { cfg.Token = "wrong" },
	} {
		if err := ask(change); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	cfg := full
	cfg.CA = pemFile(t, "NOTHING", nil)
	if _, err := client.New(cfg); err == nil || !strings.Contains(err.Error(), "no certificate") {
		t.Errorf("no authority: %v", err)
	}
}
