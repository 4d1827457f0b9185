package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/tandem-sbc/tandem/internal/contexts"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	defaultAddress = "unix:/run/tandem/admin.sock"
	// maxAnswer bounds what is read of one answer; a cluster document of a million numbers fits.
	maxAnswer = 256 << 20
)

// clientFlags say which node's admin API to ask.
type clientFlags struct {
	address   string
	context   string
	tokenFile string
	timeout   time.Duration
}

func (f *clientFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "address", "", "admin address of a node: unix:/path, 127.0.0.1:port or https://host:port (TANDEM_ADDR; default "+defaultAddress+")")
	flags.StringVar(&f.context, "context", "", "a node of the contexts file (TANDEM_CONTEXT; tandem context list)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file that holds the admin token (or the token itself in TANDEM_TOKEN)")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "longest wait for an answer of the node")
}

// api is a client of the admin API of one node.
type api struct {
	http    *http.Client
	base    string
	address string
	token   string
}

// api makes the client that flags, environment and contexts file describe.
func (c *cli) api() (*api, error) {
	to, err := c.node()
	if err != nil {
		return nil, err
	}
	a := &api{address: to.Address, token: c.env("TANDEM_TOKEN")}
	if file := cmp.Or(c.client.tokenFile, to.TokenFile); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fail(exitUnauthorized, "--token-file, or token_file of the context, names the file that holds the token of admin.token_file", "token: %w", err)
		}
		a.token = strings.TrimSpace(string(text))
	}
	transport := &http.Transport{DisableKeepAlives: true}
	if path, unix := strings.CutPrefix(to.Address, "unix:"); unix {
		a.base = "http://tandem"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
	} else if strings.HasPrefix(to.Address, "https://") {
		a.base = "https://" + contexts.Host(to.Address)
		if transport.TLSClientConfig, err = clientTLS(to); err != nil {
			return nil, err
		}
	} else {
		a.base = "http://" + to.Address
	}
	a.http = &http.Client{Transport: transport, Timeout: c.client.timeout}
	return a, nil
}

// request is one call of the API.
type request struct {
	method, path string
	contentType  string
	body         []byte
}

// request makes a request with the token.
func (a *api) request(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	return req, nil
}

// do sends a request and returns the body of a good answer. Anything else becomes a failure with its exit code.
func (a *api) do(ctx context.Context, r request) ([]byte, error) {
	req, err := a.request(ctx, r.method, r.path, r.contentType, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	res, err := a.http.Do(req)
	if err != nil {
		return nil, a.unreachable(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, a.unreachable(err)
	}
	if res.StatusCode >= 300 {
		return nil, a.refused(res, body)
	}
	return body, nil
}

// ask asks the node that flags and environment name, and decodes the JSON of its answer into v.
func (c *cli) ask(ctx context.Context, r request, v any) error {
	a, err := c.api()
	if err != nil {
		return err
	}
	body, err := a.do(ctx, r)
	if err != nil {
		return err
	}
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
	if _, foreign := errors.AsType[*tls.CertificateVerificationError](err); foreign {
		hint = "the context's ca names the authority of the node's certificate, server_name the name in it"
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

// refused turns the answer to a refused request into a failure.
func (a *api) refused(res *http.Response, body []byte) error {
	var p struct {
		admin.Problem
		Errors []struct { // what the API found wrong with the request itself
			Message  string `json:"message"`
			Location string `json:"location"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &p) != nil || p.Title == "" && p.Detail == "" {
		return fail(exitFailed, "--address or TANDEM_ADDR names the admin address, which is another port than SIP and metrics",
			"what answers at %s is not the admin API of a node: %s", a.address, res.Status)
	}
	lines := []string{cmp.Or(p.Detail, p.Title)}
	for _, e := range p.Errors {
		lines = append(lines, e.Location+": "+e.Message)
	}
	for _, f := range p.Faults {
		fault := trunkgroup.Fault{Path: f.Path, Line: f.Line, Column: f.Column, Problem: f.Problem, Remedy: f.Remedy}
		lines = append(lines, fault.String())
	}
	code, hint := exitFailed, p.Hint
	switch res.StatusCode {
	case http.StatusNotFound:
		code = exitNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		if p.Revision > 0 {
			code = exitConflict
		}
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		code = exitUnavailable
	case http.StatusUnauthorized, http.StatusForbidden:
		code = exitUnauthorized
		if hint == "" {
			hint = "--token-file or TANDEM_TOKEN gives the token of admin.token_file; on the machine of a node: sudo tandem --token-file /etc/tandem/admin.token"
		}
	}
	return &failure{code: code, hint: hint, err: errors.New(strings.Join(lines, "\n"))}
}
