package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// node is a backend of the admin API with fixed answers. It keeps what it was asked.
type node struct {
	document admin.Document
	list     admin.NodeList
	change   admin.Change
	order    admin.Order
	question admin.Question
	err      error // of every change
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func (n *node) Nodes(context.Context) (admin.NodeList, error) { return n.list, nil }

func (n *node) Members(context.Context) (admin.MemberList, error) {
	return admin.MemberList{
		Panic: []string{"ashburn"},
		Members: []admin.Member{
			{
				Group: "acme-in", ID: "pbx-1", Site: "dallas", Address: "198.51.100.10:5060", Transport: "udp", State: "down", Since: &noon,
				Reason: "probe failed: no reply", Targets: []admin.Target{{Address: "198.51.100.10:5060", State: "down", RTTMillis: 2000}},
			},
			{
				Group: "acme-in", ID: "pbx-2", Site: "ashburn", FQDN: "pbx.acme.example", Transport: "tls", State: "draining", Targets: []admin.Target{},
				Knob: &admin.Knob{State: "draining", Author: "noc", Reason: "new firmware", Expires: noon},
			},
			{Group: "carrier-a", ID: "gw", Site: "dallas", Address: "203.0.113.10:5060", Transport: "udp", State: "active", Reason: "not monitored", Targets: []admin.Target{}},
		},
	}, nil
}

func (n *node) SetState(_ context.Context, group, member string, o admin.Order) (admin.Knob, error) {
	if group != "acme-in" {
		return admin.Knob{}, fmt.Errorf("%s/%s: %w", group, member, admin.ErrNotFound)
	}
	n.order = o
	return admin.Knob{State: o.State, Author: o.Author, Reason: o.Reason, Set: noon, Expires: noon.Add(24 * time.Hour)}, n.err
}

func (n *node) Document(context.Context) (admin.Document, error) { return n.document, nil }

func (n *node) Apply(_ context.Context, c admin.Change) (admin.Applied, error) {
	n.change = c
	switch {
	case n.err != nil:
		return admin.Applied{}, n.err
	case c.Expect != nil && *c.Expect != n.document.Revision:
		return admin.Applied{}, &admin.ConflictError{Expected: *c.Expect, Current: n.document.Revision}
	}
	if _, err := yamldoc.Decode("", c.Text); err != nil {
		return admin.Applied{}, err
	}
	return admin.Applied{Cluster: "example", Generation: 1, Revision: n.document.Revision + 1, DryRun: c.DryRun}, nil
}

func (n *node) Calls(context.Context, int) (admin.CallList, error) {
	return admin.CallList{Active: 2, Calls: []admin.Call{
		{ID: "01J", Direction: "inbound", Ingress: "carrier-a", Egress: "acme-in", Member: "pbx-1", Site: "dallas", State: "answered", Start: noon, Attempts: 1},
	}}, nil
}

func (n *node) Explain(_ context.Context, q admin.Question) (trunkgroup.Explanation, error) {
	n.question = q
	return trunkgroup.Explanation{
		Steps: []trunkgroup.Step{{Name: "source", Text: "203.0.113.10:5060 matches carrier-a"}},
		Order: []trunkgroup.OrderLine{
			{Group: "acme-in", Member: "pbx-1", Site: "dallas", State: "down", Cause: "down", Why: "probe failed: no reply, since noon"},
			{Group: "acme-in", Member: "pbx-3", Site: "dallas", State: "active", Addr: "198.51.100.12:5060", Dialable: true},
		},
	}, nil
}

// serve starts an admin API over n and returns its address.
func (n *node) serve(t *testing.T, token string) string {
	t.Helper()
	s, err := admin.New(admin.Settings{
		Network: "tcp", Address: "127.0.0.1:0", Token: token,
		Backend: admin.Backend{Nodes: n, Members: n, Config: n, Calls: n, Explain: n},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s.Addr().String()
}
