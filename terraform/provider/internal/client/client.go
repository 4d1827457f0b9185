package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config says which cluster, and who asks.
type Config struct {
	// Endpoints are admin addresses of nodes, tried in turn: unix:/path, 127.0.0.1:port, https://host:port.
	Endpoints []string
	// Token is what admin.token_file of the nodes holds; empty for none.
	Token string
	// CA, Cert, Key are PEM files for https endpoints; empty for the system's authorities and no certificate.
	CA, Cert, Key string
	// ServerName is the name in the nodes' certificates. Default the host of the endpoint.
	ServerName string
	// ServerNames has the names of nodes whose certificates bear their own, by endpoint; ServerName is for the rest.
	ServerNames map[string]string
	// Author stands in the history of the document. Default terraform.
	Author string
	// Patience is how long a change or a question is tried again. Default a minute.
	Patience time.Duration
}

// requestTimeout bounds one request to one node. Nodes themselves give up on a change after 15 seconds.
const requestTimeout = 20 * time.Second

// maxAnswer bounds what is read of an answer.
const maxAnswer = 128 << 20

// Client speaks with one cluster.
type Client struct {
	cfg       Config
	endpoints []endpoint

	mu      sync.Mutex
	next    int     // the endpoint that answered last
	seen    Version // the newest document that was seen: an older one is of a node that lags behind
	waiting []*change
	busy    bool
}

type endpoint struct {
	name string
	base string
	http *http.Client
}

// New reads the files that cfg names. Nothing is asked yet.
func New(cfg Config) (*Client, error) {
	if len(cfg.Endpoints) == 0 {
		return nil, errors.New("no endpoint: name the admin address of a node, such as unix:/run/tandem/admin.sock or 127.0.0.1:8080, in endpoints or TANDEM_ADDR")
	}
	if cfg.Author == "" {
		cfg.Author = "terraform"
	}
	if cfg.Patience <= 0 {
		cfg.Patience = time.Minute
	}
	cfg.Token = strings.TrimSpace(cfg.Token)
	if strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token has more than one word: it is one line of letters, digits and signs, as in admin.token_file of the nodes")
	}
	for name := range cfg.ServerNames {
		if !slices.Contains(cfg.Endpoints, name) {
			return nil, fmt.Errorf("server_names has %q, which is none of endpoints: write it as it stands there", name)
		}
	}
	c := &Client{cfg: cfg}
	for _, address := range cfg.Endpoints {
		e, err := newEndpoint(cfg, address)
		if err != nil {
			return nil, fmt.Errorf("endpoint %q: %w", address, err)
		}
		c.endpoints = append(c.endpoints, e)
	}
	return c, nil
}

func newEndpoint(cfg Config, address string) (endpoint, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second}
	dial := &net.Dialer{Timeout: 5 * time.Second}
	transport.DialContext = dial.DialContext
	e := endpoint{name: address, http: &http.Client{Transport: transport, Timeout: requestTimeout}}
	// Nodes send nobody elsewhere: who does so shall not have the token.
	e.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		if path == "" {
			return e, errors.New("the path of the socket is missing: write unix:/run/tandem/admin.sock")
		}
		e.base = "http://node"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial.DialContext(ctx, "unix", path) }
		return e, nil
	}
	if strings.HasPrefix(address, "https://") {
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
			return e, errors.New("write it as https://host:port, without a path")
		}
		e.base = "https://" + u.Host
		if name := cfg.ServerNames[address]; name != "" {
			cfg.ServerName = name
		}
		transport.TLSClientConfig, err = tlsConfig(cfg)
		return e, err
	}
	at, err := netip.ParseAddrPort(strings.TrimPrefix(address, "http://"))
	switch {
	case err != nil:
		return e, errors.New("write it as unix:/path, 127.0.0.1:port or https://host:port")
	case !at.Addr().IsLoopback():
		return e, errors.New("outside of this machine only https:// is spoken: name admin.remote of the node")
	}
	e.base = "http://" + at.String()
	return e, nil
}

func tlsConfig(cfg Config) (*tls.Config, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: cfg.ServerName}
	if cfg.CA != "" {
		text, err := os.ReadFile(cfg.CA)
		if err != nil {
			return nil, fmt.Errorf("authorities: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("authorities: %s holds no certificate in PEM form", cfg.CA)
		}
	}
	if cfg.Cert != "" || cfg.Key != "" {
		pair, err := tls.LoadX509KeyPair(cfg.Cert, cfg.Key)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

// request is one question to any node.
type request struct {
	method, path string
	query        url.Values
	body         []byte
	kind         string // of the body
	key          string // idempotency key
	has          string // a key that every answer of a node has
}

// errStranger is of an answer that no node gives, whatever its status.
var errStranger = errors.New("this is no answer of a node of Tandem")

// ask sends a request to one endpoint and returns the answer. Errors are *Problem when the node said no.
func (c *Client) ask(ctx context.Context, e endpoint, r request) ([]byte, error) {
	at := e.base + r.path
	if len(r.query) > 0 {
		at += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, at, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if r.kind != "" {
		req.Header.Set("Content-Type", r.kind)
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		p := &Problem{}
		if json.Unmarshal(body, p) != nil || p.Title == "" {
			p.Title = resp.Status
		}
		p.Status, p.Endpoint = resp.StatusCode, e.name
		return nil, p
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(body, &keys); err != nil || keys[r.has] == nil {
		return nil, errStranger
	}
	return body, nil
}

// each asks the endpoints in turn, the one that answered last first, until good takes an
// answer or the patience ends. good says with another error that this node is to be passed
// over for now.
func (c *Client) each(ctx context.Context, r request, good func(body []byte) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Patience)
	defer cancel()
	var last error
	for round := 0; ; round++ {
		waiting := false // for what another time may bring
		for range c.endpoints {
			c.mu.Lock()
			at := c.next
			c.mu.Unlock()
			body, err := c.ask(ctx, c.endpoints[at], r)
			if err == nil {
				err = good(body)
			}
			if err == nil || final(err) {
				return err
			}
			_, unproven := errors.AsType[*tls.CertificateVerificationError](err)
			waiting = waiting || !unproven
			if last == nil || ctx.Err() == nil {
				last = fmt.Errorf("%s: %w", c.endpoints[at].name, err)
			}
			c.mu.Lock()
			c.next = (at + 1) % len(c.endpoints)
			c.mu.Unlock()
			if ctx.Err() != nil {
				return last
			}
		}
		if !waiting {
			return last
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(min(time.Second, time.Duration(round+1)*100*time.Millisecond)):
		}
	}
}

// final reports that another node, or another time, would not say otherwise.
func final(err error) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && p.Status >= 400 && p.Status < 500 && p.Status != http.StatusRequestTimeout && p.Status != http.StatusTooManyRequests
}

// into decodes an answer.
func into(out any) func(body []byte) error {
	return func(body []byte) error { return json.Unmarshal(body, out) }
}
