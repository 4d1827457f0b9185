package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a backend whose parts the test gives.
type fake struct {
	live, ready []Check
	nodes       func() (NodeList, error)
	members     func() (MemberList, error)
	setState    func(group, member string, o Order) (Knob, error)
	document    func() (Document, error)
	apply       func(Change) (Applied, error)
	calls       func(limit int) (CallList, error)
	explain     func(Question) (Explanation, error)
}

func (f *fake) Live() []Check                                    { return f.live }
func (f *fake) Ready() []Check                                   { return f.ready }
func (f *fake) Nodes(context.Context) (NodeList, error)          { return f.nodes() }
func (f *fake) Members(context.Context) (MemberList, error)      { return f.members() }
func (f *fake) Document(context.Context) (Document, error)       { return f.document() }
func (f *fake) Calls(_ context.Context, n int) (CallList, error) { return f.calls(n) }

func (f *fake) SetStates(context.Context, BulkOrder) (BulkResult, error) { return BulkResult{}, nil }

func (f *fake) SetState(_ context.Context, group, member string, o Order) (Knob, error) {
	return f.setState(group, member, o)
}
func (f *fake) Apply(_ context.Context, c Change) (Applied, error) { return f.apply(c) }

func (f *fake) Explain(_ context.Context, q Question) (trunkgroup.Explanation, error) {
	return f.explain(q)
}

func (f *fake) backend() Backend {
	return Backend{
		Health: f, Nodes: f, Members: f, Config: f, Calls: f, Explain: f,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "tandem_ready 1") }),
	}
}

// client asks a server that runs for the test.
type client struct {
	t     *testing.T
	s     *Server
	http  *http.Client
	base  string
	token string
}

