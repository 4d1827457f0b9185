package app

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/join"
	"github.com/tandem-sbc/tandem/cluster/pki"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/admin"
)

// keyBox is a node with a certificate, a TLS listener and the key of its authority.
type keyBox struct {
	*box
	authority *pki.Authority
}

// other is another authority of the same cluster.
func (b *keyBox) other() *pki.Authority {
	b.t.Helper()
	cert, key, err := pki.NewAuthority("test", time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	a, err := pki.ParseAuthority(cert, key)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func newKeyBox(t *testing.T, ip string) *keyBox {
	t.Helper()
	b := &keyBox{box: newBox(t, ip, document("127.0.0.1:9"))}
	cert, key, err := pki.NewAuthority("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	b.write("ca.pem", string(cert))
	b.write("ca.key", string(key))
	if b.authority, err = pki.ParseAuthority(cert, key); err != nil {
		t.Fatal(err)
	}
	b.certify("n1", "n1")
	text, err := os.ReadFile(b.file)
	if err != nil {
		t.Fatal(err)
	}
	tlsListener := `listeners: [{name: tls, transport: tls, address: "` + ip + `:5061", tls: {cert: n1.pem, key: n1.key}}, `
	changed := strings.Replace(string(text), "listeners: [", tlsListener, 1)
	changed = strings.Replace(changed, "  key_file:", "  reload: 100ms\n  tls: {cert: n1.pem, key: n1.key, ca: ca.pem, ca_key: ca.key}\n  key_file:", 1)
	b.write("node.yaml", changed)
	return b
}

// certify puts a certificate of a node into the place of the box's.
func (b *keyBox) certify(name, node string) *keyBox {
	b.t.Helper()
	cert, key, err := b.authority.Issue("test", node, pki.NodeLife, time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	b.write(name+".pem", string(cert))
	b.write(name+".key", string(key))
	return b
}

func (b *keyBox) keys() admin.KeyList {
	b.t.Helper()
	var list admin.KeyList
	if code := b.ask(http.MethodGet, "/v1/keys", nil, &list); code != http.StatusOK {
		b.t.Fatalf("keys: %d", code)
	}
	return list
}

// alarm waits until the node does or does not show an alarm that says text.
func (b *keyBox) alarm(text string, want bool) {
	b.t.Helper()
	b.wait("alarm "+text, func() bool {
		var list admin.NodeList
		b.ask(http.MethodGet, "/v1/nodes", nil, &list)
		return slices.ContainsFunc(list.Alarms, func(a string) bool { return strings.Contains(a, text) }) == want
	})
}

func (b *keyBox) wait(what string, ok func() bool) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(30 * time.Second); !ok(); {
		select {
		case <-tick.C:
		case <-limit:
			b.t.Fatalf("not in time: %s", what)
		}
	}
}

// serial is the serial number of the certificate that the SIP listener shows.
func (b *keyBox) serial() string {
	c, err := tls.Dial("tcp", b.ip+":5061", &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// Files of keys and certificates are taken while the node runs, and what cannot be used changes nothing and is said.
func TestKeyFilesAreReadAgain(t *testing.T) {
	b := newKeyBox(t, "127.87.3.1")
	b.start()
	defer b.stop()
	old, fresh := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	held := func() []string { return b.keys().Nodes[0].Keys }
	first := held()
	if len(first) != 1 || !b.keys().Nodes[0].TLS {
		t.Fatalf("%+v", b.keys().Nodes[0])
	}
	b.write("cluster.key", old+"\n"+fresh+"\n")
	b.wait("both keys are held", func() bool { return len(held()) == 2 && held()[0] == first[0] })

	// The new one first, without the seed: it is used, and the operator is told what is missing.
	b.write("cluster.key", fresh+"\n"+old+"\n")
	b.wait("the new key is used", func() bool { return held()[1] == first[0] })
	b.alarm("the line seed=", true)
	file, err := config.ParseKeyFile(fresh + "\n" + old)
	if err != nil {
		t.Fatal(err)
	}
	file.Seed = Seed(file.Keys[1].Bytes())
	b.write("cluster.key", file.Format())
	b.alarm("key_files", false)

	// Open to everybody, garbled, empty: the node goes on with what it has.
	if err := os.Chmod(filepath.Join(b.dir, "cluster.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.alarm("everybody on this machine may use", true)
	if err := os.Chmod(filepath.Join(b.dir, "cluster.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.alarm("key_files", false)
	b.write("cluster.key", "garbled")
	b.alarm("key 1: want 32 bytes", true)
	if len(held()) != 2 {
		t.Errorf("a bad file changed the keys: %v", held())
	}
	b.write("cluster.key", file.Format())
	b.alarm("key_files", false)

	// A certificate of another node is none; one of its own is shown at once, on the listener as well.
	before, sip := b.keys().Nodes[0].Certificate, b.serial()
	b.certify("n1", "n2")
	b.alarm("and this is", true)
	if b.keys().Nodes[0].Certificate != before {
		t.Error("the certificate of another node is shown")
	}
	b.certify("n1", "n1")
	b.alarm("key_files", false)
	b.wait("the new certificate is shown", func() bool { return b.keys().Nodes[0].Certificate != before })
	b.wait("the listener shows it too", func() bool { return b.serial() != sip })
	if days := b.keys().Certificates; len(days) != 2 || days[0].DaysLeft < 360 {
		t.Errorf("%+v", days)
	}
	// The authority's key is not that of an authority which is trusted any more: the change is made, and said.
	b.authority = b.other()
	b.write("ca.pem", string(b.authority.PEM()))
	b.certify("n1", "n1")
	b.wait("another authority is trusted", func() bool {
		n := b.keys().Nodes[0]
		return len(n.Authorities) == 1 && n.Authorities[0] == pki.Fingerprint(b.authority.Certificate())[:16]
	})
	b.alarm("this node admits nobody", true)
	b.app.Reload() // as by SIGHUP; nothing has changed
	if !strings.Contains(b.text("/metrics"), `tandem_certificate_expiry_timestamp_seconds{use="cluster"} 1.`) {
		t.Error("the metrics say nothing of the certificate")
	}
}

// A new node is let in by a token, with keys that it can use.
func TestTokensOfANode(t *testing.T) {
	b := newKeyBox(t, "127.87.4.1")
	b.start()
	defer b.stop()
	order := func(o admin.TokenOrder) (admin.Token, int) {
		body, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var tok admin.Token
		code := b.ask(http.MethodPost, "/v1/tokens", bytes.NewReader(body), &tok)
		return tok, code
	}
	if _, code := order(admin.TokenOrder{Node: "n1"}); code != http.StatusConflict {
		t.Errorf("a token for the node itself: %d", code)
	}
	if _, code := order(admin.TokenOrder{Node: "No Name"}); code != http.StatusUnprocessableEntity {
		t.Errorf("a token for no name: %d", code)
	}
	answer, code := order(admin.TokenOrder{Node: "n2"})
	if code != http.StatusOK || answer.Node != "n2" {
		t.Fatalf("%d, %+v", code, answer.Node)
	}
	tok, err := join.Parse(answer.Token)
	if err != nil {
		t.Fatal(err)
	}
	a, key, err := join.Join(t.Context(), tok, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pki.Parse("test", "n2", []byte(a.Certificate), key, []byte(a.Authorities)); err != nil {
		t.Error(err)
	}
	f, err := config.ParseKeyFile(a.Keys)
	if err != nil || f.Seed != Seed(f.Keys[0].Bytes()) || string(f.Keys[0].Bytes()) != string(b.app.keys.current().secrets[0]) {
		t.Errorf("the keys of a newcomer: %v", err)
	}
	if len(a.Peers) != 1 || a.Peers[0].Name != "n1" || a.Peers[0].Site != "dallas" || a.Peers[0].Interconnect != "127.87.4.1:7950" {
		t.Errorf("%+v", a.Peers)
	}
	if _, _, err := join.Join(t.Context(), tok, ""); err == nil {
		t.Error("a token was used twice")
	}
	b.wait("the refusal is counted", func() bool {
		return slices.ContainsFunc(b.keys().Refused, func(r admin.Refusal) bool { return r.Reason == "join" && r.Count == 1 })
	})
}

// Nothing that a node logs or shows holds what is secret.
func TestKeysAreNeverShown(t *testing.T) {
	b := newKeyBox(t, "127.87.5.1")
	b.start()
	defer b.stop()
	text := ""
	for _, path := range []string{"/v1/keys", "/v1/nodes", "/metrics", "/readyz?verbose"} {
		text += b.text(path)
	}
	if len(text) < 1000 || strings.Contains(text, strings.Repeat("ab", 16)) || strings.Contains(text, "PRIVATE") {
		t.Error("a key is shown")
	}
}
