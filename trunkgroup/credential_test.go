package trunkgroup

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

const someHash = "0123456789abcdef0123456789abcdef"

// registrationDocument is testDocument with a customer of two groups, of which
// one has members that register.
func registrationDocument() *Document {
	d := testDocument()
	d.Customers = []CustomerSpec{{Name: "initech"}}
	d.TrunkGroups = append(d.TrunkGroups,
		GroupSpec{
			Name: "initech-in", Role: OriginationCustomer, Customer: "initech", Numbers: []string{"+13035550100"},
			Members: []MemberSpec{
				{ID: "conf", Registration: &RegistrationSpec{AOR: "sip:Conference@SIP.local:5060", Users: []string{"rooms", "initech"}}},
				{ID: "pbx", Registration: &RegistrationSpec{AOR: "sip:initech@sip.local"}},
			},
			Credentials: []CredentialSpec{{Username: "rooms", Realm: "sip.local", HA1MD5: someHash, BoundIP: []string{"198.51.100.0/24"}}},
		},
		GroupSpec{
			Name: "initech-out", Role: TerminationCustomer, Customer: "initech",
			Credentials: []CredentialSpec{{
				Username: "initech", Realm: "SIP.local", HA1MD5: someHash, HA1SHA256: strings.Repeat("A", 64), HA1SHA512256: strings.Repeat("b", 64),
				Algorithms: []string{"SHA-512-256", "SHA-256"}, ANIOverride: "+13035550100",
			}},
		},
		GroupSpec{
			Name: "umbrella-out", Role: TerminationCustomer,
			Credentials: []CredentialSpec{{Username: "rooms", Realm: "umbrella.example", HA1SHA512256: strings.Repeat("b", 64)}},
		},
	)
	return d
}

func TestP29_CredentialFields(t *testing.T) {
	table := compile(t, registrationDocument())
	c, g := table.MatchCredential("SIP.local", "initech")
	if c == nil || g.Name != "initech-out" || c.ANIOverride != "+13035550100" {
		t.Fatalf("%+v of %v", c, g)
	}
	if want := []string{AlgorithmSHA256, AlgorithmSHA512256}; !reflect.DeepEqual(c.Algorithms, want) {
		t.Errorf("algorithms %q, want %q", c.Algorithms, want)
	}
	if c.HA1(AlgorithmMD5) != "" || c.HA1(AlgorithmSHA256) != strings.Repeat("a", 64) || c.HA1("none") != "" {
		t.Error("a hash is given for an algorithm that the user may not use, or none for one that it may")
	}
	if !c.AllowedFrom(netip.MustParseAddr("203.0.113.9")) {
		t.Error("bound without bound_ip")
	}
	rooms, _ := table.MatchCredential("sip.local", "rooms")
	for addr, want := range map[string]bool{"198.51.100.7": true, "::ffff:198.51.100.7": true, "203.0.113.9": false, "2001:db8::1": false} {
		if rooms.AllowedFrom(netip.MustParseAddr(addr)) != want {
			t.Errorf("allowed from %s: %t", addr, !want)
		}
	}
	if got := fmt.Sprintf("%v %+v %#v", *c, *c, *c); strings.Contains(got, "bbbb") || strings.Contains(got, someHash) {
		t.Errorf("a hash is shown: %s", got)
	}
}

func TestRealmOf(t *testing.T) {
	table := compile(t, registrationDocument())
	for host, want := range map[string]string{
		"sip.local": "sip.local", "SIP.LOCAL": "sip.local", "umbrella.example": "umbrella.example",
		"sip.example.com": "sip.example.com", "198.51.100.1": "", "": "",
	} {
		// Two realms that differ in case only: the first of the document is offered.
		if got := table.RealmOf(host); got != want {
			t.Errorf("realm of %q is %q, want %q", host, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { table.RealmOf("sip.local") }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// R-01, P-29: a name is a user of its own customer's members only.
func TestMayRegister(t *testing.T) {
	table := compile(t, registrationDocument())
	conf, pbx := table.MatchAOR("sip:Conference@sip.local"), table.MatchAOR("sip:initech@sip.local")
	for _, c := range []struct {
		member      *Member
		group, user string
		want        bool
	}{
		{conf, "initech-in", "rooms", true},
		{conf, "initech-out", "initech", true},
		{pbx, "initech-out", "initech", true},
		{pbx, "initech-in", "rooms", false},
		{conf, "umbrella-out", "rooms", false},
		{table.Member("acme-in/d1"), "acme-in", "rooms", false},
	} {
		if got := c.member.MayRegister(table.Group(c.group), c.user); got != c.want {
			t.Errorf("%s of %s as %s: %t", c.user, c.group, c.member.Key, got)
		}
	}
	if conf.MayRegister(nil, "rooms") {
		t.Error("nobody may register")
	}
}

// A secret is as good as the password: a difference of documents does not show
// it, whichever algorithm it is for.
func TestDiffHidesHashes(t *testing.T) {
	old, next := registrationDocument(), registrationDocument()
	next.TrunkGroups[6].Credentials[0].HA1SHA512256 = strings.Repeat("c", 64)
	if got := fmt.Sprintf("%+v", Compare(old, next, 100).List); strings.Contains(got, "cccc") || strings.Contains(got, "bbbb") || !strings.Contains(got, "ha1_sha512_256") {
		t.Error(got)
	}
}
