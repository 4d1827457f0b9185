package cdrsink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// httpTarget posts batches. The server has a batch when it says so with a 2xx; it knows
// one that comes again by its Idempotency-Key.
type httpTarget struct {
	cfg    *Config
	node   string
	client *http.Client
	body   []byte
}

// lastRetryAfter is for how long a server may be left alone at its own wish.
const lastRetryAfter = 5 * time.Minute

const pingAfter = 15 * time.Second

func newHTTPTarget(cfg *Config, node string) *httpTarget {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = cfg.TLS.Clone()
	t.MaxIdleConnsPerHost = 1
	// A connection of HTTP/2 that the network has lost is found out by a ping.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter}
	return &httpTarget{cfg: cfg, node: node, client: &http.Client{
		Transport: t,
		// A POST that is redirected becomes a GET: the records would be gone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// shownURL is an address as people see it: without what stands behind the path.
func shownURL(address string) string {
	head, _, found := strings.Cut(address, "?")
	if found {
		head += "?..."
	}
	return head
}

func (t *httpTarget) send(ctx context.Context, b *batch) error {
	kind := t.encode(b)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.cfg.URL, bytes.NewReader(t.body))
	if err != nil {
		return errors.New("http: the address cannot be asked")
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "Tandem")
	req.Header.Set("Idempotency-Key", t.key(b))
	if t.cfg.Authorization != "" {
		req.Header.Set("Authorization", t.cfg.Authorization)
	}
	resp, err := t.client.Do(req)
	if err != nil {
		// What net/http says repeats the address, and behind its path may be a key.
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return fmt.Errorf("http: %w", err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if resp.StatusCode/100 == 2 {
		return nil
	}
	return status(resp, text)
}

// encode makes the body and returns its media type.
func (t *httpTarget) encode(b *batch) string {
	switch t.cfg.Format {
	case CSV:
		t.body = t.body[:0]
		if t.cfg.Profile.Header {
			t.body = t.cfg.Profile.AppendHeader(t.body)
		}
		t.body = append(t.body, b.text...)
		return "text/csv; charset=utf-8"
	case JSONArray:
		t.body = array(t.body[:0], b.text)
		return "application/json"
	}
	t.body = append(t.body[:0], b.text...)
	return "application/x-ndjson"
}

// key is the same for the same batch, and for no other one: a spool that was taken away
// begins with the same numbers again.
func (t *httpTarget) key(b *batch) string {
	sum := sha256.Sum256(t.body)
	return t.node + "/" + t.cfg.Name + "/" + strconv.FormatUint(b.first, 10) + "-" + strconv.FormatUint(b.last, 10) + "/" + hex.EncodeToString(sum[:8])
}

// status is the error of a final that is no success.
func status(resp *http.Response, text []byte) error {
	what := fmt.Errorf("http: the server answers %s", resp.Status)
	if line := firstLine(text); line != "" {
		what = fmt.Errorf("%w: %s", what, line)
	}
	if resp.StatusCode == http.StatusRequestEntityTooLarge {
		return fmt.Errorf("%w: %w", errTooMuch, what)
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		return &refusal{what, min(time.Duration(min(seconds, 3600))*time.Second, lastRetryAfter)}
	}
	return what
}

// firstLine is what a server said, cut to what fits into a log line and an alarm.
func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	line = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, line)
	if runes := []rune(line); len(runes) > 120 {
		line = string(runes[:120])
	}
	return line
}

func (t *httpTarget) close() { t.client.CloseIdleConnections() }
