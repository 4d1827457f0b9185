package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// box is one node in a directory of its own, on one loopback address.
type box struct {
	t    testing.TB
	dir  string
	ip   string
	file string
	app  *App
}

func newBox(t *testing.T, ip, document string, voters ...string) *box {
	t.Helper()
	b := &box{t: t, dir: t.TempDir(), ip: ip}
	b.write("cluster.yaml", document)
	b.write("cluster.key", strings.Repeat("ab", 32))
	list := fmt.Sprintf("{name: n1, address: \"%s:7950\"}", ip)
	peers := ""
	for i, v := range voters {
		list += fmt.Sprintf(", {name: away-%d, address: \"%s:7950\"}", i, v)
		peers += fmt.Sprintf("    - {name: away-%d, site: ashburn, gossip: \"%s:7946\", interconnect: \"%s:7950\"}\n", i, v, v)
	}
	if peers != "" {
		peers = "  peers:\n" + peers
	}
	b.file = b.write("node.yaml", fmt.Sprintf(`
name: n1
site: dallas
data_dir: %[1]s/data
listeners: [{name: udp, transport: udp, address: "%[2]s:5060"}]
interconnect: {address: "%[2]s:7950"}
cluster:
  id: test
  key_file: %[1]s/cluster.key
  document: %[1]s/cluster.yaml
  gossip: {address: "%[2]s:7946"}
  raft: {voters: [%[3]s]}
%[4]sadmin: {address: "unix:%[1]s/admin.sock"}
cdr: {path: %[1]s/data/records/calls.jsonl}
sip: {realm: sip.example.com}
`, b.dir, ip, list, peers))
	return b
}

func (b *box) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *box) start() {
	b.t.Helper()
	cfg, err := config.Load(b.file)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	b.app, err = New(ctx, cfg, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.app.Start(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) stop() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := b.app.Stop(ctx); err != nil {
		b.t.Error(err)
	}
}

// ask sends one request to the admin API.
func (b *box) ask(method, path string, body io.Reader, into any) int {
	b.t.Helper()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(b.dir, "admin.sock"))
		},
	}}
	req, err := http.NewRequestWithContext(b.t.Context(), method, "http://node"+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	if into != nil && resp.StatusCode < 300 {
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			b.t.Fatal(err)
		}
	}
	return resp.StatusCode
}

// text returns a page of the admin API.
func (b *box) text(path string) string {
	b.t.Helper()
	conn, err := net.Dial("unix", filepath.Join(b.dir, "admin.sock"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n", path); err != nil {
		b.t.Fatal(err)
	}
	page, err := io.ReadAll(conn)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(page)
}

func addrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// wait polls until the condition holds.
func (b *box) wait(what string, cond func() bool) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(20 * time.Second)
	for !cond() {
		select {
		case <-end:
			b.t.Fatalf("%s did not come", what)
		case <-tick.C:
		}
	}
}

func document(pbx string) string {
	return fmt.Sprintf(`cluster: test
sites: [{name: dallas}]
trunk_groups:
  - name: acme-in
    role: origination-customer
    numbers: ["+1214555*"]
    monitoring: {profile: kamailio, interval: 200ms, down_interval: 200ms, timeout: 150ms}
    members: [{id: pbx, site: dallas, address: "%s"}]
  - name: carrier
    role: pstn-provider
    sources: [{ip: 127.0.0.1}]
    members: [{id: gw, site: dallas, address: "192.0.2.1:5060"}]
`, pbx)
}

