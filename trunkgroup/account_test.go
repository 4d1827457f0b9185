package trunkgroup

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func accountDocument(a AccountSpec) *Document {
	return &Document{
		Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}},
		TrunkGroups: []GroupSpec{{
			Name: "carrier", Role: PSTNProvider,
			Members: []MemberSpec{{ID: "m", Site: "dallas", FQDN: "gw.carrier.example", Account: &a}},
		}},
	}
}

func TestAccountDefaults(t *testing.T) {
	for _, c := range []struct {
		spec AccountSpec
		want Account
	}{
		{
			AccountSpec{AOR: "sip:100@Carrier.Example:5070", Realm: "r", HA1MD5: strings.ToUpper(someHash)},
			Account{AOR: "sip:100@carrier.example", User: "100", Host: "carrier.example", Username: "100", Realm: "r", HA1MD5: someHash, Expires: time.Hour},
		},
		{
			AccountSpec{
				AOR: "sip:100@carrier.example", Username: "acme", Realm: "r", HA1SHA256: strings.Repeat("a", 64), HA1SHA512256: strings.Repeat("b", 64),
				Register: true, Registrar: "192.0.2.9", Expires: Duration(2 * time.Minute), Trust: "token",
			},
			Account{
				AOR: "sip:100@carrier.example", User: "100", Host: "carrier.example", Username: "acme", Realm: "r",
				HA1SHA256: strings.Repeat("a", 64), HA1SHA512256: strings.Repeat("b", 64), Register: true,
				Registrar: Registrar{Addr: netip.MustParseAddrPort("192.0.2.9:5060")}, Expires: 2 * time.Minute, TrustToken: true,
			},
		},
		{
			AccountSpec{AOR: "sip:100@carrier.example", Realm: "r", HA1MD5: someHash, Register: true, Registrar: "reg.carrier.example:5070", Trust: "registrar"},
			Account{
				AOR: "sip:100@carrier.example", User: "100", Host: "carrier.example", Username: "100", Realm: "r", HA1MD5: someHash,
				Register: true, Registrar: Registrar{FQDN: "reg.carrier.example", Port: 5070}, Expires: time.Hour,
			},
		},
	} {
		table, err := Compile(accountDocument(c.spec), Version{Cluster: "test", Generation: 1, Revision: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := *table.Members()[0].Account; got != c.want {
			t.Errorf("%+v gives %#v of %q to %q", c.spec, got, got.Username, got.Registrar.FQDN)
		}
	}
}

// TestAccountSecretsStayInside: an account in a log line or an error shows no hash.
func TestAccountSecretsStayInside(t *testing.T) {
	a := Account{AOR: "sip:100@carrier.example", HA1MD5: someHash}
	for _, text := range []string{fmt.Sprint(a), fmt.Sprintf("%v %+v %#v %s", a, a, a, a), a.LogValue().String()} {
		if strings.Contains(text, someHash) {
			t.Errorf("shows the hash: %s", text)
		}
	}
}

// TestCarriersAreTrusted: what comes from a registrar is no stranger's at the doors,
// and calls on a registration come from it or from the member.
func TestCarriersAreTrusted(t *testing.T) {
	table, err := Compile(accountDocument(AccountSpec{
		AOR: "sip:100@carrier.example", Realm: "r", HA1MD5: someHash, Register: true, Registrar: "192.0.2.9:5060",
	}), Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, v := table.Members()[0], NewView(table)
	v.Addrs[0] = []netip.AddrPort{netip.MustParseAddrPort("192.0.2.10:5060")}
	v.Carriers = [][]netip.AddrPort{{netip.MustParseAddrPort("192.0.2.11:5060")}}
	x := NewGateways(table, v)
	for addr, want := range map[string]bool{"192.0.2.9": true, "192.0.2.10": true, "::ffff:192.0.2.11": true, "192.0.2.12": false} {
		a := netip.MustParseAddr(addr)
		if got := v.FromCarrier(m, a); got != want {
			t.Errorf("a call from %s: %v", addr, got)
		}
		if got := x.Any(a); got != want {
			t.Errorf("%s at the doors: %v", addr, got)
		}
	}
	m.Account.TrustToken = true
	if !v.FromCarrier(m, netip.MustParseAddr("203.0.113.1")) {
		t.Error("who knows the contact is not trusted")
	}
}

// TestExplainCallsOnRegistrations: an explanation and the replay of past calls know the
// carrier of a call that came to our contact.
func TestExplainCallsOnRegistrations(t *testing.T) {
	d := accountDocument(AccountSpec{AOR: "sip:100@carrier.example", Realm: "r", HA1MD5: someHash, Register: true, Registrar: "192.0.2.9:5060"})
	d.TrunkGroups = append(d.TrunkGroups, GroupSpec{
		Name: "acme", Role: OriginationCustomer, Numbers: []string{"+12145550100"}, Members: []MemberSpec{{ID: "a", Site: "dallas", Address: "198.51.100.10"}},
	})
	table, err := Compile(d, Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	q := Query{Site: "dallas", Called: []byte("+12145550100"), Source: SourceKey{Transport: UDP, Source: netip.MustParseAddrPort("192.0.2.9:5060")}}
	if x := Explain(table, NewView(table), q); x.Direction != "inbound" || x.Ingress != "carrier" || len(x.Order) != 1 {
		t.Errorf("%+v", x)
	}
	if x := Decide(table, q); x.Direction != "inbound" || x.Code != 0 || len(x.Groups) != 1 {
		t.Errorf("%+v", x)
	}
	q.Source.Source = netip.MustParseAddrPort("192.0.2.8:5060")
	if x := Decide(table, q); x.Code != 401 {
		t.Errorf("%+v", x)
	}
}

// TestRequiredRegistration: a member that wants one gets no call while it has failed,
// monitored or not, in panic too.
func TestRequiredRegistration(t *testing.T) {
	table, err := Compile(accountDocument(AccountSpec{AOR: "sip:100@carrier.example", Realm: "r", HA1MD5: someHash, Register: true, Required: true}),
		Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	v := NewView(table)
	v.Addrs[0] = []netip.AddrPort{netip.MustParseAddrPort("192.0.2.10:5060")}
	if p := Plan(nil, table.Groups()[0], "dallas", v, Draw{}); len(p) != 1 || !p[0].Dialable {
		t.Errorf("%+v", p)
	}
	v.Lapsed, v.Panic["dallas"] = []bool{true}, true
	if p := Plan(nil, table.Groups()[0], "dallas", v, Draw{}); len(p) != 1 || p[0].Dialable || p[0].Cause != CauseNotRegistered {
		t.Errorf("%+v", p)
	}
}
