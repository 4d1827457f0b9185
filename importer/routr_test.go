package importer

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func routrOf(t testing.TB, o RoutrOptions, texts ...string) *Result {
	t.Helper()
	var in []Input
	for i, text := range texts {
		in = append(in, Input{Name: fmt.Sprintf("r%d.yaml", i), Text: []byte(text)})
	}
	o.Hash = fakeHash
	r, err := Routr(in, o)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, r)
	return r
}

func sample(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/routr/resources.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// named finds a group.
func named(t testing.TB, r *Result, name string) *trunkgroup.GroupSpec {
	t.Helper()
	for i := range r.Document.TrunkGroups {
		if r.Document.TrunkGroups[i].Name == name {
			return &r.Document.TrunkGroups[i]
		}
	}
	t.Fatalf("there is no group %s", name)
	return nil
}

// TestR16_APeerIsAGroupThatRegisters: address, user, login and balance (R-01,
//
func TestR16_APeerIsAGroupThatRegisters(t *testing.T) {
	r := routrOf(t, RoutrOptions{Realm: "rooms.acme.example"}, sample(t))
	g := named(t, r, "peer-rooms-in")
	want := trunkgroup.DistributionSpec{Method: trunkgroup.LeastSessions, Sessions: trunkgroup.SessionsReported, SessionAffinityHeader: "X-Room-Id"}
	if g.Distribution != want || !slices.Equal(g.Numbers, []string{"+12145550199"}) {
		t.Errorf("%+v", g)
	}
	reg := g.Members[0].Registration
	if reg == nil || reg.AOR != "sip:rooms@rooms.acme.example" || !slices.Equal(reg.Users, []string{"rooms"}) || reg.Contacts != maxContacts {
		t.Errorf("registration %+v", reg)
	}
	if out := named(t, r, "peer-rooms-out"); out.Customer != g.Customer || out.Credentials[0].Realm != "rooms.acme.example" {
		t.Errorf("%+v", out)
	}
}

// TestR29_AgentsDomainsTrunksAndLists: the sample, whole.
func TestR29_AgentsDomainsTrunksAndLists(t *testing.T) {
	r := routrOf(t, RoutrOptions{TrunkRealms: map[string]string{"trunk-east": "east.example"}}, sample(t))
	ann := named(t, r, "agent-ann-in")
	if reg := ann.Members[0].Registration; reg.AOR != "sip:1001@sip.acme.example" || reg.Contacts != 3 || !slices.Equal(ann.Numbers, []string{"+12145550100"}) {
		t.Errorf("Ann: %+v", ann)
	}
	out := named(t, r, "sip.acme.example-out")
	if len(out.Credentials) != 2 || !slices.Equal(out.ACL.Allow, []string{"198.51.100.0/24", "203.0.113.0/29"}) || out.RoutePlan != "sip.acme.example" {
		t.Errorf("the domain calls out as %+v", out)
	}
	if bob := named(t, r, "sip.acme.example-phones"); ids(bob) != "1002" {
		t.Errorf("phones: %s", ids(bob))
	}
	east := named(t, r, "trunk-east")
	if a := east.Members[0].Account; a == nil || !a.Register || a.Realm != "east.example" || a.AOR != "sip:acme-trunk@sip.east.example" {
		t.Errorf("account %+v", a)
	}
	if !east.Members[1].Disabled || len(east.Sources) != 3 || len(named(t, r, "trunk-west").Sources) != 0 {
		t.Errorf("%+v", east)
	}
	want := []trunkgroup.RouteSpec{
		{Prefix: "911", Providers: []string{"trunk-east"}},
		{Prefix: "+1214", Providers: []string{"trunk-east"}},
		{Prefix: "+1469", Providers: []string{"trunk-east"}},
		{Prefix: "*", Providers: []string{"trunk-west"}},
	}
	if got := r.Document.RoutePlans[0].Routes; !reflect.DeepEqual(got, want) {
		t.Errorf("routes %+v, want %+v", got, want)
	}
	for _, item := range []string{"extraHeaders", "privacy Private", "shows a number by the rule"} {
		says(t, r, Lost, item)
	}
	says(t, r, Adapted, "agent-gone")
	says(t, r, Elsewhere, "inbound.uri")
}

// TestR29_NoPasswordGetsOut: neither document nor report has one.
func TestR29_NoPasswordGetsOut(t *testing.T) {
	r := routrOf(t, RoutrOptions{}, sample(t), "apiVersion: v2beta1\nkind: Credentials\nref: odd\nspec: {credentials: {username: x, passwort: erdbeere}}\n")
	text, _ := r.YAML()
	for _, word := range []string{"erdbeere", "himbeere", "brombeere", "stachelbeere"} {
		if strings.Contains(string(text), word) || strings.Contains(fmt.Sprint(r.Report.Items), word) {
			t.Errorf("%s is shown", word)
		}
	}
}

// TestR03_BalanceOfPeers: method, affinity, and what is not there.
func TestR03_BalanceOfPeers(t *testing.T) {
	const peer = "apiVersion: v2beta1\nkind: Peer\nref: p\nmetadata: {name: P}\nspec: {aor: 'sip:p@sip.local', username: p, credentialsRef: c, loadBalancing: {%s}}\n---\n" +
		"{apiVersion: v2beta1, kind: Credentials, ref: c, spec: {credentials: {username: p, password: x}}}\n---\n" +
		"{apiVersion: v2beta1, kind: Trunk, ref: t, spec: {outbound: {uris: [{uri: {host: 192.0.2.1}}]}}}\n---\n" +
		"{apiVersion: v2beta1, kind: Number, ref: n, spec: {trunkRef: t, location: {telUrl: 'tel:+1 (214) 555-0100', aorLink: 'sip:p@sip.local', sessionAffinityHeader: X-Room}}}\n"
	for balance, want := range map[string]trunkgroup.DistributionSpec{
		"algorithm: round-robin":                            {Method: trunkgroup.RoundRobin},
		"algorithm: least-sessions":                         {Method: trunkgroup.LeastSessions, Sessions: trunkgroup.SessionsReported},
		"algorithm: round-robin, withSessionAffinity: true": {Method: trunkgroup.RoundRobin, Sessions: trunkgroup.SessionsReported, SessionAffinityHeader: "X-Room"},
		"algorithm: fastest":                                {Method: trunkgroup.RoundRobin},
	} {
		r := routrOf(t, RoutrOptions{}, fmt.Sprintf(peer, balance))
		if got := named(t, r, "p-in").Distribution; got != want {
			t.Errorf("%s is %+v, want %+v", balance, got, want)
		}
	}
}

// TestR22_Contacts: a limit is taken over, unlimited is the most there is.
func TestR22_Contacts(t *testing.T) {
	const peer = "[{apiVersion: v2beta1, kind: Peer, ref: p, spec: {aor: 'sip:p@sip.local', username: p, credentialsRef: c%s}}, {apiVersion: v2beta1, kind: Credentials, ref: c, spec: {credentials: {username: p, password: x}}}]"
	for words, want := range map[string]int{"": 1000, ", maxContacts: 3": 3, ", maxContacts: -1": 1000, ", maxContacts: 5000": 1000} {
		if got := named(t, routrOf(t, RoutrOptions{}, fmt.Sprintf(peer, words)), "p-in").Members[0].Registration.Contacts; got != want {
			t.Errorf("%q is %d contacts, want %d", words, got, want)
		}
	}
}

// TestR29_RulesBecomePrefixes: what a regular expression of numbers means as
// prefixes, and when it means none.
func TestR29_RulesBecomePrefixes(t *testing.T) {
	for rule, want := range map[string]string{
		".*": "* exact", "^.*$": "* exact", "": "* exact", "^\\d+$": "* exact", "^\\+.*": "",
		"^\\+1214.*": "+1214 exact", "^\\+1(214|469)\\d*$": "+1214 +1469 exact", "^\\+44[12].*": "+441 +442 exact", "^\\+?1.*": "+1 exact",
		"^1214.*": "+1214", "^\\+1214\\d{7}$": "+1214", "^\\+12145550100$": "+12145550100", "^911$": "911 exact", "^(911|933)$": "911 933 exact",
		"1214": "", "^[0-9]{10}$": "", "^(?!1).*": "", "(": "", "^a.*": "", strings.Repeat("a", maxRule+1): "",
	} {
		prefixes, exact, err := prefixesOf(rule)
		got := strings.Join(prefixes, " ")
		if exact {
			got += " exact"
		}
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%.40q is %q, want %q (%v)", rule, got, want, err)
		}
	}
}

