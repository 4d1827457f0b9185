package main

import (
	"bytes"
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
	bulk     admin.BulkOrder
	question admin.Question
	rollback admin.Rollback
	compared [2]uint64
	site     string
	verdict  admin.Verdict
	restored admin.Restoration
	removal  admin.RemoveOrder
	repeated bool  // what is applied is in force already
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
				Reason: "probe failed: no reply", Targets: []admin.Target{{Address: "198.51.100.10:5060", State: "down", RTTMillis: 2000, Latency: &admin.Latency{
					EstimateMillis: 21.5, DeviationMillis: 3.2, MaxMillis: 60, Replies: 9, Timeouts: 4,
				}}},
				MemberFacts: admin.MemberFacts{
					Flaps: 3, Calls: 7, ClusterCalls: 12, Weight: 5, WeightKnob: &admin.Knob{Author: "ann"}, Share: 40, Direction: "both",
				},
			},
			{
				Group: "acme-in", ID: "pbx-2", Site: "ashburn", FQDN: "pbx.acme.example", Transport: "tls", State: "draining", Targets: []admin.Target{},
				Knob: &admin.Knob{State: "draining", Author: "noc", Reason: "new firmware", Set: noon.Add(-time.Hour), Expires: noon},
			},
			{Group: "carrier-a", ID: "gw", Site: "dallas", Address: "203.0.113.10:5060", Transport: "udp", State: "active", Reason: "not monitored", Targets: []admin.Target{}},
		},
	}, nil
}

func (n *node) Limits(context.Context) (admin.LimitList, error) {
	return admin.LimitList{Node: "dal-1", Site: "dallas", Limits: []admin.Limit{
		{Scope: "group", Name: "acme-in", Kind: "calls", Max: 100, Cluster: 97, Site: 60, Used: 30, Share: 31, Own: 50, Borrowed: 12, Waiting: 1, Grantor: "dal-2"},
		{Scope: "group", Name: "carrier-a", Kind: "calls", Cluster: 4, Site: 4, Used: 4},
	}}, nil
}

func (n *node) Accounts(context.Context) (admin.AccountList, error) {
	until, next, again := noon.Add(time.Hour), noon.Add(45*time.Minute), noon.Add(time.Minute)
	return admin.AccountList{Node: "dal-1", Accounts: []admin.Account{
		{
			Member: "carrier-a/gw", Site: "dallas", AOR: "sip:100@carrier.test", State: "registered", Node: "dal-1", Registrar: "192.0.2.10:5060",
			Contact: "203.0.113.1:5060", Since: &noon, Until: &until, Next: &next,
		},
		{
			Member: "carrier-b/gw", Site: "dallas", AOR: "sip:acme@carrier-b.com", State: "failed", Node: "dal-2", Registrar: "192.0.2.20:5060",
			Since: &noon, Next: &again, Reason: "403 Forbidden",
		},
	}}, nil
}

func (n *node) SetState(_ context.Context, group, member string, o admin.Order) (admin.Knob, error) {
	if group != "acme-in" {
		return admin.Knob{}, fmt.Errorf("%s/%s: %w", group, member, admin.ErrNotFound)
	}
	n.order = o
	return admin.Knob{State: o.State, Author: o.Author, Reason: o.Reason, Set: noon, Expires: noon.Add(24 * time.Hour)}, n.err
}

