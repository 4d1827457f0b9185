package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// spares holds that calls of a node pass the barred member over, and that its metrics
// say so. Sixteen calls at each member came before.
func (b *box) spares() {
	b.t.Helper()
	// What is shown is newer than what calls go by, by moments: two calls in turn that
	// both reach the good one say that calls go by it.
	answered, refused := 16, 16
	b.wait("calls that go by it", func() bool {
		n := b.calls(2)
		answered, refused = answered+n, refused+2-n
		return n == 2
	})
	if n := b.calls(10); n != 10 {
		b.t.Errorf("%d of 10 calls answered while the bad one is out", n)
	}
	answered += 10
	metrics := b.text("/metrics")
	for _, want := range []string{
		`tandem_quality_barred{member="bad",site="dallas",trunk_group="acme-in"} 1`,
		`tandem_quality_answer_ratio{member="good",site="dallas",trunk_group="acme-in"} 1`,
		`tandem_quality_effectiveness_ratio{member="good",site="dallas",trunk_group="acme-in"} 1`,
		fmt.Sprintf(`tandem_route_attempt_faults_total{fault="callee",member="bad",site="dallas",trunk_group="acme-in"} %d`, refused),
		fmt.Sprintf(`tandem_route_attempt_faults_total{fault="none",member="good",site="dallas",trunk_group="acme-in"} %d`, answered),
	} {
		if !strings.Contains(metrics, want) {
			b.t.Errorf("metrics lack %s", want)
		}
	}
}

// D10: calls of two nodes are judged together, and the member that does badly gets
// none at either, until it is the last one, or an operator or time says otherwise.
func TestD10_QualityIsJudgedOverAllNodes(t *testing.T) {
	farEnd := func(name string, b sim.Behaviour) *sim.FarEnd {
		f, err := sim.StartFarEnd(sim.FarEndConfig{
			CalleeConfig: sim.CalleeConfig{Name: name, Role: sim.PBX, Behaviour: b}, Listen: []sim.Listen{{Addr: addrPort("127.0.0.1:0")}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	good, bad := farEnd("good", sim.AnswersAtOnce()), farEnd("bad", sim.Busy())
	defer func() { _, _ = good.Close(), bad.Close() }()
	boxes := newClusterOf(t, "127.88.47", fmt.Sprintf(`cluster: test
sites: [{name: dallas, peers: [ashburn]}, {name: ashburn, peers: [dallas]}]
trunk_groups:
  - name: acme-in
    role: origination-customer
    numbers: ["+1214555*"]
    quality: {min_answer_ratio: 30, min_samples: 20, window: 1m, cooldown: 5m}
    members:
      - {id: bad, site: dallas, address: "%s"}
      - {id: good, site: dallas, address: "%s"}
  - name: carrier
    role: pstn-provider
    sources: [{ip: 127.0.0.1}]
    members: [{id: gw, site: dallas, address: "192.0.2.1:5060"}]
`, bad.Addr(0), good.Addr(0)), 2)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	for _, b := range boxes {
		b.wait("readiness", func() bool { return b.ask("GET", "/readyz", nil, nil) == 200 })
		b.wait("the other", func() bool { return b.peersUp() == 1 })
	}
	// Sixteen of each node reach the bad one: too few for either to tell.
	for _, b := range boxes {
		if n := b.calls(32); n != 16 {
			t.Fatalf("%d of 32 calls answered", n)
		}
	}
	status := func(b *box) (s admin.Member) {
		var list admin.MemberList
		if b.ask("GET", "/v1/members", nil, &list) == 200 {
			i := slices.IndexFunc(list.Members, func(m admin.Member) bool { return m.Group == "acme-in" && m.ID == "bad" })
			s = list.Members[max(i, 0)]
		}
		return s
	}
	for _, b := range boxes {
		b.wait("the cooldown", func() bool { return status(b).State == "cooldown" })
		if s := status(b); !strings.HasPrefix(s.Reason, "answer ratio 0 % of ") || !strings.HasSuffix(s.Reason, " calls is below 30 %") || s.Since == nil {
			t.Errorf("%+v", s)
		}
		b.spares()
	}
	// The last one that could take calls goes on to get them, and somebody is told.
	b := boxes[0]
	if _, err := b.app.watch.monitor.SetState("acme-in/good", trunkgroup.AdminDisabled, "test", "repair"); err != nil {
		t.Fatal(err)
	}
	for _, b := range boxes {
		b.wait("the last one", func() bool { return status(b).State == "active" })
		b.wait("the alarm", func() bool { return strings.Contains(fmt.Sprint(b.app.node.Status().Alarms), alarmQuality) })
	}
	if _, err := b.app.watch.monitor.SetState("acme-in/good", trunkgroup.AdminUp, "test", "repaired"); err != nil {
		t.Fatal(err)
	}
	for _, b := range boxes {
		b.wait("the end of the alarm", func() bool { return !strings.Contains(fmt.Sprint(b.app.node.Status().Alarms), alarmQuality) })
		b.wait("the cooldown, again", func() bool { return status(b).State == "cooldown" })
	}
	// An operator's word ends the bar on both, and what was counted is forgotten.
	if _, err := b.app.watch.monitor.SetState("acme-in/bad", trunkgroup.AdminUp, "test", "mended"); err != nil {
		t.Fatal(err)
	}
	for _, b := range boxes {
		b.wait("the end of the bar", func() bool { return status(b).State == "active" })
	}
	again := time.Now().Add(3 * qualityTick)
	b.wait("some judgements", func() bool { return time.Now().After(again) })
	for _, b := range boxes {
		if s := status(b); s.State != "active" {
			t.Errorf("barred by the counts of before: %+v", s)
		}
	}
}
