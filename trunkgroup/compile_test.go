package trunkgroup

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
)

// DEC-05: "b_timer default 4 s; progress default 10 s in member groups; max_pdd
// default 15 s for origination-customer; handoff_reserve default a third".
// DEC-04: handoff_on 408 and 503. S-035: advance_on. DEC-06: exhausted_code 503
// for providers.
func TestDEC05_Defaults(t *testing.T) {
	table := compile(t, testDocument())
	in, out, carrier := table.Group("acme-in"), table.Group("acme-out"), table.Group("carrier-a")
	want := Timers{
		BTimer: 4 * time.Second, Progress: 10 * time.Second, MaxPDD: 15 * time.Second, HandoffReserve: 5 * time.Second,
		Ring: 30 * time.Second, RetryAfterMax: 60 * time.Second,
	}
	if in.Timers != want {
		t.Errorf("timers %+v, want %+v", in.Timers, want)
	}
	if out.Timers.MaxPDD != 0 || out.Timers.HandoffReserve != 0 || carrier.Timers.MaxPDD != 0 {
		t.Error("max_pdd must be off unless for origination-customer")
	}
	if in.ExhaustedCode != 0 || carrier.ExhaustedCode != 503 {
		t.Errorf("exhausted codes %d and %d", in.ExhaustedCode, carrier.ExhaustedCode)
	}
	if got := in.AdvanceOn.Codes(); !reflect.DeepEqual(got, []int{408, 500, 502, 503, 504}) {
		t.Errorf("advance on %v", got)
	}
	if got := in.HandoffOn.Codes(); !reflect.DeepEqual(got, []int{408, 503}) {
		t.Errorf("hand off on %v", got)
	}
	if in.Limits.MaxDuration != 4*time.Hour || in.Method != LoadBalance || !in.PassiveCodes.Empty() {
		t.Errorf("defaults of %+v", in)
	}
}

func TestTimersOff(t *testing.T) {
	d := testDocument()
	d.TrunkGroups[0].Timers = TimersSpec{MaxPDD: Off, Ring: Off, BTimer: Duration(time.Second)}
	got := compile(t, d).Group("acme-in").Timers
	if got.MaxPDD != 0 || got.HandoffReserve != 0 || got.Ring != 0 || got.BTimer != time.Second {
		t.Errorf("timers %+v", got)
	}
}

func TestCompileMembers(t *testing.T) {
	table := compile(t, testDocument())
	for i, m := range table.Members() {
		if m.Index != i || table.Member(m.Key) != m || m.Group.Members == nil || m.Weight != 1 {
			t.Errorf("member %+v at %d", m, i)
		}
	}
	d2, a1, b := table.Member("acme-in/d2"), table.Member("acme-in/a1"), table.Member("carrier-b/d")
	if d2.Addr != addrPort("198.51.100.2:5060") || d2.Transport != UDP {
		t.Errorf("without a port: %+v", d2)
	}
	if a1.Addr != addrPort("[2001:db8::1]:5061") {
		t.Errorf("IPv6: %v", a1.Addr)
	}
	if b.FQDN != "gw.example.com" || b.Port != 0 || b.Addr.IsValid() || b.ServerName != "gw.example.com" {
		t.Errorf("by name: %+v", b)
	}
	in := table.Group("acme-in")
	if len(in.At("dallas")) != 2 || len(in.At("ashburn")) != 1 || in.At("houston") != nil {
		t.Error("members by site are wrong")
	}
	if got := table.PeerSites("dallas"); !reflect.DeepEqual(got, []string{"ashburn"}) {
		t.Errorf("peers %v", got)
	}
	if !reflect.DeepEqual(table.Sites(), []string{"dallas", "ashburn"}) || table.Version().Revision != 1 || table.Document() == nil {
		t.Error("table's own facts are wrong")
	}
	if table.Group("nobody") != nil || table.Member("nobody") != nil || table.PeerSites("nobody") != nil {
		t.Error("found what is not there")
	}
}

func TestCompileRefusesFaults(t *testing.T) {
	d := testDocument()
	d.TrunkGroups[0].Members[0].Site = "dalas"
	_, err := Compile(d, Version{})
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 1 {
		t.Fatalf("got %v", err)
	}
	want := `trunk_groups[0].members[0].site: there is no site "dalas"; did you mean "dallas"?`
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A secret never reaches a log or a formatted text by accident.
func TestCredentialHidesHashes(t *testing.T) {
	table := compile(t, testDocument())
	c, g := table.MatchCredential("sip.example.com", "acme")
	if c == nil || g.Name != "acme-out" || c.HA1MD5 != "0123456789abcdef0123456789abcdef" {
		t.Fatalf("credential %v of %v", c, g)
	}
	if c, g := table.MatchCredential("sip.example.com", "ACME"); c != nil || g != nil {
		t.Error("user names are case-sensitive")
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("auth", "credential", *c)
	text := log.String() + fmt.Sprintf("%v %+v %#v %s", *c, *c, *c, c)
	if strings.Contains(text, "0123456789abcdef") || !strings.Contains(text, "acme") {
		t.Errorf("logged: %s", text)
	}
}

func TestP12_Providers(t *testing.T) {
	table := compile(t, testDocument())
	out, globex := table.Group("acme-out"), table.Group("globex-out")
	for _, c := range []struct {
		group *Group
		e164  string
		want  string
	}{
		{globex, "+442079460000", "carrier-a, carrier-b"}, // without a plan: all, in document order
		{nil, "+12145550100", "carrier-a, carrier-b"},
		{out, "+13105550100", "carrier-a, carrier-b"},
		{out, "+12145550100", "carrier-b"}, // the longest prefix
		{out, "911", "carrier-a"},
		{out, "+442079460000", ""}, // the plan has no route
		{out, "911911", "carrier-a"},
		{out, "alice", ""},
	} {
		if got := names(table.Providers(c.group, []byte(c.e164))); got != c.want {
			t.Errorf("%s: %q, want %q", c.e164, got, c.want)
		}
	}
	number := []byte("+12145550100")
	if n := testing.AllocsPerRun(100, func() { table.Providers(out, number) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRoutePlanFallback(t *testing.T) {
	d := testDocument()
	d.RoutePlans[0].Routes = append(d.RoutePlans[0].Routes, RouteSpec{Prefix: "*", Providers: []string{"carrier-b"}})
	table := compile(t, d)
	for _, called := range []string{"+442079460000", "112", "alice"} {
		if got := names(table.Providers(table.Group("acme-out"), []byte(called))); got != "carrier-b" {
			t.Errorf("%s goes to %q", called, got)
		}
	}
}
