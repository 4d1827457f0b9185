package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const goodKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

// good is a complete file of a node; tests replace parts of it.
const good = `
name: dal-1
site: dallas
data_dir: data
listeners:
  - {name: udp, transport: udp, address: "192.0.2.10:5060", zone: access}
  - {name: tcp6, transport: tcp, address: "[2001:db8::10]:5060"}
interconnect: {address: "0.0.0.0:7950", advertise: "192.0.2.10:7950"}
cluster:
  id: example
  key: "` + goodKey + `"
  gossip: {address: "192.0.2.10:7946"}
  raft:
    voters:
      - {name: dal-1}
      - {name: ash-1, address: "ash-1.example.net:7951"}
  peers:
    - {name: ash-1, site: ashburn, gossip: "198.51.100.10:7946", interconnect: "198.51.100.10:7950"}
  dial_map:
    - {address: "198.51.100.10:7950", via: "127.0.0.1:17950"}
cdr: {rotate_size: 1MiB}
log: {level: debug, format: text}
sip:
  realm: sip.example.net
  timers: {t1: 250ms}
dns: {servers: ["192.0.2.53:53"]}
`

// write puts a file into a new directory and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "node.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadConvertsEveryValue(t *testing.T) {
	path := write(t, good)
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	for _, x := range []struct{ what, got, want string }{
		{"name", c.Name, "dal-1"},
		{"data_dir", c.DataDir, filepath.Join(dir, "data")},
		{"listener address", c.Listeners[1].Address.String(), "[2001:db8::10]:5060"},
		{"listener advertise", c.Listeners[0].Advertise.String(), "192.0.2.10:5060"},
		{"zone", c.Listeners[0].Zone, "access"},
		{"interconnect", c.Interconnect.Address.String(), "0.0.0.0:7950"},
		{"interconnect advertise", c.Interconnect.Advertise.String(), "192.0.2.10:7950"},
		{"voter", c.Cluster.Voters[1].Address, "ash-1.example.net:7951"},
		{"own voter", c.Cluster.Voters[0].Address, "192.0.2.10:7950"},
		{"raft", c.Cluster.Raft.Address.String(), "invalid AddrPort"},
		{"peer site", c.Cluster.Peers[0].Site, "ashburn"},
		{"dial map", c.Cluster.DialMap[0].Via, "127.0.0.1:17950"},
		{"admin network", c.Admin.Network, "unix"},
		{"admin address", c.Admin.Address, "/run/tandem/admin.sock"},
		{"cdr", c.CDR.Path, filepath.Join(dir, "data", "cdr.jsonl")},
		{"log", c.Log.Level.String(), "DEBUG"},
		{"dns", c.DNS.Servers[0].String(), "192.0.2.53:53"},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %q, want %q", x.what, x.got, x.want)
		}
	}
	if c.CDR.RotateSize != 1<<20 || c.SIP.T1 != 250*time.Millisecond || c.SIP.T2 != 4*time.Second || c.SIP.Limits.Connections != 10_000 {
		t.Errorf("numbers: %+v %+v", c.CDR, c.SIP)
	}
	if k := c.Cluster.Keys; len(k) != 1 || len(k[0].Bytes()) != KeySize || k[0].Bytes()[31] != 0x1f {
		t.Error("cluster key is not the one of the file")
	}
}

