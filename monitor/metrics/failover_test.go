package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
)

// What a failover says stands on the page, and what carries calls beside it.
func TestFailoverPage(t *testing.T) {
	lines := pageOf(t, busy(t))
	unix := fmt.Sprintf("%v", float64(start.UnixMilli())/1000)
	for _, want := range []string{
		`tandem_failovers_total{direction="outbound",from_site="dallas",reason="no_response",scope="group",to_site="dallas",to_trunk_group="carrier-b",trunk_group="carrier-a"} 1`,
		`tandem_failovers_total{direction="outbound",from_site="dallas",reason="capacity",scope="member",to_site="dallas",to_trunk_group="none",trunk_group="none"} 1`,
		`tandem_failover_delay_seconds_bucket{scope="group",to_site="dallas",le="3"} 0`,
		`tandem_failover_delay_seconds_bucket{scope="group",to_site="dallas",le="4"} 1`,
		`tandem_site_up{peer_site="ashburn"} 1`,
		`tandem_site_up{peer_site="chicago"} 0`,
		`tandem_site_rtt_seconds{peer_site="ashburn"} 0.035`,
		`tandem_site_since_timestamp_seconds{peer_site="ashburn"} ` + unix,
		`tandem_site_handover_active{peer_site="ashburn",trunk_group="acme-in"} 1`,
		`tandem_site_handover_active{peer_site="ashburn",trunk_group="beta-in"} 0`,
		`tandem_site_handover_since_timestamp_seconds{peer_site="ashburn",trunk_group="acme-in"} ` + unix,
		`tandem_site_handover_seconds_total{peer_site="ashburn",trunk_group="acme-in"} 90`,
		`tandem_route_attempt_responses_total{code="503",trunk_group="carrier-a"} 1`,
		`tandem_route_attempt_responses_total{code="500",trunk_group="carrier-a"} 1`,
		`tandem_trunk_member_calls{member="gw-dallas",site="dallas",trunk_group="carrier-a"} 4`,
		`tandem_trunk_member_capacity{member="gw-dallas",site="dallas",trunk_group="carrier-a"} 30`,
		`tandem_start_time_seconds ` + unix,
		`tandem_alarm_active{alarm="config_compile"} 1`,
		`tandem_clock_offset_seconds{peer="ash-1",site="ashburn"} -0.02`,
		`tandem_interconnect_peer_since_timestamp_seconds{peer="ash-1",site="ashburn"} ` + unix,
		`tandem_raft_has_quorum 1`,
		`tandem_raft_stale_seconds 2`,
		`tandem_config_fingerprint 77`,
		`tandem_config_apply_seconds_count 1`,
		`tandem_sip_transactions{kind="server"} 2`,
		`tandem_sip_transaction_duration_seconds_bucket{kind="client",method="INVITE",le="0.025"} 0`,
		`tandem_sip_transaction_duration_seconds_bucket{kind="client",method="INVITE",le="0.05"} 2`,
		`tandem_sip_transaction_duration_seconds_bucket{kind="server",method="BYE",le="60"} 0`,
		`tandem_sip_transaction_duration_seconds_count{kind="server",method="BYE"} 2`,
		`tandem_sip_transaction_duration_seconds_sum{kind="server",method="BYE"} 7200`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %s; like it:\n%s", want, like(lines, want))
		}
	}
	for _, absent := range []string{
		`tandem_site_rtt_seconds{peer_site="chicago"}`, `tandem_site_since_timestamp_seconds{peer_site="chicago"}`,
		`tandem_site_handover_since_timestamp_seconds{peer_site="ashburn",trunk_group="beta-in"}`,
	} {
		if slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, absent) }) {
			t.Errorf("%s is there", absent)
		}
	}
}

func like(lines []string, want string) string {
	name, _, _ := strings.Cut(want, "{")
	name, _, _ = strings.Cut(name, " ")
	var found []string
	for _, l := range lines {
		if strings.HasPrefix(l, name) {
			found = append(found, l)
		}
	}
	return strings.Join(found, "\n")
}

// However many groups there are, the series of failovers are bounded, and none is lost.
func TestFailoversAreBounded(t *testing.T) {
	m := New(Info{}, Sources{})
	for i := range maxFailovers + 500 {
		m.Failover(Failover{Scope: "member", From: fmt.Sprint(i), To: fmt.Sprint(i), FromSite: "dallas", ToSite: "dallas", Reason: "no_response"})
	}
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "tandem_failovers_total" {
			continue
		}
		sum := 0.0
		for _, s := range f.GetMetric() {
			sum += s.GetCounter().GetValue()
		}
		if n := len(f.GetMetric()); n > maxFailovers+1 || sum != maxFailovers+500 {
			t.Errorf("%d series of %v failovers", n, sum)
		}
	}
}

