package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

const (
	defaultAddress = "unix:/run/tandem/admin.sock"
	// maxAnswer bounds what is read of one answer; a cluster document of a million numbers fits.
	maxAnswer = 256 << 20
)

// clientFlags say which node's admin API to ask.
type clientFlags struct {
	address   string
	tokenFile string
	timeout   time.Duration
}

func (f *clientFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "address", "", "admin address of a node, unix:/path or 127.0.0.1:port (TANDEM_ADDR; default "+defaultAddress+")")
	flags.StringVar(&f.tokenFile, "token-file", "", "file that holds the admin token (or the token itself in TANDEM_TOKEN)")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Second, "longest wait for an answer of the node")
}

// api is a client of the admin API of one node.
type api struct {
	http    *http.Client
	base    string
	address string
	token   string
}

// api makes the client that flags and environment describe.
func (c *cli) api() (*api, error) {
	address := c.client.address
	if address == "" {
		address = c.env("TANDEM_ADDR")
	}
	if address == "" {
		address = defaultAddress
	}
	a := &api{address: address, token: c.env("TANDEM_TOKEN")}
	if c.client.tokenFile != "" {
		text, err := os.ReadFile(c.client.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
		a.token = strings.TrimSpace(string(text))
	}
	transport := &http.Transport{DisableKeepAlives: true}
	if path, unix := strings.CutPrefix(address, "unix:"); unix {
		a.base = "http://tandem"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
	} else {
		if _, err := netip.ParseAddrPort(address); err != nil {
			return nil, usage("for example --address 127.0.0.1:8080 or --address unix:/run/tandem/admin.sock", "%q is not an admin address", address)
		}
		a.base = "http://" + address
	}
	a.http = &http.Client{Transport: transport, Timeout: c.client.timeout}
	return a, nil
}

// request is one call of the API.
type request struct {
	method, path string
	contentType  string
	header       map[string]string
	body         []byte
}

// do sends a request and returns the body of a good answer. Anything else becomes a failure with its exit code.
func (a *api) do(ctx context.Context, r request) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, a.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, nil, err
	}
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	res, err := a.http.Do(req)
	if err != nil {
		return nil, nil, a.unreachable(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, nil, a.unreachable(err)
	}
	if res.StatusCode >= 300 {
		return nil, nil, refused(res.StatusCode, body)
	}
	return body, res.Header, nil
}

// get decodes the JSON answer of a GET into v.
func (a *api) get(ctx context.Context, path string, v any) error {
	body, _, err := a.do(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return err
	}
	return decodeAnswer(body, v)
}

func decodeAnswer(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fail(exitFailed, "is this program as new as the node?", "the node's answer does not read: %w", err)
	}
	return nil
}

// unreachable words the failure of a connection.
func (a *api) unreachable(err error) error {
	var hint string
	switch {
	case errors.Is(err, os.ErrPermission):
		return fail(exitUnauthorized, "run it as the user of the node, or as root", "%s: %w", a.address, innermost(err))
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		hint = "the node is busy or stuck; --timeout waits longer"
	default:
		hint = "is a node running there? --address or TANDEM_ADDR names another one"
	}
	return fail(exitUnavailable, hint, "no answer from %s: %w", a.address, innermost(err))
}

// innermost drops the request line that net/http puts before an error: its host is made up for sockets.
func innermost(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// problem is an error of the API, as RFC 9457 writes them.
type problem struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

// refused turns the answer to a refused request into a failure.
func refused(status int, body []byte) error {
	var p problem
	if json.Unmarshal(body, &p) != nil || p.Title == "" && p.Detail == "" {
		p = problem{Title: strings.TrimSpace(string(body))}
	}
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	if text == "" {
		text = http.StatusText(status)
	}
	code, hint := exitFailed, p.Hint
	switch status {
	case http.StatusNotFound:
		code = exitNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		code = exitConflict
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		code = exitUnavailable
	case http.StatusUnauthorized, http.StatusForbidden:
		code = exitUnauthorized
		if hint == "" {
			hint = "--token-file or TANDEM_TOKEN gives the token of admin.token_file"
		}
	}
	return &failure{code: code, hint: hint, err: errors.New(text)}
}