func serve(t *testing.T, edit func(*Settings)) *client {
	t.Helper()
	cfg := Settings{Network: "tcp", Address: "127.0.0.1:0", Version: "1.2.3"}
	edit(&cfg)
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	tr := &http.Transport{DisableKeepAlives: true}
	c := &client{t: t, s: s, http: &http.Client{Transport: tr, Timeout: 10 * time.Second}, base: "http://" + s.Addr().String()}
	if cfg.Network == "unix" {
		c.base = "http://tandem"
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", cfg.Address)
		}
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// do sends a request and returns status, header and body.
func (c *client) do(method, path, body string, header ...string) (int, http.Header, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	res, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

func TestProbes(t *testing.T) {
	f := &fake{live: []Check{{Name: "process"}}, ready: []Check{{Name: "sip"}, {Name: "leader", Level: Degraded, Detail: "none known"}}}
	c := serve(t, func(s *Settings) {
		s.Backend, s.Token = f.backend(), "secret"
		s.Probes = netip.MustParseAddrPort("127.0.0.1:0")
	})
	for _, base := range []string{c.base, "http://" + c.s.ProbesAddr().String()} {
		c.base = base
		for _, x := range []struct {
			path, body string
			status     int
		}{
			{"/livez", "ok\n", 200},
			{"/livez?verbose", "[+]process\nok\n", 200},
			{"/readyz", "degraded\n", 200}, // a follower without a leader stays ready
			{"/readyz?verbose=1", "[+]sip\n[!]leader: none known\ndegraded\n", 200},
			{"/healthz", "degraded\n", 200},
			{"/metrics", "tandem_ready 1\n", 200},
		} {
			if status, _, body := c.do("GET", x.path, ""); status != x.status || body != x.body {
				t.Errorf("%s: %d %q", x.path, status, body)
			}
		}
	}
	if status, _, _ := c.do("GET", "/v1/nodes", ""); status != 404 {
		t.Errorf("the probes' address answers the API with %d", status)
	}
	f.ready = append(f.ready, Check{Name: "draining", Level: Broken})
	if status, _, body := c.do("GET", "/readyz", ""); status != 503 || body != "[+]sip\n[!]leader: none known\n[-]draining\nnot ok\n" {
		t.Errorf("%d %q", status, body)
	}
}

func TestReads(t *testing.T) {
	since := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var asked Question
	f := &fake{
		nodes: func() (NodeList, error) {
			return NodeList{Leader: "dal-1", Nodes: []Node{{Name: "dal-1", Up: true}}}, nil
		},
		members: func() (MemberList, error) {
			return MemberList{Members: []Member{{Group: "g", ID: "m", Since: &since}}}, nil
		},
		document: func() (Document, error) {
			return Document{Revision: 7, Text: "cluster: test\n"}, nil
		},
		calls: func(limit int) (CallList, error) { return CallList{Active: limit}, nil },
		explain: func(q Question) (Explanation, error) {
			asked = q
			return Explanation{Direction: "inbound"}, nil
		},
	}
	c := serve(t, func(s *Settings) {
		s.Network, s.Address = "unix", filepath.Join(t.TempDir(), "admin.sock")
		s.Backend = f.backend()
	})
	for path, want := range map[string]string{
		"/v1/nodes":         `"leader":"dal-1"`,
		"/v1/members":       `"since":"2026-11-30T12:00:00Z"`,
		"/v1/config":        `"text":"cluster: test\n"`,
		"/v1/calls":         `"active":100`,
		"/v1/calls?limit=0": `"active":0`,
		"/v1/explain?called=%2B12145550100&source=192.0.2.1:5060&transport=tls": `"direction":"inbound"`,
	} {
		status, header, body := c.do("GET", path, "")
		if status != 200 || !strings.Contains(body, want) || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if want := (Question{Source: "192.0.2.1:5060", Transport: "tls", Called: "+12145550100"}); !reflect.DeepEqual(asked, want) {
		t.Errorf("asked %+v", asked)
	}
	if _, header, _ := c.do("GET", "/v1/config", ""); header.Get("ETag") != `"7"` {
		t.Errorf("ETag %q", header.Get("ETag"))
	}
	for path, status := range map[string]int{"/v1/explain": 422, "/v1/calls?limit=-1": 422, "/v1/explain?called=1&transport=sctp": 422, "/v1/nothing": 404, "/docs": 404} {
		if got, _, body := c.do("GET", path, ""); got != status {
			t.Errorf("%s: %d %s", path, got, body)
		}
	}
}

func TestSetState(t *testing.T) {
	f := &fake{setState: func(group, member string, o Order) (Knob, error) {
		if member != "pbx-1" {
			return Knob{}, fmt.Errorf("member %s/%s: %w", group, member, ErrNotFound)
		}
		return Knob{State: o.State, Author: o.Author, Reason: o.Reason}, nil
	}}
	var log bytes.Buffer
	c := serve(t, func(s *Settings) {
		s.Backend = f.backend()
		s.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	})
	status, _, body := c.do("POST", "/v1/members/acme/pbx-1/state", `{"state":"disabled","author":"ann","reason":"card"}`, "Content-Type", "application/json")
	if status != 200 || !strings.Contains(body, `"state":"disabled","author":"ann","reason":"card"`) {
		t.Errorf("%d %s", status, body)
	}
	if !strings.Contains(log.String(), `"author":"ann","member":"acme/pbx-1","state":"disabled"`) {
		t.Errorf("the change is not in the log: %s", log.String())
	}
	for path, x := range map[string]struct {
		body   string
		status int
	}{
		"/v1/members/acme/pbx-9/state": {`{"state":"active"}`, 404},
		"/v1/members/acme/pbx-1/state": {`{"state":"sleeping"}`, 422},
	} {
		status, header, body := c.do("POST", path, x.body, "Content-Type", "application/json")
		if status != x.status || header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s %s", path, status, header.Get("Content-Type"), body)
		}
	}
	if status, _, _ := c.do("POST", "/v1/members/acme/pbx-1/state", `{"state":"active","author":"`+strings.Repeat("x", smallBody)+`"}`, "Content-Type", "application/json"); status != 413 {
		t.Errorf("a huge body: %d", status)
	}
}

func TestApply(t *testing.T) {
	var got Change
	result := error(nil)
	f := &fake{apply: func(c Change) (Applied, error) {
		got = c
		return Applied{Cluster: "test", Revision: 8}, result
	}}
	c := serve(t, func(s *Settings) { s.Backend, s.MaxDocument = f.backend(), 1<<20 })
	document := "cluster: test # \xc3\xa4\n" + strings.Repeat("# x\n", 10000)
	status, _, body := c.do("POST", "/v1/config?author=ann&reason=new+carrier&expect_revision=7&dry_run=true", document,
		"Content-Type", "application/yaml", "Idempotency-Key", "k1")
	if status != 200 || !strings.Contains(body, `"revision":8`) {
		t.Errorf("%d %s", status, body)
	}
	if string(got.Text) != document || got.Author != "ann" || got.Reason != "new carrier" || got.Expect == nil || *got.Expect != 7 || got.Key != "k1" || !got.DryRun {
		t.Errorf("%+v", got)
	}
	for _, x := range []struct {
		name   string
		query  string
		header string
		err    error
		status int
		want   string
	}{
		{"If-Match", "", `"9"`, nil, 200, `"revision":8`},
		{"not a revision", "?expect_revision=x", "", nil, 422, `expect_revision`},
		{"a tag of another server", "", `"abc"`, nil, 422, `If-Match`},
		{
			"faults", "", "",
			fmt.Errorf("compile: %w", trunkgroup.Faults{{Path: "sites[0].name", Line: 3, Column: 5, Problem: "is empty", Remedy: "name it"}}),
			422, `"faults":[{"path":"sites[0].name","line":3,"column":5,"problem":"is empty","remedy":"name it"}]`,
		},
		{"conflict", "", "", &ConflictError{Expected: 7, Current: 9}, 409, `"revision":9`},
		{"refused", "", "", fmt.Errorf("another cluster's document: %w", ErrRefused), 409, `another cluster`},
		{"no leader", "", "", fmt.Errorf("no leader: %w", ErrUnavailable), 503, `"hint":"calls go on`},
		{"too slow", "", "", context.DeadlineExceeded, 504, `"hint"`},
		{"a secret in an unforeseen error", "", "", errors.New("key 0xdeadbeef"), 500, `the node's log says more`},
	} {
		result = x.err
		header := []string{"Content-Type", "application/yaml"}
		if x.header != "" {
			header = append(header, "If-Match", x.header)
		}
		status, h, body := c.do("POST", "/v1/config"+x.query, "cluster: test\n", header...)
		if status != x.status || !strings.Contains(body, x.want) || strings.Contains(body, "deadbeef") {
			t.Errorf("%s: %d %s", x.name, status, body)
		}
		if x.header == `"9"` && (got.Expect == nil || *got.Expect != 9) {
			t.Errorf("%s: expects %v", x.name, got.Expect)
		}
		if status >= 400 && h.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: type %s", x.name, h.Get("Content-Type"))
		}
	}
	if status, _, _ := c.do("POST", "/v1/config", strings.Repeat("#", 1<<20+1), "Content-Type", "application/yaml"); status != 413 {
		t.Errorf("a huge document: %d", status)
	}
}

func TestToken(t *testing.T) {
	f := &fake{nodes: func() (NodeList, error) { return NodeList{}, nil }}
	c := serve(t, func(s *Settings) { s.Backend, s.Token = f.backend(), "secret" })
	for _, x := range []struct {
		token  string
		status int
	}{{"", 401}, {"wrong", 401}, {"secretx", 401}, {"secret", 200}} {
		c.token = x.token
		for _, path := range []string{"/v1/nodes", "/openapi.json"} {
			if status, h, _ := c.do("GET", path, ""); status != x.status || status == 401 && h.Get("WWW-Authenticate") == "" {
				t.Errorf("%s with token %q: %d", path, x.token, status)
			}
		}
	}
	if status, _, _ := c.do("GET", "/v1/nodes", "", "Authorization", "Basic c2VjcmV0"); status != 401 {
		t.Errorf("another scheme: %d", status)
	}
}

// Without a token the API on loopback cannot be reached through a browser: neither by a foreign page nor by a name that resolves to loopback.
func TestBrowsersAreKeptOut(t *testing.T) {
	f := &fake{
		nodes: func() (NodeList, error) { return NodeList{}, nil },
		apply: func(Change) (Applied, error) { return Applied{}, nil },
	}
	c := serve(t, func(s *Settings) { s.Backend = f.backend() })
	for _, x := range []struct {
		method, path, header, value string
		status                      int
	}{
		{"GET", "/v1/nodes", "Host", "evil.example:8080", 403},
		{"GET", "/v1/nodes", "Host", "localhost:8080", 200},
		{"GET", "/v1/nodes", "Host", "[::1]:8080", 200},
		{"GET", "/livez", "Host", "lb.example", 200},
		{"POST", "/v1/config", "Sec-Fetch-Site", "cross-site", 403},
		{"POST", "/v1/config", "Origin", "https://evil.example", 403},
		{"POST", "/v1/config", "Sec-Fetch-Site", "none", 200},
	} {
		if status, _, body := c.do(x.method, x.path, "x", x.header, x.value, "Content-Type", "application/yaml"); status != x.status {
			t.Errorf("%s %s with %s %s: %d %s", x.method, x.path, x.header, x.value, status, body)
		}
	}
}

// The API describes itself, with every route, and a witness has no routes of what it lacks.
func TestOpenAPI(t *testing.T) {
	for _, witness := range []bool{false, true} {
		f := &fake{}
		c := serve(t, func(s *Settings) {
			s.Backend = f.backend()
			if witness {
				s.Backend.Members, s.Backend.Calls, s.Backend.Explain = nil, nil, nil
			}
		})
		_, _, body := c.do("GET", "/openapi.json", "")
		var doc struct {
			OpenAPI string
			Info    struct{ Version string }
			Paths   map[string]map[string]any
		}
		if err := json.Unmarshal([]byte(body), &doc); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(doc.OpenAPI, "3.1") || doc.Info.Version != "1.2.3" {
			t.Errorf("%s, version %s", doc.OpenAPI, doc.Info.Version)
		}
		var routes []string
		for path, ops := range doc.Paths {
			for op := range ops {
				routes = append(routes, strings.ToUpper(op)+" "+path)
			}
		}
		slices.Sort(routes)
		want := []string{
			"GET /v1/calls", "GET /v1/config", "GET /v1/explain", "GET /v1/members", "GET /v1/nodes", "POST /v1/config", "POST /v1/explain",
			"POST /v1/members/{group}/{member}/state", "POST /v1/orders/state",
		}
		if witness {
			want = []string{"GET /v1/config", "GET /v1/nodes", "POST /v1/config"}
			for _, path := range []string{"/v1/members", "/v1/calls", "/v1/explain?called=1"} {
				if status, _, body := c.do("GET", path, ""); status != 404 || !strings.Contains(body, "is a witness") {
					t.Errorf("%s of a witness: %d %s", path, status, body)
				}
			}
		}
		if !slices.Equal(routes, want) {
			t.Errorf("routes %q", routes)
		}
	}
}

func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	for name, cfg := range map[string]Settings{
		"not loopback without a token": {Network: "tcp", Address: "0.0.0.0:0"},
		"a name":                       {Network: "tcp", Address: "localhost:80"},
		"no network":                   {Address: "127.0.0.1:0"},
		"no directory":                 {Network: "unix", Address: filepath.Join(path, "x")},
		"probes":                       {Network: "tcp", Address: "127.0.0.1:0", Probes: netip.MustParseAddrPort("192.0.2.1:1")},
	} {
		if s, err := New(cfg); err == nil {
			t.Errorf("%s: listens at %v", name, s.Addr())
		}
	}
	first, err := New(Settings{Network: "unix", Address: path})
	if err != nil {
		t.Fatal(err)
	}
	first.Start()
	if _, err := New(Settings{Network: "unix", Address: path}); err == nil {
		t.Error("a living socket is taken over")
	}
	// A process that died leaves its file behind.
	if err := first.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	again, err := New(Settings{Network: "unix", Address: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
