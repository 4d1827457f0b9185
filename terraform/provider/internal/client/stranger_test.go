package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/client"
)

// What answers at a node's address and is none, or says the half of it, is passed over: never
// is a document without its text, or a cluster without one, taken to be there. It gets the
// token once and cannot send it on to others.
func TestStrangers(t *testing.T) {
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent on") }))
	t.Cleanup(thief.Close)
	say := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for what, stranger := range map[string]http.HandlerFunc{
		"html":         say(200, "<html>It works</html>"),
		"nothing":      say(200, ""),
		"null":         say(200, "null"),
		"list":         say(200, "[]"),
		"empty":        say(200, "{}"),
		"no text":      say(200, `{"cluster":"c","generation":1,"revision":7}`),
		"another type": say(200, `{"cluster":"c","generation":1,"revision":"new","text":"x"}`),
		"busy":         say(503, "<html>busy</html>"),
		"too many":     say(429, ""),
		"gateway":      say(502, `{"title":`),
		"cut in the midst": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "900")
			say(200, `{"revision":9,`)(w, nil)
		},
		"aborted": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := &fake{revision: 1, text: first, keys: map[string]uint64{}}
			wrong := httptest.NewServer(stranger)
			t.Cleanup(wrong.Close)
			right := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { f.serve(0, w, req) }))
			t.Cleanup(right.Close)
			cfg := client.Config{Patience: 3 * time.Second, Endpoints: []string{wrong.Listener.Addr().String(), right.Listener.Addr().String()}}
			c, err := client.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if d, err := c.Document(t.Context()); err != nil || d.Text != first || d.Revision != 1 {
				t.Errorf("%v, %+v", err, d)
			}
			if err := c.Commit(t.Context(), set("note", "x")); err != nil || f.revision != 2 {
				t.Errorf("%v, revision %d", err, f.revision)
			}
			cfg.Endpoints, cfg.Patience = cfg.Endpoints[:1], 200*time.Millisecond
			if c, err = client.New(cfg); err != nil {
				t.Fatal(err)
			}
			if err := c.Commit(t.Context(), set("note", "x")); err == nil {
				t.Error("a stranger took the change")
			}
		})
	}
}

// A certificate that is not believed is so in a minute too: that is told at once, when no other
// node can be waited for.
func TestUnprovenAtOnce(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	c, err := client.New(client.Config{Endpoints: []string{s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if _, err := c.Document(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") || time.Since(begin) > 20*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// What is wrong with the settings is told before anybody is asked, without the token.
func TestWrongSettings(t *testing.T) {
	for what, cfg := range map[string]client.Config{
		"more than one word":     {Endpoints: []string{"127.0.0.1:1"}, Token: "s3cret\nline"},
		"none of endpoints":      {Endpoints: []string{"https://a:1"}, ServerNames: map[string]string{"https://b:1": "x"}},
		"write it as https://ho": {Endpoints: []string{"https://user:s3cret@a:1"}},
		"without a path":         {Endpoints: []string{"https://a:1/?x"}},
	} {
		if _, err := client.New(cfg); err == nil || !strings.Contains(err.Error(), what) || strings.Contains(cfg.Token, "s3cret") && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := client.New(client.Config{Endpoints: []string{"127.0.0.1:1"}, Token: "one-line\n"}); err != nil {
		t.Error(err)
	}
}