func TestEnvironmentWins(t *testing.T) {
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(goodKey+"\n"+strings.ToUpper(goodKey)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TANDEM_SITE", "ashburn")
	t.Setenv("TANDEM_LOG_LEVEL", "warn")
	t.Setenv("TANDEM_CLUSTER_KEY_FILE", keyFile)
	t.Setenv("TANDEM_SIP_LIMITS_CONNECTIONS", "77")
	t.Setenv("TANDEM_DNS_SERVERS", "192.0.2.1:53,192.0.2.2:53")
	// The key is absent from the file: it must be found in the environment all the same.
	c, err := Load(write(t, strings.Replace(good, `key: "`+goodKey+`"`, "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if c.Site != "ashburn" || c.Log.Level.String() != "WARN" || len(c.Cluster.Keys) != 2 || c.SIP.Limits.Connections != 77 || len(c.DNS.Servers) != 2 {
		t.Errorf("got %+v", c)
	}
}

func TestOverrideWins(t *testing.T) {
	t.Setenv("TANDEM_CLUSTER_ID", "environment")
	c, err := Load(write(t, good), Override{Key: "cluster.id", Value: "flag"})
	if err != nil || c.Cluster.ID != "flag" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestFaults(t *testing.T) {
	for _, x := range []struct{ name, old, new, want string }{
		{"unknown key", "site: dallas", "site: dallas\nsitr: x", "sitr: unknown key; did you mean site?"},
		{"unknown key inside", "zone: access", "zon: access", "listeners[0].zon: unknown key; did you mean zone?"},
		{"key in the wrong place", "log: {level: debug", "log: {realm: x, level: debug", "log.realm: unknown key; it belongs at sip.realm"},
		{"wrong shape", "dns: {servers: [\"192.0.2.53:53\"]}", "dns: [1]", "dns: "},
		{"bad name", "name: dal-1\nsite", "name: Dal.1\nsite", `name: "Dal.1" is not a name; use a-z`},
		{"no site", "site: dallas\n", "", "site: missing; for example dallas"},
		{"no port", "192.0.2.10:5060", "192.0.2.10", `listeners[0].address: "192.0.2.10" is not an address with port`},
		{"same socket", `transport: tcp, address: "[2001:db8::10]:5060"`, `transport: udp, address: "192.0.2.10:5060"`, "listeners[1].address: "},
		{"same listener name", "name: tcp6", "name: udp", `listeners[1].name: "udp" is also at listeners[0].name`},
		{"unknown transport", "transport: tcp", "transport: sctp", `listeners[1].transport: "sctp" is not a transport; write udp, tcp, tls, ws or wss`},
		{"tls without files", "transport: tcp", "transport: tls", "listeners[1].tls.cert: missing"},
		{"tls on udp", "zone: access", "tls: {cert: x}", "listeners[0].tls: only for the transport tls"},
		{"cert not there", "transport: tcp", "tls: {cert: no.pem, key: no.pem}, transport: tls", "listeners[1].tls.key: open "},
		{"wildcard untold", `, advertise: "192.0.2.10:7950"`, "", "interconnect.advertise: missing; add the address that others can reach"},
		{"wildcard told", `advertise: "192.0.2.10:7950"`, `advertise: "0.0.0.0:7950"`, "interconnect.advertise: nobody can reach"},
		{"no key", `key: "` + goodKey + `"`, "", "cluster.key_file: missing; `tandem cluster key > FILE` makes one"},
		{"short key", goodKey, goodKey[2:], "cluster.key: key 1: want 32 bytes in base64 or hex"},
		{"both keys", `key: "`, `key_file: x` + "\n  " + `key: "`, "cluster.key_file: key and key_file are both set"},
		{"raft without address", "voters:", "advertise: \"192.0.2.10:7951\"\n    voters:", "cluster.raft.address: missing"},
		{"stranger votes", "{name: ash-1, address", "{name: ash-9, address", `cluster.raft.voters[1].name: "ash-9" is neither this node nor a peer`},
		{"peer is self", "{name: ash-1, site", "{name: dal-1, site", `cluster.peers[0].name: "dal-1" is also at name`},
		{"peer address", "gossip: \"198.51.100.10:7946\"", "gossip: \"198.51.100.10\"", "cluster.peers[0].gossip: "},
		{"dial map", "via: \"127.0.0.1:17950\"", "via: \"127.0.0.1:0\"", "cluster.dial_map[0].via: "},
		{"admin from afar", "cdr:", "admin: {address: \"192.0.2.10:8080\"}\ncdr:", "admin.address: 192.0.2.10:8080 can be reached from other machines"},
		{"admin for all", "cdr:", "admin: {remote: {address: \"192.0.2.10:8443\"}}\ncdr:", "admin.remote: nothing tells who may ask"},
		{"admin without certificate", "cdr:", "admin: {remote: {address: \"192.0.2.10:8443\"}}\ncdr:", "admin.remote.tls.cert: missing"},
		{"admin without address", "cdr:", "admin: {remote: {tls: {client_ca: x}}}\ncdr:", "admin.remote.address: "},
		{"token file", "cdr:", "admin: {token_file: nowhere}\ncdr:", "admin.token_file: "},
		{"size", "1MiB", "1MB", `cdr.rotate_size: "1MB" is not such a size`},
		{"level", "level: debug", "level: loud", `log.level: "loud" is not a level`},
		{"format", "format: text", "format: xml", `log.format: "xml" is not a format`},
		{"timer", "t1: 250ms", "t1: 250", `sip.timers.t1: "250" is not such a duration`},
		{"t2 below t1", "t1: 250ms", "t1: 2s, t2: 1s", "sip.timers.t2: smaller than t1"},
		{"no realm", "realm: sip.example.net", "user_agent: x", "sip.realm: missing"},
		{"header injection", "realm: sip.example.net", `realm: "a\r\nb"`, "sip.realm: quotes and control characters"},
		{"witness with listeners", "site: dallas", "site: dallas\nwitness: true", "listeners: a witness carries no calls"},
		{"not YAML", "site: dallas", "site: [", "node.yaml: yaml: line "},
	} {
		t.Run(x.name, func(t *testing.T) {
			if !strings.Contains(good, x.old) {
				t.Fatalf("the good file has no %q", x.old)
			}
			_, err := Load(write(t, strings.Replace(good, x.old, x.new, 1)))
			var faults *Faults
			if !errors.As(err, &faults) || !strings.Contains(err.Error(), x.want) {
				t.Errorf("got  %v\nwant %s", err, x.want)
			}
		})
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := Load(write(t, "unheard: of\nlog: {level: 3, format: 4}\nlisteners: [{name: x}]\n"))
	for _, want := range []string{"unheard", "log.level", "log.format", "name", "site", "listeners[0].transport", "listeners[0].address", "interconnect.address", "cluster.id", "cluster.key_file", "cluster.gossip.address", "sip.realm"} {
		if err == nil || !strings.Contains(err.Error(), ": "+want+": ") {
			t.Errorf("no fault about %s in:\n%v", want, err)
		}
	}
}

// A fault deep inside must not hide the ones beside it.
func TestUnknownKeysOfAllDepths(t *testing.T) {
	text := strings.NewReplacer("site: dallas", "site: dallas\nlgo: x", "zone: access", "zon: access", "log: {level: debug", "log: {levell: debug").Replace(good)
	_, err := Load(write(t, text))
	for _, want := range []string{"lgo: unknown key", "listeners[0].zon: unknown key", "log.levell: unknown key"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

func TestWitnessNeedsNoSIP(t *testing.T) {
	text := strings.Replace(good, "listeners:", "witness: true\nlisteners: []\nx:", 1)
	i, j := strings.Index(text, "x:"), strings.Index(text, "interconnect:")
	text = strings.Replace(text[:i]+text[j:], "realm: sip.example.net", "user_agent: \"-\"", 1)
	c, err := Load(write(t, text))
	if err != nil || !c.Witness || c.SIP.UserAgent != "" {
		t.Fatalf("got %+v, %v", c, err)
	}
}

func TestNoFile(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want one that is os.ErrNotExist", err)
	}
}
