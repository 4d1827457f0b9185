package main

import (
	"context"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// C4: "real grammar is one of a,i,t,d + optional p"; K-27.
func TestC04_StateWords(t *testing.T) {
	for _, x := range []struct{ word, probe, want string }{
		{"active", "", "active"},
		{"a", "", "active"},
		{"ap", "", "active"},
		{"AP", "", "active"},
		{"active", "on", "active"},
		{"inactive", "", "draining"},
		{"i", "", "draining"},
		{"inactive", "off", "draining"},
		{"inactive", "on", "inactive"},
		{"ip", "", "inactive"},
		{"ip", "on", "inactive"},
		{"trying", "", "trying"},
		{"t", "", "trying"},
		{"tp", "", "trying"},
		{"draining", "", "draining"},
		{"disabled", "", "disabled"},
		{"d", "", "disabled"},
		{"dp", "", "disabled"},
		{"disabled", "off", "disabled"},
		{"ai", "", ""},
		{"down", "", ""},
		{"", "", ""},
		{"x", "", ""},
		{"active", "maybe", ""},
		{"active", "off", ""},
		{"trying", "off", ""},
		{"disabled", "on", ""},
		{"ip", "off", ""},
		{"i", "on", ""},
		{"pa", "", ""},
	} {
		got, err := stateOf(x.word, x.probe)
		if got != x.want || (err != nil) != (x.want == "") {
			t.Errorf("%q with --probe %q is %q, %v; want %q", x.word, x.probe, got, err, x.want)
		}
	}
}

// K-27: "set_state (also all)".
func TestK17_K27_SetStateOfMany(t *testing.T) {
	n := &node{}
	address := n.serve(t, "")
	for _, x := range []struct {
		args string
		want admin.BulkOrder
	}{
		{"acme-in/all ip --reason x --author ann", admin.BulkOrder{Group: "acme-in", State: "inactive", Reason: "x", Author: "ann"}},
		{"--all-of-site dallas d --author ann", admin.BulkOrder{Site: "dallas", State: "disabled", Author: "ann"}},
		{"acme-in/all a --all-of-site dallas --author ann", admin.BulkOrder{Group: "acme-in", Site: "dallas", State: "active", Author: "ann"}},
	} {
		code, out, errs := tandem(t, append(strings.Fields("member set-state "+x.args), "--address", address)...)
		if code != exitFailed || n.bulk != x.want || !strings.Contains(out, "dallas   2") || !strings.Contains(errs, "site ashburn: no node of site ashburn is up") {
			t.Errorf("%s: code %d, order %+v\n%s%s", x.args, code, n.bulk, out, errs)
		}
	}
	for _, args := range []string{"acme-in/all", "acme-in/pbx-1 a --all-of-site dallas", "acme-in a", "acme-in/pbx-1 ai"} {
		if code, _, _ := tandem(t, append(strings.Fields("member set-state "+args), "--address", address)...); code != exitUsage {
			t.Errorf("%s: exit code %d", args, code)
		}
	}
}

// K-27 ping_active: the site is that of the asked node unless it is named, and a pause has a reason.
func TestK27_Probing(t *testing.T) {
	address := (&node{}).serve(t, "")
	for _, x := range []struct{ args, want string }{
		{"pause --reason x --author ann", "probing:dallas  paused"},
		{"pause --site ashburn --reason x", "probing:ashburn  paused"},
		{"resume", "probing:dallas  active"},
	} {
		code, out, errs := tandem(t, append(strings.Fields("probing "+x.args), "--address", address)...)
		if code != exitOK || !strings.Contains(out, x.want) {
			t.Errorf("probing %s: code %d\n%s%s", x.args, code, out, errs)
		}
	}
	if code, _, errs := tandem(t, "probing", "pause", "--address", address); code != exitUsage || !strings.Contains(errs, "wants a --reason") {
		t.Errorf("without a reason: code %d, %s", code, errs)
	}
}

// K-27: "add, remove".
func TestK27_AddAndRemove(t *testing.T) {
	n := &edits{node: &node{}}
	address := serveBackend(t, "", admin.Backend{Members: n, MemberEdits: n})
	code, out, errs := tandem(t, append(strings.Fields("member add carrier-a gw-3 --site dallas --to 203.0.113.12:5060 --weight 2 --reason card --author ann"), "--address", address)...)
	if want := (admin.NewMember{ID: "gw-3", Site: "dallas", Address: "203.0.113.12:5060", Weight: 2, Reason: "card", Author: "ann"}); code != exitOK || n.added != want || !strings.Contains(out, "8") {
		t.Errorf("code %d, %+v\n%s%s", code, n.added, out, errs)
	}
	code, out, errs = tandem(t, append(strings.Fields("member remove carrier-a/gw-3 --author ann"), "--address", address)...)
	if code != exitOK || n.removed != "carrier-a/gw-3 by ann" {
		t.Errorf("code %d, %q\n%s%s", code, n.removed, out, errs)
	}
	for _, args := range []string{"add carrier-a gw-3 --site dallas", "add carrier-a", "remove carrier-a", "add carrier-a x --to 192.0.2.1:1 --fqdn y"} {
		if code, _, _ := tandem(t, append(strings.Fields("member "+args), "--address", address)...); code != exitUsage {
			t.Errorf("member %s: exit code %d", args, code)
		}
	}
}

// edits keeps what was to be edited.
type edits struct {
	*node
	added   admin.NewMember
	removed string
}

func (e *edits) AddMember(_ context.Context, _ string, m admin.NewMember) (admin.Applied, error) {
	e.added = m
	return admin.Applied{Cluster: "example", Generation: 1, Revision: 8}, nil
}

func (e *edits) RemoveMember(_ context.Context, group, member string, o admin.MemberRemoval) (admin.Applied, error) {
	e.removed = group + "/" + member + " by " + o.Author
	return admin.Applied{Cluster: "example", Generation: 1, Revision: 9}, nil
}

// K-27: what an operator sees of a member that he took out until it answers says so.
func TestK27_ListSaysWhatEndsInactive(t *testing.T) {
	m := memberLine{Member: admin.Member{
		State: "down", Reason: "by an operator, until it answers probes: their OK",
		Knob: &admin.Knob{State: "inactive", Author: "ann", Reason: "their OK"},
	}}
	if why := m.why(); !strings.HasPrefix(why, "until it answers probes: their OK (by ann, since ") {
		t.Error(why)
	}
}
