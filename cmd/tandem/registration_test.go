package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// registered is a node with fixed bindings.
type registered struct {
	query   admin.RegistrationQuery
	removal admin.RegistrationRemoval
}

func (r *registered) list() admin.RegistrationList {
	seven := 7
	gone := noon.Add(time.Minute)
	return admin.RegistrationList{Node: "dal-1", Site: "dallas", Total: 2, Registrations: []admin.Registration{
		{
			AOR: "sip:pbx@sip.example.com", ID: "00000000000000a1", Member: "acme-in/pbx", Contact: "sip:pbx@198.51.100.10:5060",
			Source: "198.51.100.10:5060", Transport: "udp", Listener: "203.0.113.1:5060", Node: "dal-1", Site: "dallas", Reach: "any",
			Reachable: true, CallsOf: "dallas", Since: noon, Refreshed: noon, Expires: noon, Q: 1, Sessions: &seven, User: "pbx", Agent: "pbx/1",
		},
		{
			AOR: "sip:pbx@sip.example.com", ID: "00000000000000a2", Contact: "sip:pbx@192.168.1.9;transport=tls", Source: "203.0.113.9:40001",
			Transport: "tls", Node: "ash-1", Site: "ashburn", Reach: "flow", CallsOf: "ashburn", Cause: "flow_gone", CauseSince: &gone,
			Since: noon, Refreshed: gone, Expires: noon, Q: 0.5, User: "pbx",
		},
	}}
}

func (r *registered) Registrations(_ context.Context, q admin.RegistrationQuery) (admin.RegistrationList, error) {
	r.query = q
	list := r.list()
	if q.AOR == "sip:nobody@sip.example.com" || q.AOR == "sip:wrong@sip.example.com" {
		list.Registrations = nil
	}
	if q.AOR != "sip:nobody@sip.example.com" {
		list.Refused = []admin.Refused{{
			AOR: "sip:wrong@sip.example.com", Member: "acme-in/pbx", Source: "198.51.100.77:5060", Result: "challenged", Reason: "digest",
			Why: "wrong password", Since: noon, Last: noon.Add(time.Hour), Times: 12,
		}}
	}
	if q.Limit == 1 {
		list.Registrations, list.Left = list.Registrations[:1], 1
	}
	return list, nil
}

func (r *registered) RemoveRegistration(_ context.Context, o admin.RegistrationRemoval) (admin.RegistrationList, error) {
	r.removal = o
	if o.ID == "none" {
		return admin.RegistrationList{}, fmt.Errorf("%w: nothing of %s is registered that fits", admin.ErrNotFound, o.AOR)
	}
	list := r.list()
	list.Registrations = list.Registrations[:1]
	return list, nil
}

