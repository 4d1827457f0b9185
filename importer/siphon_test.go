package importer

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func siphonOf(t testing.TB, o SiphonOptions, text string) *Result {
	t.Helper()
	r, err := Siphon([]Input{{Name: "siphon.yaml", Text: []byte(text)}}, o)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, r)
	return r
}

// fakeHash stands in for the digest: what is made of a password must not be it.
func fakeHash(username, realm, password string) trunkgroup.CredentialSpec {
	n := 0
	for _, c := range username + ":" + realm + ":" + password {
		n = n*31 + int(c)
	}
	return trunkgroup.CredentialSpec{Username: username, Realm: realm, HA1MD5: fmt.Sprintf("%032x", uint32(n))}
}

// TestS070_GroupsOfGateways: the sample, whole.
func TestS070_GroupsOfGateways(t *testing.T) {
	text, err := os.ReadFile("testdata/siphon/siphon.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := siphonOf(t, SiphonOptions{Target: Target{Hash: fakeHash}, Realm: "north.example"}, string(text))
	north := r.Document.TrunkGroups[0]
	if north.Distribution.Method != trunkgroup.Weighted || north.MaxAttempts != 1 || len(north.Sources) != 6 || north.Numbering.Format != trunkgroup.FormatPlain {
		t.Errorf("north: %+v", north)
	}
	want := trunkgroup.MonitoringSpec{Profile: "siphon", Interval: trunkgroup.Duration(15 * time.Second), DownAfter: 2}
	if !reflect.DeepEqual(north.Monitoring, want) {
		t.Errorf("monitoring %+v, want %+v", north.Monitoring, want)
	}
	if m := north.Members; m[0].Weight != 3 || m[1].ServerName != "gw2.north.example" || m[2].Priority != 2 || m[2].Account == nil || m[2].Account.Realm != "north.example" {
		t.Errorf("members %+v", m)
	}
	if p := r.Document.RoutePlans; len(p) != 1 || p[0].Routes[0].Providers[0] != "north" {
		t.Errorf("route plans %+v", p)
	}
	yaml, _ := r.YAML()
	if strings.Contains(fmt.Sprint(r.Report.Items)+string(yaml), "quittung") {
		t.Error("the password is shown")
	}
	for _, item := range []string{"reroute cause 603", "probe.from_user", "attrs region=east", "transport=ws", "lcr.api_url", "on_unparseable"} {
		says(t, r, Lost, item)
	}
}

// TestS036_CausesAreTheGroupsOwnBeforeAll: group, then lcr, then the default, which
// is the same here.
func TestS036_CausesAreTheGroupsOwnBeforeAll(t *testing.T) {
	const groups = "gateway: {groups: [{name: a, reroute_causes: %s, destinations: [{uri: 'sip:203.0.113.1'}]}]}\n"
	for _, c := range []struct{ own, all, want string }{
		{"[404, 503, 404]", "lcr: {reroute_causes: [500]}\n", "[404 503]"},
		{"[]", "lcr: {reroute_causes: [500, 99]}\n", "[500]"},
		{"[]", "", "[]"},
	} {
		if got := fmt.Sprint(only(t, siphonOf(t, SiphonOptions{}, fmt.Sprintf(groups, c.own)+c.all)).AdvanceOn); got != c.want {
			t.Errorf("own %s, of all %q: %s, want %s", c.own, c.all, got, c.want)
		}
	}
}

// TestG01_Defaults: what the file does not say is what Siphon does then.
func TestG01_Defaults(t *testing.T) {
	g := only(t, siphonOf(t, SiphonOptions{}, "gateway: {groups: [{name: a, destinations: [{uri: 'sip:gw.example;transport=tcp'}]}]}\n"))
	if g.Distribution.Method != trunkgroup.Weighted || g.Monitoring.Profile != "siphon" || g.MaxAttempts != 0 {
		t.Errorf("%+v", g)
	}
	if m := g.Members[0]; m.FQDN != "gw.example" || m.Transport != trunkgroup.TCP || m.Priority != 1 {
		t.Errorf("%+v", m)
	}
}

// TestG06_CallersBecomeSources: a group that only calls us has no members here.
func TestG06_CallersBecomeSources(t *testing.T) {
	g := only(t, siphonOf(t, SiphonOptions{Role: trunkgroup.TerminationCustomer},
		"gateway: {groups: [{name: a, destinations: [{uri: 'sip:203.0.113.1:5070'}, {uri: 'sip:pbx.example'}]}]}\n"))
	if want := []trunkgroup.SourceSpec{{IP: "203.0.113.1"}}; !reflect.DeepEqual(g.Sources, want) || len(g.Members) != 0 {
		t.Errorf("sources %+v, members %+v", g.Sources, g.Members)
	}
}

// TestD14_TwoCarriersAtOneAddress: one of them is known by it, the other one is
// only called.
func TestD14_TwoCarriersAtOneAddress(t *testing.T) {
	r := siphonOf(t, SiphonOptions{}, "gateway: {groups: [{name: a, destinations: [{uri: 'sip:203.0.113.1'}]}, {name: b, destinations: [{uri: 'sip:203.0.113.1:5060'}]}]}\n")
	if g := r.Document.TrunkGroups; len(g) != 2 || g[0].Members[0].Direction != 0 || g[1].Members[0].Direction != trunkgroup.DirectionOut {
		t.Errorf("groups %+v", g)
	}
}

// TestS094_VariablesOfTheEnvironment have their default, or are reported.
func TestS094_VariablesOfTheEnvironment(t *testing.T) {
	r := siphonOf(t, SiphonOptions{}, "gateway: {groups: [{name: a, destinations: [{uri: 'sip:${GW:-203.0.113.9}:5060'}, {uri: '${OTHER}'}]}]}\n")
	if m := only(t, r).Members; len(m) != 1 || m[0].Address != "203.0.113.9:5060" {
		t.Errorf("members %+v", m)
	}
	says(t, r, Lost, "${OTHER}")
}

// TestD14_WhatIsNoYAML ends with its line.
func TestD14_WhatIsNoYAML(t *testing.T) {
	for _, text := range []string{"a: [", "a: *b", strings.Repeat("[", 200), "a: &a [*a]"} {
		if r, err := Siphon([]Input{{Name: "f", Text: []byte(text)}}, SiphonOptions{}); err == nil {
			t.Errorf("%.20q gives %+v", text, r.Document)
		}
	}
}
