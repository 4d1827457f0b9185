package contexts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const good = `
current: ash-1
contexts:
  - {name: dal-1, address: "unix:/run/tandem/admin.sock"}
  - {name: dal-2, address: "127.0.0.1:8080", token_file: token}
  - {name: ipv6, address: "https://[2001:db8::1]:8443/"}
  - name: ash-1
    address: https://sbc.example.com:8443
    token_file: /etc/token
    ca: ca.pem
    cert: me.pem
    key: me.key
    server_name: ash-1.example.com
`

func TestReadWhatWasWritten(t *testing.T) {
	f, err := Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "not", "there", "contexts.yaml")
	if empty, err := Read(path); err != nil || len(empty.Contexts) != 0 {
		t.Fatalf("a file that is not there: %v, %v", empty, err)
	}
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	back, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, back); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	c, err := back.Find("ash-1")
	if err != nil {
		t.Fatal(err)
	}
	if c = c.Beside(path); c.CA != filepath.Join(filepath.Dir(path), "ca.pem") || c.TokenFile != "/etc/token" {
		t.Errorf("paths: %+v", c)
	}
	if _, err := back.Find("ash-9"); err == nil || !strings.Contains(err.Error(), "ash-1, dal-1, dal-2, ipv6") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestFaults(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", `contexts: [{name: a, address: "unix:/s", tokenfile: x}]`, "tokenfile"},
		{"no list", `contexts: 7`, "cannot unmarshal"},
		{"twice", `contexts: [{name: a, address: "unix:/s"}, {name: a, address: "unix:/t"}]`, `contexts[1].name: "a" stands there twice`},
		{"no name", `contexts: [{address: "unix:/s"}]`, "is not one word"},
		{"no address", `contexts: [{name: a}]`, "is not an admin address"},
		{"plain http", `contexts: [{name: a, address: "http://sbc.example.com:80"}]`, "https://sbc.example.com:8443"},
		{"no port", `contexts: [{name: a, address: "https://sbc.example.com"}]`, "a host and a port"},
		{"password in the address", `contexts: [{name: a, address: "https://me:secret@sbc.example.com:8443"}]`, "before the host"},
		{"fragment", `contexts: [{name: a, address: "https://sbc.example.com:8443#x"}]`, "a host and a port"},
		{"question", `contexts: [{name: a, address: "https://sbc.example.com:8443?"}]`, "a host and a port"},
		{"port 0", `contexts: [{name: a, address: "https://sbc.example.com:0"}]`, "between 1 and 65535"},
		{"port too large", `contexts: [{name: a, address: "https://[2001:db8::1]:65536"}]`, "between 1 and 65535"},
		{"two documents", "contexts: []\n---\ncontexts: []\n", "second document"},
		{"no path", `contexts: [{name: a, address: "unix:"}]`, "no path"},
		{"ca without https", `contexts: [{name: a, address: "127.0.0.1:8080", ca: x}]`, "for addresses that begin with https"},
		{"half a pair", `contexts: [{name: a, address: "https://h:1", cert: x}]`, "both cert and key"},
		{"current", `{current: b, contexts: [{name: a, address: "unix:/s"}]}`, `there is no context "b"; there are a`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Parse([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v; want %q in it", err, tc.want)
			}
		})
	}
}

// What parses can be written, and says the same when it is read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("contexts: []"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Parse(text)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "contexts.yaml")
		if err := got.Write(path); err != nil {
			t.Fatal(err)
		}
		back, err := Read(path)
		if err != nil {
			t.Fatalf("%v, of %+v", err, got)
		}
		if len(got.Contexts) != len(back.Contexts) || got.Current != back.Current {
			t.Errorf("%+v became %+v", got, back)
		}
	})
}
