package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestS102_DiameterPeers(t *testing.T) {
	const base = `
name: dal-1
site: dallas
listeners: [{name: udp, transport: udp, address: 127.0.0.1:5060}]
sip: {realm: "-"}
interconnect: {address: 127.0.0.1:7950}
cluster: {id: test, key: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", gossip: {address: 127.0.0.1:7946}}
`
	load := func(text string) (*Config, error) {
		path := filepath.Join(t.TempDir(), "node.yaml")
		if err := os.WriteFile(path, []byte(base+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Load(path)
	}
	cfg, err := load(`
diameter:
  origin_host: dal-1.sip.example.com
  origin_realm: sip.example.com
  timeout: 2s
  peers:
  - {name: ocs-1, address: "ocs.example.com:3868", realm: example.com}
  - {name: ocs-2, address: 192.0.2.61:5868, host: ocs-2.example.com, realm: example.com, transport: tls}
`)
	if err != nil {
		t.Fatal(err)
	}
	d := cfg.Diameter
	if d.Timeout != 2*time.Second || d.Watchdog != 30*time.Second || len(d.Peers) != 2 || d.Peers[0].Secure || !d.Peers[1].Secure {
		t.Errorf("read %+v", d)
	}
	_, err = load(`
diameter:
  origin_host: "dal 1"
  peers:
  - {name: ocs-1, address: ocs, transport: sctp}
  - {name: ocs-1, address: "192.0.2.61:3868", realm: example.com, tls: {ca: missing.pem}}
`)
	if err == nil {
		t.Fatal("a file with faults is read")
	}
	for _, want := range []string{
		"diameter.origin_host", "diameter.origin_realm", "diameter.peers[0].address", "diameter.peers[0].realm", "diameter.peers[0].transport",
		"diameter.peers[1].name", "diameter.peers[1].tls",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no fault names %s:\n%v", want, err)
		}
	}
}
