package trunkgroup

import (
	"strings"
	"testing"
)

func TestR03_CalledMember(t *testing.T) {
	d := registrationDocument()
	rooms := &d.TrunkGroups[5].Members
	*rooms = append(*rooms, MemberSpec{ID: "nine", Registration: &RegistrationSpec{AOR: "sip:911@sip.local", Users: []string{"rooms"}}})
	table := compile(t, d)
	in, out, other := table.Group("initech-in"), table.Group("initech-out"), table.Group("umbrella-out")
	for _, c := range []struct {
		customer   *Group
		user, host string
		want       string
	}{
		{out, "Conference", "sip.local", "initech-in/conf"},
		{out, "Conference", "SIP.Local", "initech-in/conf"},
		{in, "Conference", "sip.local", "initech-in/conf"},
		{out, "conference", "sip.local", ""}, // users are told apart by case (RFC 3261 19.1.4)
		{out, "Conference", "sip.example", ""},
		{other, "Conference", "sip.local", ""},                   // somebody else's PBX
		{table.Group("acme-out"), "Conference", "sip.local", ""}, // of a group without a customer
		{nil, "Conference", "sip.local", ""},
		{out, "", "sip.local", ""},
		{out, "911", "sip.local", ""}, // DEC-17: no PBX stands between a caller and help
		{out, strings.Repeat("x", 300), "sip.local", ""},
	} {
		got := ""
		if m := table.CalledMember(c.customer, []byte(c.user), []byte(c.host)); m != nil {
			got = m.Key
		}
		if got != c.want {
			t.Errorf("sip:%s@%s is %q, want %q", c.user, c.host, got, c.want)
		}
	}
	user, host := []byte("Conference"), []byte("SIP.local")
	if n := testing.AllocsPerRun(100, func() { table.CalledMember(out, user, host) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestR03_ExplainSaysTheSameOfAnAOR(t *testing.T) {
	table := compile(t, registrationDocument())
	v := NewView(table)
	q := Query{Site: "dallas", Realm: "SIP.local", Username: "initech", Called: []byte("sip:Conference@SIP.local:5060;transport=tcp")}
	e := Explain(table, v, q)
	want := `source: digest user "initech" of realm "SIP.local" belongs to group initech-out
route: initech-in/conf registers as sip:Conference@sip.local: like a call from outside to initech-in
plan: initech-in in dallas by load-balance: 0 to dial, 2 not
hand-off: ashburn may be asked next, its members of initech-in: 2 active
`
	if got := explained(e); got != want || e.Direction != "inbound" || e.Ingress != "initech-out" || e.Called != "sip:Conference@sip.local" {
		t.Errorf("got\n%swant\n%s%+v", got, want, e)
	}
	if d := Decide(table, q); len(d.Groups) != 1 || d.Groups[0].Name != "initech-in" || d.Called != "sip:Conference@sip.local" {
		t.Errorf("decided %+v", d)
	}
	q.Username, q.Realm = "rooms", "sip.local"
	if d := Decide(table, q); d.Direction != "inbound" || len(d.Groups) != 1 {
		t.Errorf("a registered user does not reach its customer's PBX: %+v", d)
	}
	q.Called = []byte("+13105550100")
	if e := Explain(table, v, q); e.Code != 403 || !strings.Contains(explained(e), "nobody else: 403") {
		t.Errorf("P-29: a registration opened a door to the PSTN: %+v", e)
	}
	q = Query{Site: "dallas", Realm: "umbrella.example", Username: "rooms", Called: []byte("sip:Conference@sip.local")}
	if d := Decide(table, q); d.Direction != "outbound" {
		t.Errorf("a stranger reaches the PBX: %+v", d)
	}
}
