package metrics

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/tandem-sbc/tandem/monitor/cdrlog"
	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func testTable(t testing.TB, groups ...string) *trunkgroup.Table {
	t.Helper()
	d := &trunkgroup.Document{Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}, {Name: "ashburn"}}}
	for i, name := range groups {
		g := trunkgroup.GroupSpec{Name: name, Role: trunkgroup.PSTNProvider, Monitoring: trunkgroup.MonitoringSpec{Profile: "peeredge"}}
		for j, site := range []string{"dallas", "ashburn"} {
			g.Members = append(g.Members, trunkgroup.MemberSpec{ID: "gw-" + site, Site: site, Address: fmt.Sprintf("10.%d.%d.1:5060", i, j)})
		}
		d.TrunkGroups = append(d.TrunkGroups, g)
	}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Revision: 7})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// busy is a node on which one of everything has happened.
func busy(t testing.TB) *Metrics {
	table := testTable(t, "carrier-a", "carrier-b")
	store := verdict.NewStore()
	store.Put(start, verdict.Record{Key: verdict.Key{Member: "carrier-a/gw-dallas"}, Node: "dal-1", State: trunkgroup.Active, Kind: trunkgroup.Reply, Code: 405, Changes: 3})
	m := New(Info{Version: "1.0.0", Revision: "abc", Go: "go1.26", Cluster: "test", Site: "dallas", Node: "dal-1", Role: "node"}, Sources{
		Node: func() Node { return Node{Ready: true, Started: start} },
		Sites: func() []Site {
			return []Site{{Name: "ashburn", Up: true, Since: start, RTT: 35 * time.Millisecond}, {Name: "chicago"}}
		},
		Handovers: func() []Handover {
			return []Handover{{Group: "acme-in", Peer: "ashburn", Active: true, Since: start, Total: 90 * time.Second}, {Group: "beta-in", Peer: "ashburn"}}
		},
		Transactions: func() Transactions { return Transactions{Client: 3, Server: 2} },
		Alarms:       func() []string { return []string{"config_compile"} },
		MemberCalls:  func(*trunkgroup.Member) (int, int) { return 4, 30 },
		Board: func() *verdict.Board {
			return verdict.Build(verdict.Input{
				Now: start, Table: table, Store: store, Knobs: verdict.NewKnobs(), Nodes: []verdict.Node{{Name: "dal-1", Site: "dallas"}},
			})
		},
		Cluster: func() Cluster {
			return Cluster{
				Nodes: map[NodeState]int{{"dallas", "ready"}: 2, {"ashburn", "lost"}: 1}, Peers: []Peer{{Name: "ash-1", Site: "ashburn", Up: true, RTT: 35 * time.Millisecond, Since: start, Offset: -20 * time.Millisecond}},
				RaftState: "follower", HasLeader: true, HasQuorum: true, Stale: 2 * time.Second, Sum: 77, Term: 4, Commit: 9, Applied: 9, LastContact: time.Second, Version: table.Version(), VersionSince: start, Canary: "ashburn",
			}
		},
		CDR: map[string]func() cdrlog.Stats{"file": func() cdrlog.Stats { return cdrlog.Stats{Written: 5, Refused: 1, Backlog: 2, Failing: true} }},
		CDRSinks: func() []CDRSink {
			return []CDRSink{{Name: "billing", Sent: 7, Errors: 3, Gaps: 2, Backlog: 4, Waits: 90 * time.Second, Failing: true}}
		},
	})
	h := m.ForTable(table)
	g := h.Group(table.Group("carrier-a"))
	g.Started(Outbound)
	g.Started(Outbound)
	g.PDD(Outbound, 1500*time.Millisecond)
	g.Setup(Outbound, 4*time.Second)
	g.Ended(Outbound, Answered, time.Minute)
	h.Group(nil).Started(Inbound)
	h.Group(nil).Ended(Inbound, NoRoute, 0)
	h.Member(table.Member("carrier-a/gw-dallas")).Attempt(Class5xx)
	h.Member(table.Member("carrier-a/gw-ashburn")).Attempt(NotDialed)
	h.Group(table.Group("carrier-a")).Answer(503)
	h.Group(table.Group("carrier-a")).Answer(599) // no RFC knows it
	h.Member(table.Member("carrier-a/gw-dallas")).Enter()
	m.Failover(Failover{Scope: "group", Direction: Outbound, From: "carrier-a", To: "carrier-b", FromSite: "dallas", ToSite: "dallas", Reason: "no_response"})
	m.Failover(Failover{Scope: "member", Direction: Outbound, FromSite: "dallas", ToSite: "dallas", Reason: "capacity"})
	m.FailoverDelay("group", "dallas", 4*time.Second)
	m.ConfigApplied(20 * time.Millisecond)
	m.Handoff(Handoff{"dallas", "ashburn", Outbound, "no_response", "accepted"})
	m.Reject("no_route")
	m.AuthFailure("digest")
	m.HandoffHeaderStripped()
	m.LoopPrevented()
	m.ConfigRefused()
	m.Gauge("things", "Things in memory.", map[string]string{"kind": "client"}, func() float64 { return 3 })
	for range 2 {
		s := m.NewSIP()
		s.Request(In, "INVITE", trunkgroup.UDP)
		s.Transaction(true, "INVITE", 40*time.Millisecond)
		s.Transaction(false, "BYE", time.Hour)
		s.Request(In, "FOO", trunkgroup.TLS)
		s.Response(Out, "INVITE", 503)
		s.Response(Out, "INVITE", 5)
		s.Retransmission(In, "INVITE")
		s.ParseError(trunkgroup.TCP, 400)
		s.ParseError(trunkgroup.UDP, 0)
	}
	u := prober.Update{Target: prober.Target{Member: table.Member("carrier-a/gw-dallas")}, Health: trunkgroup.NewHealth(table.Group("carrier-a").Monitoring, start)}
	for _, r := range []trunkgroup.ProbeResult{
		{Kind: trunkgroup.Reply, Code: 405, RTT: time.Millisecond},
		{Kind: trunkgroup.Reply, Code: 503},
		{Kind: trunkgroup.Timeout},
		{Kind: trunkgroup.TransportError},
	} {
		u.Health.Probe(start, r)
		m.Probe(u)
	}
	return m
}

