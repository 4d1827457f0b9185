package app

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/admin"
)

// fetch reads a page of the listener of the metrics.
func (b *box) fetch(path string) (text, kind string) {
	b.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, "http://"+b.ip+":9060"+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", ""
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	return string(body), resp.Header.Get("Content-Type")
}

// found is what Prometheus learns from a node: the labels of each target.
func (b *box) found() map[string]string {
	b.t.Helper()
	text, _ := b.fetch("/v1/prometheus/sd")
	var list []admin.ScrapeTarget
	if text == "" || json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	out := map[string]string{}
	for _, x := range list {
		l := x.Labels
		out[strings.Join(x.Targets, ",")] = fmt.Sprintf("%s %s/%s %s", l["cluster"], l["site"], l["node"], l["role"])
	}
	return out
}

// Any node tells Prometheus of all nodes: of one that has not told where its metrics are, of one that is down, and of that also
// when the node that is asked has started after its death.
func TestPrometheusFindsAllNodesFromAnyNode(t *testing.T) {
	boxes := newClusterOf(t, "127.88.51", registering(1), 3)
	for i, b := range boxes {
		text, err := os.ReadFile(b.file)
		if err != nil {
			t.Fatal(err)
		}
		if i != 1 {
			b.write("node.yaml", strings.Replace(string(text), "admin: {", fmt.Sprintf("admin: {metrics: \"%s:9060\", ", b.ip), 1))
		}
		b.start()
	}
	defer boxes[0].stop()
	defer boxes[1].stop()
	want := map[string]string{
		"127.88.51.1:9060": "test dallas/n1 sbc", "127.88.51.2:9060": "test dallas/n2 sbc", "127.88.51.3:9060": "test ashburn/n3 sbc",
	}
	all := func(b *box) func() bool { return func() bool { return maps.Equal(b.found(), want) } }
	for _, b := range []*box{boxes[0], boxes[2]} {
		b.wait("all targets", all(b))
		b.wait("the others", func() bool { return b.peersUp() == 2 })
	}
	if _, kind := boxes[0].fetch("/v1/prometheus/sd"); kind != "application/json" {
		t.Errorf("content type %q, which Prometheus refuses", kind)
	}
	boxes[1].wait("the two others, at a node that shows its metrics nowhere", func() bool { // itself cannot be scraped
		var list []admin.ScrapeTarget
		return boxes[1].ask("GET", "/v1/prometheus/sd", nil, &list) == 200 && len(list) == 2
	})
	page := func(line string) func() bool {
		return func() bool {
			text, _ := boxes[0].fetch("/metrics")
			return slices.Contains(strings.Split(text, "\n"), line)
		}
	}
	boxes[0].wait("the other site", page(`tandem_site_up{peer_site="ashburn"} 1`))
	boxes[2].stop()
	boxes[0].wait("the loss of the other site", page(`tandem_site_up{peer_site="ashburn"} 0`))
	if !all(boxes[0])() {
		t.Errorf("after the death of a node: %v", boxes[0].found())
	}
	boxes[0].stop()
	boxes[0].start()
	boxes[0].wait("what was known before", all(boxes[0]))
}