// metrics.max_members: counters of further members are folded into other, their gauges left out.
func TestMaxMembers(t *testing.T) {
	table := testTable(t, "carrier-a")
	m := New(Info{MaxMembers: 1}, Sources{Board: func() *verdict.Board {
		return verdict.Build(verdict.Input{Now: start, Table: table, Store: verdict.NewStore(), Knobs: verdict.NewKnobs()})
	}})
	h := m.ForTable(table)
	for _, member := range table.Members() {
		h.Member(member).Attempt(Class2xx)
	}
	page := strings.Join(pageOf(t, m), "\n")
	if n := strings.Count(page, "\ntandem_trunk_member_up{"); n != 1 {
		t.Errorf("%d members are shown one by one", n)
	}
	if !strings.Contains(page, `tandem_route_attempts_total{class="2xx",member="other"`) || len(table.Members()) < 2 {
		t.Error("attempts of further members are not counted")
	}
}

// Members of a site that is not heard get no calls from here, whatever was heard of them last.
func TestMembersOfASiteThatIsGone(t *testing.T) {
	table := testTable(t, "carrier-a")
	up := true
	m := New(Info{}, Sources{
		Board: func() *verdict.Board {
			return verdict.Build(verdict.Input{Now: start, Table: table, Store: verdict.NewStore(), Knobs: verdict.NewKnobs()})
		},
		Sites: func() []Site { return []Site{{Name: "ashburn", Up: up}} },
	})
	for _, want := range []string{"1", "0"} {
		up = want == "1"
		page := pageOf(t, m)
		here, there := 0, 0
		for _, line := range page {
			if strings.HasPrefix(line, "tandem_trunk_member_up{") {
				switch {
				case strings.Contains(line, `site="dallas"`) && strings.HasSuffix(line, " 1"):
					here++
				case strings.Contains(line, `site="ashburn"`) && strings.HasSuffix(line, " "+want):
					there++
				}
			}
		}
		if here != 1 || there != 1 {
			t.Errorf("with the other site up=%s: %d here, %d there:\n%s", want, here, there, strings.Join(page, "\n"))
		}
	}
}

// RFC 3261 section 8.1.3.2: a final that nobody knows is the x00 of its class.
func TestFinalPlaces(t *testing.T) {
	p := newFinalPlaces()
	for code, want := range map[int]int{200: 200, 299: 200, 300: 300, 399: 300, 404: 404, 418: 400, 486: 486, 503: 503, 599: 500, 603: 603, 699: 600} {
		if got := finals[p[code-200]]; got != want {
			t.Errorf("%d counts as %d, want %d", code, got, want)
		}
	}
	if !slices.IsSorted(finals[:]) {
		t.Error("finals are not in order")
	}
	var g Group
	g.places = p
	g.Answer(100) // no final
	g.Answer(700)
}

// What a call costs beside the counters that it had before: nothing is allocated.
func TestCallCountersAllocateNothing(t *testing.T) {
	m := busy(t)
	h := m.ForTable(testTable(t, "carrier-a"))
	table := testTable(t, "carrier-a")
	s := m.NewSIP()
	member := h.Member(table.Member("carrier-a/gw-dallas"))
	f := Failover{Scope: "member", From: "carrier-a", To: "carrier-a", FromSite: "dallas", ToSite: "dallas", Reason: "no_response"}
	m.Failover(f)
	if n := testing.AllocsPerRun(100, func() {
		member.Enter()
		h.Group(table.Group("carrier-a")).Answer(200)
		s.Transaction(true, "INVITE", time.Second)
		member.Leave()
	}); n != 0 {
		t.Errorf("%v allocations of a call", n)
	}
}

func BenchmarkFailover(b *testing.B) {
	m := New(Info{}, Sources{})
	f := Failover{Scope: "site", From: "acme-in", To: "acme-in", FromSite: "dallas", ToSite: "ashburn", Reason: "no_response"}
	b.ReportAllocs()
	for b.Loop() {
		m.Failover(f)
	}
}

func BenchmarkTransaction(b *testing.B) {
	s := New(Info{}, Sources{}).NewSIP()
	b.ReportAllocs()
	for b.Loop() {
		s.Transaction(true, "INVITE", 300*time.Millisecond)
	}
}