// page returns the lines of the scraped page.
func pageOf(t testing.TB, m *Metrics) []string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), "GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return strings.Split(w.Body.String(), "\n")
}

func TestPage(t *testing.T) {
	lines := pageOf(t, busy(t))
	for _, want := range []string{
		`tandem_build_info{goversion="go1.26",revision="abc",version="1.0.0"} 1`,
		`tandem_node_info{cluster="test",node="dal-1",role="node",site="dallas"} 1`,
		`tandem_ready 1`,
		`tandem_isolated 0`,
		`tandem_trunk_group_members{site="dallas",state="active",trunk_group="carrier-a"} 1`,
		`tandem_trunk_group_members{site="dallas",state="down",trunk_group="carrier-a"} 0`,
		`tandem_trunk_group_members{site="ashburn",state="unknown",trunk_group="carrier-b"} 1`,
		`tandem_trunk_member_up{member="gw-dallas",site="dallas",trunk_group="carrier-a"} 1`,
		`tandem_trunk_member_last_code{member="gw-dallas",site="dallas",trunk_group="carrier-a"} 405`,
		`tandem_trunk_member_transitions_total{member="gw-dallas",site="dallas",trunk_group="carrier-a"} 3`,
		`tandem_trunk_member_probes_total{result="ok",trunk_group="carrier-a"} 1`,
		`tandem_trunk_member_probes_total{result="bad_reply",trunk_group="carrier-a"} 1`,
		`tandem_trunk_member_probes_total{result="timeout",trunk_group="carrier-a"} 1`,
		`tandem_trunk_member_probes_total{result="transport_error",trunk_group="carrier-a"} 1`,
		`tandem_trunk_member_probe_duration_seconds_count{trunk_group="carrier-a"} 2`,
		`tandem_site_panic{site="dallas"} 0`,
		`tandem_site_drained{site="dallas"} 0`,
		`tandem_config_canary{site="ashburn"} 1`,
		`tandem_calls_active{direction="outbound",trunk_group="carrier-a"} 1`,
		`tandem_calls_total{direction="outbound",result="answered",trunk_group="carrier-a"} 1`,
		`tandem_calls_total{direction="inbound",result="no_route",trunk_group="unknown"} 1`,
		`tandem_call_post_dial_delay_seconds_bucket{direction="outbound",trunk_group="carrier-a",le="2"} 1`,
		`tandem_call_setup_seconds_sum{direction="outbound",trunk_group="carrier-a"} 4`,
		`tandem_call_duration_seconds_sum{direction="outbound",trunk_group="carrier-a"} 60`,
		`tandem_route_attempts_total{class="5xx",member="gw-dallas",site="dallas",trunk_group="carrier-a"} 1`,
		`tandem_route_attempts_total{class="not_dialed",member="gw-ashburn",site="ashburn",trunk_group="carrier-a"} 1`,
		`tandem_handoffs_total{direction="outbound",from_site="dallas",reason="no_response",result="accepted",to_site="ashburn"} 1`,
		`tandem_call_rejections_total{reason="no_route"} 1`,
		`tandem_auth_failures_total{reason="digest"} 1`,
		`tandem_handoff_headers_stripped_total 1`,
		`tandem_loops_prevented_total 1`,
		`tandem_config_refused_total 1`,
		`tandem_sip_requests_total{direction="in",method="INVITE",transport="udp"} 2`,
		`tandem_sip_requests_total{direction="in",method="OTHER",transport="tls"} 2`,
		`tandem_sip_responses_total{code="503",direction="out",method="INVITE"} 2`,
		`tandem_sip_retransmissions_total{direction="in",method="INVITE"} 2`,
		`tandem_sip_parse_errors_total{code="400",transport="tcp"} 2`,
		`tandem_sip_parse_errors_total{code="none",transport="udp"} 2`,
		`tandem_sip_transactions{kind="client"} 3`,
		`tandem_things{kind="client"} 3`,
		`tandem_cluster_nodes{site="dallas",state="ready"} 2`,
		`tandem_interconnect_peer_up{peer="ash-1",site="ashburn"} 1`,
		`tandem_interconnect_rtt_seconds{peer="ash-1",site="ashburn"} 0.035`,
		`tandem_raft_state{state="follower"} 1`,
		`tandem_raft_state{state="leader"} 0`,
		`tandem_raft_has_leader 1`,
		`tandem_config_revision 7`,
		`tandem_cdr_written_total{sink="file"} 5`,
		`tandem_cdr_failed_total{reason="refused",sink="file"} 1`,
		`tandem_cdr_backlog_records{sink="file"} 2`,
		`tandem_cdr_failing{sink="file"} 1`,
		`tandem_cdr_written_total{sink="billing"} 7`,
		`tandem_cdr_backlog_records{sink="billing"} 4`,
		`tandem_cdr_oldest_unsent_seconds{sink="billing"} 90`,
		`tandem_cdr_gaps_total{sink="billing"} 2`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("missing: %s", want)
		}
	}
	for _, line := range lines {
		if strings.Contains(line, `code="5"`) {
			t.Errorf("a code that is none: %s", line)
		}
	}
}

