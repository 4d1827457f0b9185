package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// member finds one in the list that the node shows now.
func (b *box) member(key string) *admin.Member {
	b.t.Helper()
	var list admin.MemberList
	if code := b.ask(http.MethodGet, "/v1/members", nil, &list); code != http.StatusOK {
		b.t.Fatalf("the list of members: %d", code)
	}
	for i := range list.Members {
		if m := &list.Members[i]; m.Group+"/"+m.ID == key {
			return m
		}
	}
	b.t.Fatalf("%s is not in the list of %d members", key, len(list.Members))
	return nil
}

// C5, K-17: "We must really show: last_probe_at, last_result(code/rtt), last_success_at, last_change_at, flaps_1h"; every member that is
// configured is there as soon as the node answers.
func TestC05_MemberList(t *testing.T) {
	pbx, err := sim.StartFarEnd(sim.FarEndConfig{
		CalleeConfig: sim.CalleeConfig{Name: "pbx", Role: sim.PBX, Behaviour: sim.AnswersAtOnce()},
		Listen:       []sim.Listen{{Addr: addrPort("127.0.0.1:0")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(t, "127.88.9.1", document(pbx.Addr(0).String()))
	b.start()
	defer b.stop()
	b.wait("a table", func() bool { return b.app.watch.monitor.Board() != nil })
	if m := b.member("carrier/gw"); m.State != "active" || m.Reason != "not monitored" || m.Direction != "both" || m.Weight != 1 || m.Share != 100 {
		t.Errorf("%+v", m)
	}
	b.wait("a probe", func() bool {
		return b.member("acme-in/pbx").State == "active" && b.member("acme-in/pbx").LastGood != nil
	})
	m := b.member("acme-in/pbx")
	if m.LastProbe == nil || m.Since == nil || m.Flaps != 0 || m.LatencyMillis <= 0 || len(m.Targets) != 1 || m.Targets[0].Code != 200 ||
		m.Targets[0].Latency == nil || m.Targets[0].Latency.Replies == 0 {
		t.Errorf("%+v", m)
	}
	if err := pbx.Close(); err != nil {
		t.Fatal(err)
	}
	b.wait("the end of the PBX", func() bool { return b.member("acme-in/pbx").State == "down" })
	m = b.member("acme-in/pbx")
	if m.Flaps != 1 || m.CallsSent || !strings.HasPrefix(m.Reason, "probe failed: ") || m.LastGood == nil || !m.LastProbe.After(*m.LastGood) {
		t.Errorf("%+v", m)
	}
	page := b.text("/metrics")
	for _, want := range []string{
		`tandem_trunk_member_flaps{member="pbx",site="dallas",trunk_group="acme-in"} 1`,
		`tandem_trunk_member_latency_seconds{member="pbx",site="dallas",trunk_group="acme-in"}`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}