func startPBX(t *testing.T) *sim.FarEnd {
	t.Helper()
	far, err := sim.StartFarEnd(sim.FarEndConfig{
		CalleeConfig: sim.CalleeConfig{Name: "pbx", Role: sim.PBX, Behaviour: sim.AnswersAtOnce()},
		Listen:       []sim.Listen{{Addr: addrPort("127.0.0.1:0")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	return far
}

// calls places a few calls from the carrier and returns how many were answered.
func (b *box) calls(n int) int {
	b.t.Helper()
	load, err := sim.NewLoad(sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: addrPort(b.ip + ":5060")}}},
		To:           []string{"+12145550100"}, Rate: 100, Calls: n, Grace: 20 * time.Second,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = load.Close() }()
	r, err := load.Run(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Counts.Answered
}

// A node from file to calls, and down again without leaving anything behind.
func TestNodeFromStartToStop(t *testing.T) {
	pbx := startPBX(t)
	b := newBox(t, "127.88.1.1", document(pbx.Addr(0).String()))
	b.start()
	defer b.stop()
	b.wait("readiness", func() bool { return b.ask("GET", "/readyz", nil, nil) == 200 })
	if got := b.calls(10); got != 10 {
		t.Fatalf("%d of 10 calls answered", got)
	}
	var members admin.MemberList
	b.wait("the PBX's good probe", func() bool {
		return b.ask("GET", "/v1/members", nil, &members) == 200 && members.Members[0].State == "active"
	})
	if err := pbx.Kill(); err != nil {
		t.Fatal(err)
	}
	b.wait("the dead PBX", func() bool {
		return b.ask("GET", "/v1/members", nil, &members) == 200 && members.Members[0].State == "down"
	})
	if members.Members[0].Reason == "" || members.Members[0].Since == nil {
		t.Errorf("a state shows its reason and since when: %+v", members.Members[0])
	}
	var explained admin.Explanation
	if code := b.ask("GET", "/v1/explain?source=127.0.0.1:5060&called=%2B12145550100", nil, &explained); code != 200 {
		t.Errorf("explain: %d", code)
	}
	metrics := b.text("/metrics")
	for _, want := range []string{
		`tandem_calls_total{direction="inbound",result="answered",trunk_group="acme-in"} 10`,
		`tandem_sip_requests_total{direction="in",method="INVITE",transport="udp"} `,
		`tandem_sip_requests_total{direction="out",method="INVITE",transport="udp"} `,
		`tandem_sip_responses_total{code="200",direction="out",method="BYE"} `,
		`tandem_trunk_group_members{site="dallas",state="down",trunk_group="acme-in"} 1`,
		"tandem_raft_has_leader 1",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	records, err := os.ReadFile(filepath.Join(b.dir, "data", "records", "calls.jsonl"))
	b.wait("the call records", func() bool {
		records, err = os.ReadFile(filepath.Join(b.dir, "data", "records", "calls.jsonl"))
		return err == nil && bytes.Count(records, []byte("\n")) == 10
	})
}

// DEC-14: a node that restarts without quorum routes at once by its last known
// good configuration.
func TestDEC14_RestartWithoutQuorumRoutesAtOnce(t *testing.T) {
	pbx := startPBX(t)
	b := newBox(t, "127.88.1.2", document(pbx.Addr(0).String()))
	b.start()
	b.wait("readiness", func() bool { return b.ask("GET", "/readyz", nil, nil) == 200 })
	b.stop()

	// The same data directory, but now two of three voters are away.
	c := newBox(t, "127.88.1.2", document(pbx.Addr(0).String()), "127.88.1.3", "127.88.1.4")
	text, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	c.file = c.write("node.yaml", strings.Replace(string(text), c.dir+"/data", b.dir+"/data", 1))
	if err := os.RemoveAll(filepath.Join(b.dir, "data", "raft")); err != nil {
		t.Fatal(err)
	}
	c.start()
	defer c.stop()
	if got := c.calls(5); got != 5 {
		t.Errorf("%d of 5 calls answered", got)
	}
	if code := c.ask("GET", "/readyz", nil, nil); code != 200 {
		t.Errorf("readyz %d: a node without quorum takes calls", code)
	}
}

// The document to begin with is checked while it is needed, and not missed when
// it is gone later.
func TestInitialDocument(t *testing.T) {
	pbx := startPBX(t)
	good := document(pbx.Addr(0).String())
	b := newBox(t, "127.88.1.6", good)
	for name, c := range map[string]struct{ text, want string }{
		"of another cluster": {strings.Replace(good, "cluster: test", "cluster: other", 1), `is of cluster "other", and cluster.id is "test"`},
		"without our site":   {strings.ReplaceAll(good, "dallas", "denver"), `has no site "dallas", where this node stands; it has denver`},
		"with a fault":       {good + "x: y\n", "x: is no key here"},
	} {
		b.write("cluster.yaml", c.text)
		cfg, err := config.Load(b.file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Initial(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.write("cluster.yaml", good)
	b.start()
	b.wait("readiness", func() bool { return b.ask("GET", "/readyz", nil, nil) == 200 })
	b.stop()
	if err := os.Remove(filepath.Join(b.dir, "cluster.yaml")); err != nil {
		t.Fatal(err)
	}
	b.start()
	defer b.stop()
	if code := b.ask("GET", "/readyz", nil, nil); code != 200 {
		t.Errorf("readyz %d after a restart without the document to begin with", code)
	}
	stray := strings.NewReader(strings.ReplaceAll(good, "dallas", "denver"))
	if code := b.ask("POST", "/v1/config?author=test", stray, nil); code != 200 {
		t.Fatalf("apply: %d", code)
	}
	b.wait("the alarm of a node without a site", func() bool { return strings.Contains(b.text("/readyz?verbose"), `no site "dallas"`) })
}

// A document with faults is refused with all of them, and nothing changes.
func TestApplyOfABadDocumentChangesNothing(t *testing.T) {
	pbx := startPBX(t)
	b := newBox(t, "127.88.1.5", document(pbx.Addr(0).String()))
	b.start()
	defer b.stop()
	b.wait("readiness", func() bool { return b.ask("GET", "/readyz", nil, nil) == 200 })
	bad := strings.Replace(document(pbx.Addr(0).String()), "site: dallas", "site: nowhere", 1)
	if code := b.ask("POST", "/v1/config?author=test", strings.NewReader(bad), nil); code < 400 || code >= 500 {
		t.Errorf("a bad document was answered %d", code)
	}
	var doc admin.Document
	b.ask("GET", "/v1/config", nil, &doc)
	if doc.Revision != 1 || strings.Contains(doc.Text, "nowhere") {
		t.Errorf("revision %d", doc.Revision)
	}
}