// Prometheus' own linters have nothing to say.
func TestLint(t *testing.T) {
	lint(t, busy(t))
}

// What only shows once a document asks for it is linted too.
func TestLintOfWhatIsNotAlwaysThere(t *testing.T) {
	m := New(Info{}, Sources{
		Limits: func() []Limit { return []Limit{{Scope: "group", Name: "a", Kind: "calls"}} },
		Registrations: func() Registrations {
			return Registrations{Bindings: map[[2]string]int{{"any", "reachable"}: 1}, AORs: 1}
		},
		Accounts: func() []Account { return []Account{{Member: "carrier/gw"}} },
		Fraud:    func() []Fraud { return []Fraud{{Customer: "acme", Rule: "all", HourMinutes: 2, DayMinutes: 3}} },
		Doors:    func() Doors { return Doors{} },
	})
	m.Register("challenged")
	m.AccountEvent("carrier", "answered")
	lint(t, m)
	if page := strings.Join(pageOf(t, m), "\n"); !strings.Contains(page, `tandem_fraud_call_seconds{customer="acme",rule="all",window="day"} 180`) {
		t.Errorf("two and three minutes are not in seconds:\n%s", page)
	}
}

func lint(t *testing.T, m *Metrics) {
	t.Helper()
	problems, err := testutil.GatherAndLint(m.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: its check was not run")
	}
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(strings.Join(pageOf(t, m), "\n"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil || out.Len() > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out.String())
	}
}

