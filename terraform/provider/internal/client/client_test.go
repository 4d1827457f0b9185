package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/client"
	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// fake is a cluster of nodes that share one document, as the admin API shows it.
type fake struct {
	mu       sync.Mutex
	revision uint64
	text     string
	reasons  []string
	keys     map[string]uint64
	before   func(node int, change bool) (drop bool, status int) // what goes wrong
	after    func(node int) (drop bool)
}

const first = "cluster: c\ntrunk_groups:\n  - name: a\n    limits: {calls: 1}\n"

func (f *fake) serve(node int, w http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change := req.Method == http.MethodPost
	if f.before != nil {
		if drop, status := f.before(node, change); drop {
			panic(http.ErrAbortHandler)
		} else if status != 0 {
			f.say(w, status, map[string]any{"title": http.StatusText(status), "status": status, "detail": "no leader"})
			return
		}
	}
	if !change {
		f.say(w, 200, map[string]any{"generation": 1, "revision": f.revision, "text": f.text, "author": "ada", "reason": "by hand"})
		return
	}
	body, _ := io.ReadAll(req.Body)
	q := req.URL.Query()
	made, done := f.keys[req.Header.Get("Idempotency-Key")]
	switch {
	case done:
	case q.Get("expect_revision") != fmt.Sprint(f.revision):
		f.say(w, 409, map[string]any{"title": "Conflict", "status": 409, "detail": "moved on", "revision": f.revision})
		return
	case strings.Contains(string(body), "bad"):
		f.say(w, 422, map[string]any{"title": "Unprocessable Entity", "status": 422, "faults": []any{map[string]any{"path": "trunk_groups[0]", "problem": "is bad", "remedy": "make it good"}}})
		return
	default:
		f.revision++
		made, f.text = f.revision, string(body)
		f.reasons = append(f.reasons, q.Get("reason"))
		f.keys[req.Header.Get("Idempotency-Key")] = made
	}
	if f.after != nil && f.after(node) {
		panic(http.ErrAbortHandler)
	}
	f.say(w, 200, map[string]any{"generation": 1, "revision": made})
}

func (f *fake) say(w http.ResponseWriter, status int, what any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what)
}

// cluster starts nodes and a client of them.
func (f *fake) cluster(t *testing.T, nodes int) *client.Client {
	t.Helper()
	f.revision, f.text, f.keys = 1, first, map[string]uint64{}
	cfg := client.Config{Patience: 3 * time.Second}
	for i := range nodes {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { f.serve(i, w, req) }))
		t.Cleanup(s.Close)
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Endpoints = append(cfg.Endpoints, u.Host)
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// set is an edit that gives a key of the first group a value.
func set(key, value string) client.Edit {
	return client.Edit{What: "set " + key, Make: func(d *document.Document) error {
		return d.Set(document.Path{"trunk_groups", 0}, key, document.Text(value))
	}}
}

// A node that is gone, or has no leader, is passed over.
func TestNextEndpoint(t *testing.T) {
	f := &fake{before: func(node int, _ bool) (bool, int) {
		switch node {
		case 0:
			return true, 0
		case 1:
			return false, http.StatusServiceUnavailable
		}
		return false, 0
	}}
	if err := f.cluster(t, 3).Commit(t.Context(), set("note", "x")); err != nil || !strings.Contains(f.text, "note: x") {
		t.Errorf("%v\n%s", err, f.text)
	}
}

// A change that was made although the node died before it said so is made once.
func TestMadeOnce(t *testing.T) {
	f := &fake{}
	died := false
	f.after = func(int) bool {
		was := died
		died = true
		return !was
	}
	if err := f.cluster(t, 2).Commit(t.Context(), set("note", "x")); err != nil || f.revision != 2 {
		t.Errorf("%v, revision %d", err, f.revision)
	}
}

