package rig

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Gate stands between a client and one node, where a test can break things at the exact
// moment of a change.
type Gate struct {
	Endpoint string

	mu      sync.Mutex
	Changes int // that came
	on      func(pass func() (status int, body []byte)) bool
}

// Gate opens a gate before a node.
func (n *Node) Gate(t *testing.T) *Gate {
	t.Helper()
	g := &Gate{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { g.serve(n, w, req) }))
	t.Cleanup(server.Close)
	g.Endpoint = strings.TrimPrefix(server.URL, "http://")
	return g
}

// OnChange has f called in the place of the next change. pass hands it to the node; the
// client hears nothing and loses its connection when f says false.
func (g *Gate) OnChange(f func(pass func() (status int, body []byte)) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.on = f
}

func (g *Gate) serve(n *Node, w http.ResponseWriter, req *http.Request) {
	pass := sync.OnceValues(func() (int, []byte) {
		resp, err := n.Do(req)
		if err != nil {
			return 0, nil
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return 0, nil
		}
		return resp.StatusCode, body
	})
	var f func(func() (int, []byte)) bool
	if req.Method == http.MethodPost && req.URL.Path == "/v1/config" && req.URL.Query().Get("dry_run") == "" {
		g.mu.Lock()
		f, g.on = g.on, nil
		g.Changes++
		g.mu.Unlock()
	}
	if f != nil && !f(pass) {
		panic(http.ErrAbortHandler)
	}
	status, body := pass()
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
