package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Version is the place of a document in the cluster's history.
type Version struct {
	Generation uint64 `json:"generation"`
	Revision   uint64 `json:"revision"`
}

// Older reports that v comes before o.
func (v Version) Older(o Version) bool {
	return v.Generation < o.Generation || v.Generation == o.Generation && v.Revision < o.Revision
}

// String writes it as the command line does.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Generation, v.Revision) }

// Document is the cluster document in force.
type Document struct {
	Version
	Cluster string `json:"cluster"`
	Author  string `json:"author"`
	Reason  string `json:"reason"`
	Text    string `json:"text"`
}

// Problem is what a node says when it does not do what it was asked for (RFC 9457).
type Problem struct {
	Title    string  `json:"title"`
	Status   int     `json:"status"`
	Detail   string  `json:"detail"`
	Hint     string  `json:"hint"`
	Revision uint64  `json:"revision"` // in force, of a conflict
	Faults   []Fault `json:"faults"`
	Endpoint string  `json:"-"`
}

// Fault is one fault of a document.
type Fault struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// String says what is wrong and what would be right.
func (f Fault) String() string {
	s := f.Problem
	if f.Path != "" {
		s = f.Path + ": " + s
	}
	if f.Remedy != "" {
		s += " (" + f.Remedy + ")"
	}
	return s
}

// Error implements error.
func (p *Problem) Error() string {
	lines := []string{p.Title}
	if p.Detail != "" {
		lines[0] += ": " + p.Detail
	}
	for _, f := range p.Faults {
		lines = append(lines, "  "+f.String())
	}
	switch {
	case p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden:
		lines = append(lines, "token, token_file or TANDEM_TOKEN gives the token of the node's admin.token_file")
	case p.Hint != "":
		lines = append(lines, p.Hint)
	}
	return strings.Join(lines, "\n")
}

// conflict reports that the document has moved on since it was read.
func conflict(err error) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && p.Status == http.StatusConflict && p.Revision > 0
}

// errLags is of a node that has not heard of the newest document yet.
var errLags = errors.New("the node does not have the newest document yet")

// Document reads the document in force: never one that is older than what was seen before.
func (c *Client) Document(ctx context.Context) (Document, error) {
	var d Document
	err := c.each(ctx, request{method: http.MethodGet, path: "/v1/config", has: "revision"}, func(body []byte) error {
		d = Document{} // nothing stays of a node that was passed over
		if err := json.Unmarshal(body, &d); err != nil {
			return err
		}
		if d.Revision > 0 && d.Text == "" {
			return errStranger
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if d.Older(c.seen) {
			return errLags
		}
		c.seen = d.Version
		return nil
	})
	return d, err
}

// Check asks a node what is wrong with a document, and changes nothing.
func (c *Client) Check(ctx context.Context, text []byte) ([]Fault, error) {
	err := c.each(ctx, request{
		has: "revision", method: http.MethodPost, path: "/v1/config", query: map[string][]string{"dry_run": {"true"}, "author": {c.cfg.Author}},
		body: text, kind: "application/yaml",
	}, func([]byte) error { return nil })
	if p, ok := errors.AsType[*Problem](err); ok && len(p.Faults) > 0 {
		return p.Faults, nil
	}
	return nil, err
}

// Node is one node as the asked node sees it.
type Node struct {
	Name    string `json:"name"`
	Site    string `json:"site"`
	Witness bool   `json:"witness"`
	State   string `json:"state"`
	Version string `json:"version"`
	Up      bool   `json:"up"`
	Self    bool   `json:"self"`
	Raft    string `json:"raft"`
	Gen     uint64 `json:"generation"`
	Rev     uint64 `json:"revision"`
}

// Status is what a node says of the cluster.
type Status struct {
	Cluster string   `json:"cluster"`
	Leader  string   `json:"leader"`
	Quorum  bool     `json:"quorum"`
	Alarms  []string `json:"alarms"`
	Nodes   []Node   `json:"nodes"`
}

// Status asks how the cluster does.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.each(ctx, request{method: http.MethodGet, path: "/v1/nodes", has: "nodes"}, func(body []byte) error {
		s = Status{}
		return json.Unmarshal(body, &s)
	})
	return s, err
}

// Question is a call that might come.
type Question struct {
	Called    string   `json:"called,omitempty"`
	Source    string   `json:"source,omitempty"`
	Transport string   `json:"transport,omitempty"`
	Site      string   `json:"site,omitempty"`
	Username  string   `json:"username,omitempty"`
	Realm     string   `json:"realm,omitempty"`
	Caller    string   `json:"caller,omitempty"`
	Assume    []string `json:"assume,omitempty"`
}

// Explain asks what would be decided for a call. The answer is as the node wrote it.
func (c *Client) Explain(ctx context.Context, q Question) (json.RawMessage, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	var out json.RawMessage
	err = c.each(ctx, request{method: http.MethodPost, path: "/v1/explain", body: body, kind: "application/json", has: "direction"}, into(&out))
	return out, err
}