// A change that no node can say anything of is looked for in the document.
func TestReadBack(t *testing.T) {
	f := &fake{}
	f.after = func(int) bool { return true }
	if err := f.cluster(t, 1).Commit(t.Context(), set("note", "x")); err != nil || f.revision != 2 {
		t.Errorf("%v, revision %d", err, f.revision)
	}
	f = &fake{before: func(_ int, change bool) (bool, int) { return change, 0 }}
	if err := f.cluster(t, 1).Commit(t.Context(), set("note", "x")); err == nil || !strings.Contains(err.Error(), "was not made") {
		t.Errorf("%v", err)
	}
}

// A change of somebody else in between is kept, and the edit made anew; it may refuse then.
func TestConflict(t *testing.T) {
	f := &fake{}
	meddle := true
	f.before = func(_ int, change bool) (bool, int) {
		if change && meddle {
			meddle = false
			f.revision, f.text = f.revision+1, f.text+"# of ada\n"
		}
		return false, 0
	}
	c := f.cluster(t, 1)
	if err := c.Commit(t.Context(), set("note", "x")); err != nil || !strings.Contains(f.text, "# of ada") || !strings.Contains(f.text, "note: x") {
		t.Errorf("%v\n%s", err, f.text)
	}
	meddle = true
	errMine := errors.New("mine was changed")
	err := c.Commit(t.Context(), client.Edit{What: "w", Make: func(d *document.Document) error {
		if !meddle {
			return errMine
		}
		return d.Set(document.Path{"trunk_groups", 0}, "note", document.Text("y"))
	}})
	if !errors.Is(err, errMine) || !strings.Contains(err.Error(), "ada") {
		t.Errorf("%v", err)
	}
}

// Changes at one time are one revision; a faulty one fails alone, with its fault.
func TestTogether(t *testing.T) {
	f := &fake{}
	c := f.cluster(t, 1)
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		wg.Go(func() {
			value := "good"
			if i == 3 {
				value = "bad"
			}
			errs[i] = c.Commit(t.Context(), set(fmt.Sprintf("k%d", i), value))
		})
	}
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 3) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if errs[3] == nil || !strings.Contains(errs[3].Error(), "is bad (make it good)") {
		t.Errorf("%v", errs[3])
	}
	if strings.Count(f.text, "good") != 9 || strings.Contains(f.text, "bad") {
		t.Errorf("\n%s", f.text)
	}
	was := f.revision
	for i := range errs {
		wg.Go(func() { errs[i] = c.Commit(t.Context(), set(fmt.Sprintf("m%d", i), "good")) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil || f.revision > was+3 {
		t.Errorf("%v: 10 changes made %d revisions", err, f.revision-was)
	}
	for _, r := range f.reasons {
		if len(r) > 256 {
			t.Errorf("a reason of %d octets", len(r))
		}
	}
}

// A node that lags behind does not show an older document than was seen before.
func TestNeverOlder(t *testing.T) {
	f := &fake{}
	c := f.cluster(t, 1)
	if err := c.Commit(t.Context(), set("note", "x")); err != nil {
		t.Fatal(err)
	}
	reads := 0
	f.before = func(int, bool) (bool, int) {
		if f.revision = 1; reads > 1 {
			f.revision = 2
		}
		reads++
		return false, 0
	}
	if d, err := c.Document(t.Context()); err != nil || d.Revision != 2 || reads < 3 {
		t.Errorf("revision %d after %d reads: %v", d.Revision, reads, err)
	}
}

// Addresses outside of this machine must be https.
func TestEndpoints(t *testing.T) {
	for address, good := range map[string]bool{
		"unix:/run/tandem/admin.sock": true, "127.0.0.1:8080": true, "http://127.0.0.1:8080": true, "https://dal-1.example.net:8443": true, "[::1]:8080": true,
		"192.0.2.1:8080": false, "http://192.0.2.1:8080": false, "unix:": false, "localhost": false, "https://x/v1": false, "": false,
	} {
		if _, err := client.New(client.Config{Endpoints: []string{address}}); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := client.New(client.Config{}); err == nil || !strings.Contains(err.Error(), "TANDEM_ADDR") {
		t.Errorf("no endpoint: %v", err)
	}
}