// A node without cluster, board and sinks still has a page.
func TestNoSources(t *testing.T) {
	m := New(Info{}, Sources{Board: func() *verdict.Board { return nil }})
	if problems, err := testutil.GatherAndLint(m.Gatherer()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// Counters go on over any number of tables, and a call that began under an old table finds its own.
func TestCountersSurviveTables(t *testing.T) {
	m := New(Info{}, Sources{})
	first, second := testTable(t, "a", "b"), testTable(t, "c", "b", "a")
	old := m.ForTable(first)
	old.Group(first.Group("a")).Started(Inbound)
	old.Member(first.Member("b/gw-dallas")).Attempt(Class2xx)
	h := m.ForTable(second)
	h.Group(second.Group("a")).Ended(Inbound, Answered, time.Second)
	if got := h.Group(first.Group("a")).Active(Inbound); got != 0 {
		t.Errorf("%d calls up", got)
	}
	if h.Group(first.Group("a")) != old.Group(second.Group("a")) {
		t.Error("a group has two sets of counters")
	}
	for _, member := range []*trunkgroup.Member{first.Member("b/gw-dallas"), second.Member("b/gw-dallas"), second.Member("a/gw-ashburn")} {
		if h.Member(member) != old.Member(member) {
			t.Errorf("member %s has two sets of counters", member.Key)
		}
	}
	h.Member(first.Member("b/gw-dallas")).Attempt(Class2xx)
	if !slices.Contains(pageOf(t, m), `tandem_route_attempts_total{class="2xx",member="gw-dallas",site="dallas",trunk_group="b"} 2`) {
		t.Error("attempts under two tables are not summed")
	}
}

// The number of member series is bounded.
func TestMemberSeriesAreBounded(t *testing.T) {
	const most = 300
	c := newCalls(prometheus.NewRegistry(), most)
	g := &trunkgroup.Group{Name: "g"}
	for i := range most + 100 {
		c.member(&trunkgroup.Member{ID: fmt.Sprint("m", i), Group: g, Site: "dallas"}).Attempt(Class2xx)
	}
	if n := len(c.members); n != most+1 {
		t.Errorf("%d series", n)
	}
	if got := c.members[[3]string{"g", "other", "dallas"}].attempts[Class2xx].Load(); got != 100 {
		t.Errorf("%d attempts of other members", got)
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{
		"answered": ResultOf(true, false, 200), "cancelled": ResultOf(false, true, 487), "busy": ResultOf(false, false, 486),
		"no_answer": ResultOf(false, false, 480), "no_route": ResultOf(false, false, 404), "failed": ResultOf(false, false, 503),
		"rejected": ResultOf(false, false, 603), "2xx": ClassOf(200), "3xx": ClassOf(302), "4xx": ClassOf(486), "5xx": ClassOf(503),
		"6xx": ClassOf(603), "no_response": ClassOf(0), "inbound": ParseDirection("inbound"), "outbound": ParseDirection("outbound"), "out": Out,
	} {
		if got.String() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	for i, name := range methodNames {
		if got := methodIndex(name); got != i {
			t.Errorf("%s has index %d, want %d", name, got, i)
		}
	}
}

// Counting is free of allocations and of races with scrapes.
func TestCountingAllocatesNothing(t *testing.T) {
	m := busy(t)
	table := testTable(t, "carrier-a", "carrier-b")
	h, s := m.ForTable(table), m.NewSIP()
	g, member := table.Groups()[0], table.Members()[0]
	count := func() {
		h.Group(g).Started(Inbound)
		h.Group(g).PDD(Inbound, time.Second)
		h.Group(g).Ended(Inbound, Answered, time.Second)
		h.Member(member).Attempt(Class2xx)
		s.Request(In, "INVITE", trunkgroup.UDP)
		s.Response(Out, "INVITE", 200)
	}
	if n := testing.AllocsPerRun(100, count); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				count()
				m.Handoff(Handoff{"dallas", "ashburn", Inbound, "no_response", "accepted"})
				m.ForTable(table)
			}
		})
	}
	for range 5 {
		pageOf(t, m)
	}
	wg.Wait()
}

func BenchmarkCall(b *testing.B) {
	m := New(Info{}, Sources{})
	table := testTable(b, "carrier-a")
	h, s := m.ForTable(table), m.NewSIP()
	g, member := table.Groups()[0], table.Members()[0]
	b.ReportAllocs()
	for b.Loop() {
		c := h.Group(g)
		c.Started(Inbound)
		c.PDD(Inbound, time.Second)
		c.Setup(Inbound, time.Second)
		c.Ended(Inbound, Answered, time.Second)
		h.Member(member).Attempt(Class2xx)
		for range 6 {
			s.Request(In, "INVITE", trunkgroup.UDP)
			s.Response(Out, "INVITE", 200)
		}
	}
}