func (n *node) SetStates(_ context.Context, o admin.BulkOrder) (admin.BulkResult, error) {
	n.bulk = o
	return admin.BulkResult{Sites: []admin.BulkSite{{Site: "ashburn", Error: "no node of site ashburn is up"}, {Site: "dallas", Members: 2}}}, n.err
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
	if n.repeated {
		return admin.Applied{Cluster: "example", Generation: 1, Revision: n.document.Revision, Unchanged: true}, nil
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
	return serveBackend(t, token, admin.Backend{
		Nodes: n, Members: n, Limits: n, Accounts: n, Config: n, ConfigLog: n, Canaries: n, Vault: n, Knobs: n, Rescue: n, Calls: n, Explain: n,
	})
}

// serveBackend starts an admin API until the end of the test and returns its address.
func serveBackend(t *testing.T, token string, b admin.Backend) string {
	t.Helper()
	s, err := admin.New(admin.Settings{Network: "tcp", Address: "127.0.0.1:0", Token: token, Backend: b})
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

func (n *node) Plan(_ context.Context, c admin.Change) (admin.Plan, error) {
	n.change = c
	if c.Expect != nil && *c.Expect != n.document.Revision {
		return admin.Plan{}, &admin.ConflictError{Expected: *c.Expect, Current: n.document.Revision}
	}
	would, err := yamldoc.Decode("", c.Text)
	if err != nil {
		return admin.Plan{}, err
	}
	p := admin.Plan{Cluster: "example", Generation: 1, Revision: n.document.Revision, Same: string(c.Text) == n.document.Text, Oldest: &noon}
	if was, err := yamldoc.Decode("", []byte(n.document.Text)); err == nil {
		p.Diff = trunkgroup.Compare(was, would, 100)
	} else {
		p.Diff = trunkgroup.Compare(nil, would, 100)
	}
	p.Equal = p.Diff.Equal()
	p.Calls = trunkgroup.Replay{Asked: 10000, Different: 12, Shifts: []trunkgroup.Shift{{
		Calls: 12, Was: "outbound from acme to carrier-a [dallas: gw]", Would: "outbound from acme: 404", Examples: []string{"+12145550100 from acme at noon"},
	}}}
	return p, nil
}

func (n *node) History(context.Context) (admin.History, error) {
	return admin.History{Cluster: "example", Revisions: []admin.Revision{
		{Generation: 1, Revision: 6, Author: "ann", Reason: "first", At: &noon, Bytes: 120, Sum: "00112233445566778899"},
		{Generation: 1, Revision: 7, Author: "bob", Reason: "new carrier", At: &noon, Bytes: 140, Sum: "aabbccddeeff00112233", State: "in force"},
	}}, nil
}

func (n *node) Revision(_ context.Context, revision uint64) (admin.Document, error) {
	if revision > n.document.Revision {
		return admin.Document{}, fmt.Errorf("%w: revision %d", admin.ErrNotFound, revision)
	}
	return admin.Document{Cluster: "example", Generation: 1, Revision: revision, Text: "old\n"}, nil
}

func (n *node) Compare(ctx context.Context, from, to uint64) (admin.Plan, error) {
	n.compared = [2]uint64{from, to}
	return n.Plan(ctx, admin.Change{Text: []byte(smallDocument)})
}

func (n *node) Rollback(_ context.Context, r admin.Rollback) (admin.Applied, error) {
	n.rollback = r
	return admin.Applied{Cluster: "example", Generation: 1, Revision: n.document.Revision + 1}, n.err
}

func (n *node) Canary(context.Context) (admin.Canary, error) {
	if n.site == "" {
		return admin.Canary{}, fmt.Errorf("%w: no canary is tried", admin.ErrNotFound)
	}
	return admin.Canary{
		Site: n.site, Generation: 1, Revision: 8, Author: "ann", Reason: "new carrier", At: &noon, Fallen: "9 of 20 calls failed", FallenAt: &noon,
		Nodes: []admin.CanaryNode{{Name: "ash-1", Generation: 1, Revision: 8}, {Name: "ash-2", Generation: 1, Revision: 7, FellBack: true}, {Name: "ash-3"}},
	}, nil
}

func (n *node) Stage(_ context.Context, site string, c admin.Change) (admin.Applied, error) {
	n.site, n.change = site, c
	n.change.Text = bytes.Clone(c.Text) // the buffer is used again
	if n.repeated {
		return admin.Applied{Cluster: "example", Generation: 1, Revision: n.document.Revision, Unchanged: true}, n.err
	}
	return admin.Applied{Cluster: "example", Generation: 1, Revision: n.document.Revision + 1}, n.err
}

func (n *node) Decide(_ context.Context, v admin.Verdict) (admin.Applied, error) {
	n.verdict = v
	return admin.Applied{Cluster: "example", Generation: 1, Revision: n.document.Revision + 1}, n.err
}

func (n *node) Backup(context.Context) ([]byte, error) { return []byte("a backup\x00\xff"), n.err }

func (n *node) Restore(_ context.Context, r admin.Restoration) (admin.Applied, error) {
	n.restored = r
	if string(r.File) != "a backup\x00\xff" {
		return admin.Applied{}, fmt.Errorf("%w: not a backup of tandem, or damaged", admin.ErrInvalid)
	}
	return admin.Applied{Cluster: "example", Generation: 2, Revision: 9, DryRun: r.DryRun}, n.err
}

func (n *node) Knobs(context.Context) (admin.KnobList, error) {
	return admin.KnobList{Site: "dallas", Knobs: []admin.KnobLine{
		{Subject: "site:dallas", Setting: "draining", Author: "ann", Reason: "flood", Node: "dal-1", Set: noon, Age: 90, Expires: noon.Add(24 * time.Hour)},
	}}, nil
}

func (n *node) SetWeight(_ context.Context, group, member string, o admin.WeightOrder) (admin.KnobLine, error) {
	return admin.KnobLine{
		Subject: "weight:" + group + "/" + member, Setting: fmt.Sprintf("weight %d", o.Weight), Author: "ann", Reason: o.Reason, Node: "dal-1", Set: noon, Expires: noon,
	}, n.err
}

func (n *node) SetSite(_ context.Context, site string, o admin.SiteOrder) (admin.KnobLine, error) {
	if site != "dallas" {
		return admin.KnobLine{}, fmt.Errorf("%w: site %s is not this node's site: ask one of its nodes, ash-1", admin.ErrRefused, site)
	}
	return admin.KnobLine{Subject: "site:" + site, Setting: map[bool]string{true: "draining", false: "active"}[o.Drain], Author: "ann", Reason: o.Reason, Node: "dal-1", Set: noon, Expires: noon}, n.err
}

func (n *node) SetProbing(_ context.Context, site string, o admin.ProbingOrder) (admin.KnobLine, error) {
	return admin.KnobLine{Subject: "probing:" + site, Setting: map[bool]string{true: "paused", false: "active"}[o.Pause], Author: o.Author, Reason: o.Reason, Node: "dal-1", Set: noon, Expires: noon}, n.err
}

func (n *node) Renew(_ context.Context, o admin.RenewOrder) (admin.KnobLine, error) {
	return admin.KnobLine{Subject: o.Subject, Setting: "draining", Author: "ann", Node: "dal-1", Set: noon, Age: 3600, Expires: noon}, n.err
}

func (n *node) Recover(_ context.Context, o admin.RecoverOrder) (admin.Recovery, error) {
	switch {
	case o.Confirm != "example":
		return admin.Recovery{}, fmt.Errorf("%w: the confirmation is not the id of this cluster: it is \"example\"", admin.ErrInvalid)
	case n.err != nil:
		return admin.Recovery{}, n.err
	}
	r := admin.Recovery{
		Cluster: "example", DryRun: o.DryRun, Nodes: []string{"ash-1: no sign of life", "dal-2 answers by gossip and interconnect"},
		Gone: []string{"ash-1"}, Adopted: []string{"dal-2"}, Generation: 1, Revision: 7,
	}
	if !o.DryRun {
		r.Epoch, r.Generation, r.Revision = 1, 2, 8
	}
	return r, nil
}

func (n *node) Remove(_ context.Context, o admin.RemoveOrder) (admin.Gone, error) {
	if o.Node == "dal-9" {
		return admin.Gone{}, fmt.Errorf("%w: no such node: dal-9", admin.ErrNotFound)
	}
	n.removal = o
	return admin.Gone{Cluster: "example", Node: o.Node, Voters: []string{"ash-1", "dal-1", "wit-1"}}, n.err
}

func (n *node) Rejoin(_ context.Context, o admin.RejoinOrder) (admin.Rejoined, error) {
	if o.Confirm != "example" {
		return admin.Rejoined{}, fmt.Errorf("%w: the confirmation is not the id of this cluster", admin.ErrInvalid)
	}
	return admin.Rejoined{Cluster: "example", Node: "ash-1", Generation: 2, Revision: 8}, n.err
}