func TestRegistration(t *testing.T) {
	backend := &registered{}
	address := serveBackend(t, "", admin.Backend{Registrations: backend})
	for _, c := range []struct {
		args string
		code int
		out  []string
		errs string
	}{
		{"registration list", exitOK, []string{
			"AOR ID CONTACT SOURCE NODE CALLS OF REACH STATE SINCE EXPIRES AGENT",
			"sip:pbx@sip.example.com 00000000000000a1 sip:pbx@198.51.100.10:5060 udp:198.51.100.10:5060 dal-1 dallas any ok 2026-11-30T12:00:00Z in ",
			"sip:pbx@sip.example.com 00000000000000a2 sip:pbx@192.168.1.9;transport=tls tls:203.0.113.9:40001 ash-1 ashburn flow flow_gone since 2026-11-30T12:01:00Z",
		}, ""},
		{"registration list sip:pbx@sip.example.com --member acme-in/pbx --limit 1", exitOK, []string{"00000000000000a1"}, "note: 1 more are left off"},
		{"registration list --output json", exitOK, []string{`"cause": "flow_gone"`, `"sessions": 7`}, ""},
		{"registration show sip:pbx@sip.example.com 00000000000000a1", exitOK, []string{
			"FIELD VALUE", "member acme-in/pbx", "state ok", "sessions 7", "user agent pbx/1", "instance -",
		}, ""},
		{"registration show sip:pbx@sip.example.com 00000000000000a2", exitOK, []string{"member none any more", "sessions not reported", "node ash-1 in ashburn"}, ""},
		{"registration show sip:nobody@sip.example.com", exitNotFound, nil, "nobody is registered as sip:nobody@sip.example.com"},
		{"registration show sip:nobody@sip.example.com", exitNotFound, nil, "dal-1 has refused nothing of it within a day"},
		{
			"registration show sip:wrong@sip.example.com", exitNotFound, nil,
			"dal-1 refused sip:wrong@sip.example.com from 198.51.100.77:5060, 12 times since 2026-11-30T12:00:00Z, last at 2026-11-30T13:00:00Z: wrong password",
		},
		{"registration show sip:pbx@sip.example.com ffff", exitNotFound, nil, "sip:pbx@sip.example.com has no binding ffff"},
		{"registration list sip:nobody@sip.example.com", exitOK, nil, "note: nobody is registered; dal-1 has refused nothing"},
		{"registration list --refused", exitOK, []string{
			"AOR MEMBER SOURCE TIMES SINCE LAST REASON",
			"sip:wrong@sip.example.com acme-in/pbx 198.51.100.77:5060 12 2026-11-30T12:00:00Z 2026-11-30T13:00:00Z wrong password",
		}, ""},
		{"registration list sip:nobody@sip.example.com --refused -o json", exitOK, []string{"[]"}, ""},
		{"registration list --limit 0", exitUsage, nil, "--limit 0 is out of bounds"},
		{"registration show", exitUsage, nil, "arg"},
		{"registration remove sip:pbx@sip.example.com 00000000000000a1 --reason moved --author noc", exitOK, []string{"00000000000000a1"}, "can register again"},
		{"registration remove sip:pbx@sip.example.com none", exitNotFound, nil, "nothing of sip:pbx@sip.example.com is registered"},
	} {
		code, out, errs := tandem(t, append(strings.Fields(c.args), "--address", address)...)
		if code != c.code || !strings.Contains(errs, c.errs) {
			t.Errorf("tandem %s: exit code %d\n%s%s", c.args, code, out, errs)
		}
		flat := strings.Join(strings.Fields(out), " ")
		for _, want := range c.out {
			if !strings.Contains(flat, want) {
				t.Errorf("tandem %s lacks %q:\n%s", c.args, want, out)
			}
		}
		if strings.Contains(c.args, "--member") && (backend.query.Member != "acme-in/pbx" || backend.query.AOR != "sip:pbx@sip.example.com") {
			t.Errorf("asked %+v", backend.query)
		}
		if strings.Contains(c.args, "moved") && (backend.removal.Author != "noc" || backend.removal.Reason != "moved" || backend.removal.ID == "") {
			t.Errorf("asked %+v", backend.removal)
		}
	}
}

// Who asks why a registered PBX is not called is told where its refusals show.
func TestExplainSaysWhereRefusalsShow(t *testing.T) {
	var out, errs strings.Builder
	c := &cli{console: console{out: &out, err: &errs}}
	err := c.printExplanation(&admin.Explanation{Order: []trunkgroup.OrderLine{
		{Group: "acme-in", Member: "pbx", State: "active", Cause: trunkgroup.CauseUnregistered},
		{Group: "acme-in", Member: "away", State: "active", Cause: trunkgroup.CauseUnregistered, Why: "registered in ashburn"},
		{Group: "acme-in", Member: "cut", State: "active", Cause: trunkgroup.CauseFlowGone, Why: "flow_gone since 2026-11-30T12:00:00Z"},
		{Group: "acme-in", Member: "other", State: "active", Dialable: true},
	}})
	if err != nil || errs.String() != "note: tandem registration list --member acme-in/pbx says whether a node refuses it, and why\n" {
		t.Errorf("%v %q", err, errs.String())
	}
	for _, want := range []string{"unregistered", "registered in ashburn", "flow_gone since 2026-11-30T12:00:00Z"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
