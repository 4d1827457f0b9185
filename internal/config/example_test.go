package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExampleLoads keeps configs/node.example.yaml true: it loads as it is, in a directory that stands
// in for /etc/tandem.
func TestExampleLoads(t *testing.T) {
	text, err := os.ReadFile("../../configs/node.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	etc := t.TempDir()
	put := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(etc, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := certificate(t)
	put("sip.pem", cert)
	put("sip.key", key)
	put("cluster.key", []byte(goodKey))
	put("cluster.yaml", []byte("cluster: example\n"))
	put("node.yaml", []byte(strings.ReplaceAll(string(text), "/etc/tandem", etc)))
	c, err := Load(filepath.Join(etc, "node.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Listeners) != 5 || len(c.Cluster.Voters) != 5 || len(c.Cluster.Peers) != 4 || c.Listeners[2].TLS.Cert == "" {
		t.Errorf("got %+v", c)
	}
}

// TestTwoNodesLoad keeps the node files of the README true.
func TestTwoNodesLoad(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(goodKey), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dallas.yaml", "ashburn.yaml"} {
		c, err := Load("../../docs/two-nodes/"+name, Override{Key: "cluster.key_file", Value: key})
		if err != nil || len(c.Cluster.Voters) != 2 || c.Cluster.Voters[0].Address != "127.0.1.1:7950" || c.Cluster.Raft.Address.IsValid() {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
}

func TestCertificateOfAnotherKey(t *testing.T) {
	dir := t.TempDir()
	cert, _ := certificate(t)
	_, key := certificate(t)
	for name, data := range map[string][]byte{"cert": cert, "key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Replace(good, "transport: tcp", "transport: tls, tls: {cert: "+dir+"/cert, key: "+dir+"/key}", 1)
	_, err := Load(write(t, text))
	if err == nil || !strings.Contains(err.Error(), "listeners[1].tls: tls: private key does not match") {
		t.Errorf("got %v", err)
	}
}

// certificate makes a self-signed certificate and its key, in PEM.
func certificate(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"sip.example.net"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}