// TestR29_WhatIsMissing is said where it is named.
func TestR29_WhatIsMissing(t *testing.T) {
	r := routrOf(t, RoutrOptions{}, sample(t), `
- {apiVersion: v1beta1, kind: Agent, ref: old}
- {apiVersion: v2beta1, kind: Agent, ref: lost, spec: {username: x, domainRef: nowhere, credentialsRef: cred-ann}}
- {apiVersion: v2beta1, kind: Agent, ref: again, spec: {username: "1001", domainRef: domain-main, credentialsRef: cred-ann}}
- {apiVersion: v2beta1, kind: Agent, ref: open, spec: {username: "1009", domainRef: domain-main}}
- {apiVersion: v2beta1, kind: Number, ref: far, spec: {trunkRef: none, location: {telUrl: "tel:+12145550777", aorLink: "sip:nobody@sip.acme.example"}}}
- {apiVersion: v2beta1, kind: Number, ref: local, spec: {trunkRef: trunk-east, location: {telUrl: "tel:5550100", aorLink: "sip:1001@sip.acme.example"}}}
- {apiVersion: v2beta1, kind: Number, ref: twice, spec: {trunkRef: trunk-east, location: {telUrl: "tel:+12145550100", aorLink: backend:rooms}}}
- {apiVersion: v2beta1, kind: Voicemail, ref: vm}
- {apiVersion: v2beta1, kind: Peer, ref: agent-ann, spec: {aor: "tel:1", colour: red}}
- just words
`)
	for _, item := range []string{
		"agent old", "agent lost domainRef nowhere", "agent again sip:1001@sip.acme.example", "agent open", "number far trunkRef none", "number far +12145550777",
		"number local tel:5550100", "number twice +12145550100", "voicemail vm", "peer agent-ann aor tel:1", "line 11",
	} {
		says(t, r, Lost, item)
	}
}

// TestR29_APeerThatDoesNotRegister has an address, and calls from there.
func TestR29_APeerThatDoesNotRegister(t *testing.T) {
	r := routrOf(t, RoutrOptions{}, "[{apiVersion: v2beta1, kind: Peer, ref: p, spec: {aor: 'sip:p@sip.local', username: p, contactAddr: '198.51.100.7:6060'}}]")
	if m := named(t, r, "p-in").Members[0]; m.Address != "198.51.100.7:6060" || m.Registration != nil {
		t.Errorf("%+v", m)
	}
	if s := named(t, r, "p-out").Sources; len(s) != 1 || s[0].IP != "198.51.100.7" {
		t.Errorf("%+v", s)
	}
}