func TestMetricsAddress(t *testing.T) {
	at := netip.MustParseAddrPort
	for want, cfg := range map[string]config.Config{
		"192.0.2.1:9060":     {Admin: config.Admin{Metrics: at("192.0.2.1:9060")}},
		"192.0.2.2:9060":     {Admin: config.Admin{Metrics: at("0.0.0.0:9060")}, Interconnect: config.Endpoint{Advertise: at("192.0.2.2:7950")}},
		"192.0.2.3:8080":     {Admin: config.Admin{Network: "tcp", Address: "192.0.2.3:8080"}},
		"":                   {Admin: config.Admin{Network: "unix", Address: "/run/tandem/admin.sock"}},
		"127.0.0.1:9060":     {Admin: config.Admin{Metrics: at("127.0.0.1:9060")}, Interconnect: config.Endpoint{Advertise: at("127.0.0.9:7950")}},
		"[2001:db8::1]:9060": {Admin: config.Admin{Metrics: at("[::]:9060")}, Interconnect: config.Endpoint{Advertise: at("[2001:db8::1]:7950")}},
	} {
		if got := metricsAddress(&cfg); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An address of loopback means another machine to everybody else.
func TestLoopbackIsNowhereForOtherMachines(t *testing.T) {
	cfg := config.Config{
		Admin:        config.Admin{Network: "tcp", Address: "127.0.0.1:8080"},
		Interconnect: config.Endpoint{Advertise: netip.MustParseAddrPort("192.0.2.2:7950")},
	}
	if got := metricsAddress(&cfg); got != "" {
		t.Errorf("%q", got)
	}
}

// A file of targets that is broken, hostile or of another version costs the memory and nothing else.
func TestFileOfTargets(t *testing.T) {
	good := `{"n1":{"site":"dallas","role":"sbc","address":"192.0.2.1:9060"}}`
	for text, want := range map[string]string{
		good:               "map[n1:{dallas sbc 192.0.2.1:9060}]",
		good[:len(good)/2]: "unexpected end of JSON input",
		"":                 "unexpected end of JSON input",
		"null":             "map[]",
		"[]":               "json: cannot unmarshal array into Go value of type map[string]app.target",
		"{}":               "map[]",
		`{"n1":null}`:      "map[n1:{ sbc }]",
		`{"n1":{"role":"god","address":"http://192.0.2.1/\"><script>"}}`: "map[n1:{ sbc }]",
		`{"n1":{"role":"witness","address":"0.0.0.0:9060"}}`:             "map[n1:{ witness }]",
		`{"n1":{"address":"[fe80::1%eth0]:9060"}}`:                       "map[n1:{ sbc }]",
		`{"n1":{"address":"[::ffff:192.0.2.1]:9060"}}`:                   "map[n1:{ sbc 192.0.2.1:9060}]",
		`{"n1":{"address":"192.0.2.1:0"},"later":{"zone":"b"}}`:          "map[later:{ sbc } n1:{ sbc }]",
		strings.Repeat(" ", maxTargets+1):                                "larger than 4194304 bytes",
	} {
		file := filepath.Join(t.TempDir(), "targets.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		known, err := readTargets(file)
		got := fmt.Sprint(known)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.60q: %s, want %s", text, got, want)
		}
	}
	if known, err := readTargets(filepath.Join(t.TempDir(), "none")); known != nil || err != nil {
		t.Errorf("no file: %v, %v", known, err)
	}
}

// One address is one node: a name that is dead, or an address that was guessed, gives way.
func TestOneNodeAtAnAddress(t *testing.T) {
	at := func(name string, claim int, address string) place {
		return place{name: name, claim: claim, target: target{Address: address}}
	}
	var names []string
	for _, p := range rightful([]place{
		at("old-name", 1, "a:1"), at("new-name", 3, "a:1"),
		at("told", 3, "b:1"), at("guessed", 2, "b:1"),
		at("dead", 1, "c:1"), at("dead-too", 1, "c:1"),
	}) {
		names = append(names, p.name)
	}
	if got := strings.Join(names, " "); got != "new-name told dead dead-too" {
		t.Errorf("got %s", got)
	}
}

// A node starts with a file of targets that holds nothing, learns all the same, and keeps what it has learnt.
func TestEmptyMemoryOfTargets(t *testing.T) {
	boxes := newClusterOf(t, "127.88.52", registering(1), 2)
	for _, b := range boxes {
		if err := os.MkdirAll(filepath.Join(b.dir, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b := boxes[0]
	file := filepath.Join(b.dir, "data", "targets.json")
	if err := os.WriteFile(file, []byte("null"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	b.wait("the other", func() bool {
		known, err := readTargets(file)
		return err == nil && len(known) == 2
	})
}
