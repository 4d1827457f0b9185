package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// exchange is how one question went.
type exchange struct {
	result Result
	took   time.Duration
	why    string // of a failure; never with a URL, a header or the text of an answer
	// unsaid: the failure is about this question, not about the server.
	unsaid bool
	answer *lcr.Answer
	body   []byte // as received
	names  []lcr.HopName
}

const (
	idlePerServer = 64
	idleFor       = 90 * time.Second
	maxHeaders    = 32 << 10
	// openTime bounds how long a connection is being opened, also when the question that
	// wanted it is over: net/http goes on for the next one. It is the longest timeout that
	// a plan may have.
	openTime = 30 * time.Second
	// pingAfter is how long a connection of HTTP/2 says nothing before it is asked whether
	// it carries anything, and pingTime how long that may take. Without it, questions go
	// into one that the network has lost for as long as TCP tries.
	pingAfter, pingTime = 5 * time.Second, 5 * time.Second
)

// newTransport makes what keeps connections. stop ends those that are being opened.
func newTransport(stop context.Context, cfg *Config) *http.Transport {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, openTime)
		defer cancel()
		defer context.AfterFunc(stop, cancel)()
		return cfg.Dial(ctx, network, addr)
	}
	t := &http.Transport{
		DialContext: dial, MaxIdleConnsPerHost: idlePerServer, IdleConnTimeout: idleFor,
		MaxResponseHeaderBytes: maxHeaders, DisableCompression: true, // what is small need not unfold
		TLSHandshakeTimeout: openTime, ForceAttemptHTTP2: true, TLSClientConfig: cfg.TLS,
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTime},
	}
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return t
}

// ask puts a question and reads the answer within ctx.
func (c *Client) ask(ctx context.Context, s *trunkgroup.DecisionServer, question []byte) *exchange {
	x := &exchange{}
	begin := time.Now()
	x.run(ctx, c, s, question)
	x.took = time.Since(begin)
	switch {
	case !x.result.failed() || ctx.Err() == nil || x.result == BadStatus:
	case c.ctx.Err() != nil:
		x.why, x.unsaid = errStopped.Error(), true
	default:
		x.result, x.why = TimedOut, fmt.Sprintf("no answer within %s", s.Timeout)
	}
	return x
}

func (x *exchange) run(ctx context.Context, c *Client, s *trunkgroup.DecisionServer, question []byte) {
	req, err := c.newRequest(ctx, s, question)
	if err != nil {
		x.result, x.why, x.unsaid = Misconfigured, err.Error(), true
		return
	}
	resp, err := c.http.Do(req)
	if err != nil {
		x.result, x.why = Unreachable, reason(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 { // S-021; a redirect is none either
		x.result, x.why, x.unsaid = BadStatus, fmt.Sprintf("it answered %d", resp.StatusCode), aboutQuestion(resp.StatusCode)
		return
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, lcr.MaxBody+1))
	if err != nil {
		x.result, x.why = Unreachable, reason(err)
		return
	}
	x.read(body)
}

// read judges an answer.
func (x *exchange) read(body []byte) {
	a, err := lcr.Parse(body)
	if err != nil {
		x.result, x.why = Invalid, err.Error()
		return
	}
	x.answer, x.body, x.names = a, body, a.Names()
	switch {
	case a.Set.Reject.Code != 0:
		x.result = Rejected
	case len(a.Set.Routes) == 0:
		x.result = NoRoute
	default:
		x.result = Routed
	}
}

func (c *Client) newRequest(ctx context.Context, s *trunkgroup.DecisionServer, question []byte) (*http.Request, error) {
	address, err := trunkgroup.ExpandEnv(s.URL, c.cfg.Env)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if why := trunkgroup.URLFault(address); why != "" {
		return nil, fmt.Errorf("url: with its variables, it %s", why)
	}
	auth, err := trunkgroup.ExpandEnv(s.AuthHeader, c.cfg.Env)
	if err != nil {
		return nil, fmt.Errorf("auth_header: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(question))
	if err != nil {
		return nil, errors.New("url: is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.cfg.UserAgent)
	if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	// A question changes nothing, so it may be repeated on a new connection when the
	// server has closed the old one meanwhile; net/http takes this for the word, and
	// sends no header.
	req.Header["X-Idempotency-Key"] = nil
	return req, nil
}

// aboutQuestion tells codes by which a server that works refuses one question.
func aboutQuestion(code int) bool {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return code >= 400 && code < 500
}

// reason words a failure of the network without the address that was asked, in which
// there may be secrets.
func reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if d, ok := errors.AsType[*net.DNSError](err); ok {
		return "its name is not resolved: " + d.Err
	}
	return err.Error()
}
