//go:build e2e

package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// TestMetricsPage makes a call that is handed off and reads what the node that
// took it says on its metrics page, which promtool must find well-formed.
func TestMetricsPage(t *testing.T) {
	w := theWorld(t)
	n := w.Node(lab.Dallas1)
	before := metricsOf(t, n)
	betaPBXs(t, lab.Ashburn, answers())
	pstnCall(t, n, betaNumber, peer.Complete(0))
	w.idle(t)
	after := metricsOf(t, n)
	for _, tc := range []struct {
		name   string
		labels []string
		rise   float64
	}{
		{"tandem_calls_total", []string{"direction=inbound", "trunk_group=beta-in", "result=answered"}, 1},
		{"tandem_handoffs_total", []string{"from_site=dallas", "to_site=ashburn", "direction=inbound", "result=answered"}, 1},
		{"tandem_route_attempts_total", []string{"trunk_group=beta-in", "site=dallas"}, 2},
		{"tandem_call_post_dial_delay_seconds_count", []string{"direction=inbound", "trunk_group=beta-in"}, 1},
	} {
		if got := after.Sum(tc.name, tc.labels...) - before.Sum(tc.name, tc.labels...); got != tc.rise {
			t.Errorf("%s%v rose by %v, want %v", tc.name, tc.labels, got, tc.rise)
		}
	}
	for _, tc := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"tandem_ready", nil, 1},
		{"tandem_trunk_group_members", []string{"trunk_group=acme-in", "state=active"}, 4},
		{"tandem_interconnect_peer_up", nil, 4},
		{"tandem_raft_has_leader", nil, 1},
		{"tandem_isolated", nil, 0},
	} {
		if got := after.Sum(tc.name, tc.labels...); got != tc.want {
			t.Errorf("%s%v is %v, want %v", tc.name, tc.labels, got, tc.want)
		}
	}
	named := func(s tandem.Sample) bool { return s.Name == "tandem_isolated" }
	if !slices.ContainsFunc(after, named) {
		t.Error("no tandem_isolated on the page")
	}
}

// metricsOf reads a node's metrics page and lets promtool check it.
func metricsOf(t testing.TB, n *tandem.Node) tandem.Metrics {
	t.Helper()
	status, page, err := n.Get("/metrics")
	if err != nil || status != 200 {
		t.Fatalf("status %d, %v", status, err)
	}
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(page)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
	m, err := tandem.ParseMetrics(page)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestHealthPages: a node that works is live and ready, the witness too.
func TestHealthPages(t *testing.T) {
	w := theWorld(t)
	for _, n := range w.Nodes {
		for _, path := range []string{"/livez", "/readyz"} {
			if status, body, err := n.Get(path); err != nil || status != 200 {
				t.Errorf("%s at %s: %d %s, %v", path, n.Name, status, body, err)
			}
		}
	}
}
