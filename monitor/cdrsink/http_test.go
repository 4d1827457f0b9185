package cdrsink

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr/profile"
)

// server takes records as a billing system would: a batch that it knows is not taken again.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	do    http.HandlerFunc // instead of taking it
	keys  []string
	kinds []string
	auth  string
	got   []byte
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.do != nil {
		s.do(w, r)
		return
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if !slices.Contains(s.keys, key) {
		s.got = append(s.got, b...)
	}
	s.keys, s.kinds, s.auth = append(s.keys, key), append(s.kinds, r.Header.Get("Content-Type")), r.Header.Get("Authorization")
}

func (s *server) answer(do http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do = do
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func httpConfig(url string) Config {
	cfg := sinkConfig("billing", HTTP)
	cfg.URL, cfg.Authorization = url, "Bearer secret"
	return cfg
}

func TestHTTPForms(t *testing.T) {
	for _, c := range []struct {
		format     Format
		kind, want string
	}{
		{JSONLines, "application/x-ndjson", "{\"a\":1}\n{\"a\":2}\n"},
		{JSONArray, "application/json", `[{"a":1},{"a":2}]`},
		{CSV, "text/csv; charset=utf-8", string(profile.Named(profile.Tandem).AppendHeader(nil)) + "{\"a\":1}\n{\"a\":2}\n"},
	} {
		s := newServer(t)
		cfg := httpConfig(s.URL)
		cfg.Format = c.format
		target := newHTTPTarget(&cfg, "dal-1")
		b := &batch{first: 7, last: 8, count: 2, text: []byte("{\"a\":1}\n{\"a\":2}\n")}
		for range 2 {
			if err := target.send(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		target.close()
		if string(s.got) != c.want || s.kinds[0] != c.kind || s.auth != "Bearer secret" {
			t.Errorf("%s: %q as %s, %q", c.format, s.got, s.kinds[0], s.auth)
		}
		if s.keys[0] != s.keys[1] || !strings.HasPrefix(s.keys[0], "dal-1/billing/7-8/") {
			t.Errorf("keys %q", s.keys)
		}
	}
}

// What a server answers decides what happens next, and nothing is taken for done that is not.
func TestHTTPRefusals(t *testing.T) {
	s := newServer(t)
	cfg := httpConfig(s.URL)
	target := newHTTPTarget(&cfg, "dal-1")
	defer target.close()
	send := func(do http.HandlerFunc) error {
		t.Helper()
		s.answer(do)
		return target.send(t.Context(), lines(t, 0, 2))
	}
	for code, text := range map[int]string{500: "boom\x1b[31m\nmore", 503: "", 400: strings.Repeat("x", 9000), 401: "who?", 301: "", 302: "", 304: ""} {
		err := send(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", s.URL+"/elsewhere")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text)
		})
		if err == nil || !strings.Contains(err.Error(), http.StatusText(code)) || len(err.Error()) > 250 || strings.ContainsAny(err.Error(), "\x1b\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d: %v", code, err)
		}
	}
	if err := send(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }); !errors.Is(err, errTooMuch) {
		t.Error(err)
	}
	for header, want := range map[string]time.Duration{"30": 30 * time.Second, "99999999": lastRetryAfter} {
		err := send(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if r, ok := errors.AsType[*refusal](err); !ok || r.after != want {
			t.Errorf("Retry-After %s: %v", header, err)
		}
	}
	if err := send(nil); err != nil {
		t.Error(err)
	}
}

// A server that takes the request and says nothing holds the sink for its timeout, no longer.
func TestHTTPTimeout(t *testing.T) {
	s := newServer(t)
	cfg := httpConfig(s.URL)
	target := newHTTPTarget(&cfg, "dal-1")
	defer target.close()
	s.answer(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := target.send(ctx, lines(t, 0, 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// What stands behind the path of an address may be a key: neither errors nor the status
// show it.
func TestHTTPAddressesAreShownWithoutKeys(t *testing.T) {
	s := newServer(t)
	cfg := httpConfig(s.URL + "/cdrs?key=hush")
	s.Close()
	target := newHTTPTarget(&cfg, "dal-1")
	defer target.close()
	if err := target.send(t.Context(), lines(t, 0, 1)); err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
	dir := t.TempDir()
	l := spool(t, dir, nil)
	set := open(t, l, dir, cfg)
	if got := set.Status()[0].Target; got != s.URL+"/cdrs?..." {
		t.Error(got)
	}
	set.Start()
	stopAll(t, set, l)
}

func TestHTTPOverTLS(t *testing.T) {
	s := &server{}
	s.Server = httptest.NewTLSServer(s)
	defer s.Close()
	cfg := httpConfig(s.URL)
	stranger := newHTTPTarget(&cfg, "dal-1")
	defer stranger.close()
	if err := stranger.send(t.Context(), lines(t, 0, 1)); err == nil {
		t.Error("a server that nobody vouches for got records")
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	cfg.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	target := newHTTPTarget(&cfg, "dal-1")
	defer target.close()
	if err := target.send(t.Context(), lines(t, 0, 1)); err != nil {
		t.Error(err)
	}
}

// Through the whole sink: a server that fails, comes back, and forgets to answer once has
// each record once.
func TestDEC24_HTTPOnceByItsKey(t *testing.T) {
	s := newServer(t)
	dir := t.TempDir()
	l := spool(t, dir, nil)
	set := open(t, l, dir, httpConfig(s.URL))
	n := 0
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		s.do = nil // it takes the batch, and its answer is lost
		b, _ := io.ReadAll(r.Body)
		s.got, s.keys = append(s.got, b...), append(s.keys, r.Header.Get("Idempotency-Key"))
		panic(http.ErrAbortHandler)
	})
	write(t, l, 0, 120)
	settled(t, l)
	set.Start()
	until(t, "all are passed on", func() bool { return set.Status()[0].Backlog == 0 })
	stopAll(t, set, l)
	if got := ids(t, s.got); !slices.Equal(got, calls(0, 120)) {
		t.Errorf("%d records", len(got))
	}
	var first struct {
		Seq uint64 `json:"seq"`
	}
	if err := json.Unmarshal(s.got[:bytes.IndexByte(s.got, '\n')], &first); err != nil || first.Seq != 1 {
		t.Errorf("%+v, %v", first, err)
	}
}
