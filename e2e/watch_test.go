//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
)

// TestWatching lets Debian's Prometheus find the nodes by our service discovery and watch them by our rules, while a PBX,
// a carrier, a node, a site and the link go and come back. Each alert fires and clears, and the metrics tell of each
// failover who was left, where calls went, why, and after how long.
func TestWatching(t *testing.T) {
	w := theWorld(t)
	t.Cleanup(func() { w.settled(t) })
	p := startPrometheus(t, w.Node(lab.Dallas1), w.Node(lab.Ashburn1))
	t.Run("discovery", func(t *testing.T) { discovered(t, w, p) })
	t.Run("PBX", func(t *testing.T) { watchPBX(t, w, p) })
	t.Run("silent PBX", func(t *testing.T) { watchSilentPBX(t, w, p) })
	t.Run("carrier", func(t *testing.T) { watchCarrier(t, w, p) })
	t.Run("node", func(t *testing.T) { watchNode(t, w, p) })
	t.Run("site", func(t *testing.T) { watchSite(t, w, p) })
	t.Run("link", func(t *testing.T) { watchLink(t, w, p) })
	t.Run("dashboards", func(t *testing.T) { dashboardsAnswer(t, p) })
}

// discovered waits until every node is scraped, under its own name.
func discovered(t *testing.T, w *world, p *prometheus) {
	p.t = t
	eventually(t, time.Minute, "all nodes are scraped", func() error {
		list, err := p.ask(`up{job="tandem"} == 1`)
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for _, s := range list {
			found[fmt.Sprint(s.Labels["cluster"], s.Labels["site"], s.Labels["node"], s.Labels["role"], s.Labels["instance"])] = true
		}
		for _, n := range w.Nodes {
			role := "sbc"
			if n.Site == lab.Witness {
				role = "witness"
			}
			if !found[fmt.Sprint(w.Name, n.Site, n.Name, role, n.IPv4.String()+":9060")] {
				return fmt.Errorf("%s is not among %v", n.Name, found)
			}
		}
		if len(list) != len(w.Nodes) {
			return fmt.Errorf("%d targets for %d nodes", len(list), len(w.Nodes))
		}
		return nil
	})
	// What a node says of members of the other site is not renamed by the site of the node.
	if got := p.value(`count(tandem_trunk_member_up{site="ashburn",node="dallas-1",trunk_group="acme-in"})`); got != 2 {
		t.Errorf("dallas-1 tells of %v members of acme-in in Ashburn, want 2", got)
	}
	if got := p.value(`count({exported_site!=""})`); got != 0 {
		t.Errorf("%v series have two sites", got)
	}
}

// watchPBX loses one PBX of a site, then the other one.
func watchPBX(t *testing.T, w *world, p *prometheus) {
	p.t = t
	n := w.Node(lab.Dallas1)
	at := []string{`trunk_group="acme-in"`, `site="dallas"`}
	over := []string{`trunk_group="acme-in"`, `site="dallas"`, `peer_site="ashburn"`}
	failovers := `sum(tandem_failovers_total{scope="site",direction="inbound",trunk_group="acme-in",from_site="dallas",to_site="ashburn",reason="no_active_member"})`
	delays := `sum(tandem_failover_delay_seconds_count{scope="site",to_site="ashburn"})`
	waited := `sum(tandem_failover_delay_seconds_sum{scope="site",to_site="ashburn"})`
	lasted := `sum(tandem_site_handover_seconds_total{trunk_group="acme-in",peer_site="ashburn",node="dallas-1"})`

	w.farEnds["acme-in/dal-1"].sipp.Kill()
	p.fires("TandemTrunkGroupDegraded", at...)
	before, delayed, spent, length := p.value(failovers), p.value(delays), p.value(waited), p.value(lasted)
	begin := time.Now()
	w.farEnds["acme-in/dal-2"].sipp.Kill()
	p.fires("TandemNoActiveMember", at...)
	for range 3 {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
	}
	p.fires("TandemSiteHandingOff", over...)
	p.rises(before, 3, failovers)
	p.rises(delayed, 3, delays)
	if mean := (p.value(waited) - spent) / 3; mean > 1 {
		t.Errorf("calls waited %v s for a hand-off although the members were known to be down", mean)
	}
	since := time.Unix(int64(p.value(`tandem_site_handover_since_timestamp_seconds{trunk_group="acme-in",peer_site="ashburn",node="dallas-1"}`)), 0)
	if since.Before(begin.Add(-2*time.Second)) || since.After(time.Now()) {
		t.Errorf("the hand-over is said to go on since %v, the PBX was killed at %v", since, begin)
	}
	p.rises(length, 3, lasted)

	for _, m := range acmeMembers[lab.Dallas] {
		if err := w.farEnds[m].start(answers()); err != nil {
			t.Fatal(err)
		}
	}
	p.clears("TandemNoActiveMember", at...)
	p.clears("TandemTrunkGroupDegraded", at...)
	p.clears("TandemSiteHandingOff", over...)
}

// watchSilentPBX has two PBXs that nobody watches and that swallow calls: the metrics tell what the caller waited for each
// (b_timer of the group is a second), and that it then went to the other site.
func watchSilentPBX(t *testing.T, w *world, p *prometheus) {
	p.t = t
	for _, host := range []int{beta1, beta2} {
		swallow(t, lab.PBXDallas, lab.Host4(lab.PBXDallas, host))
	}
	betaPBXs(t, lab.Ashburn, answers())
	member := `sum(tandem_failovers_total{scope="member",trunk_group="beta-in",from_site="dallas",to_site="dallas",reason="no_response"})`
	site := `sum(tandem_failovers_total{scope="site",trunk_group="beta-in",from_site="dallas",to_site="ashburn",reason="no_response"})`
	waited := `sum(tandem_failover_delay_seconds_sum{scope="site",to_site="ashburn"})`
	toMember, toSite, spent := p.value(member), p.value(site), p.value(waited)
	pstnCall(t, w.Node(lab.Dallas2), betaNumber, peer.Complete(0))
	p.rises(toMember, 1, member)
	p.rises(toSite, 1, site)
	p.rises(spent, 2, waited)
}

// watchCarrier loses the first carrier of a route in both sites.
func watchCarrier(t *testing.T, w *world, p *prometheus) {
	p.t = t
	at := []string{`trunk_group="carrier-a"`}
	failovers := `sum(tandem_failovers_total{scope="group",direction="outbound",trunk_group="carrier-a",to_trunk_group="carrier-b",from_site="dallas",to_site="dallas",reason="no_active_member"})`
	before := p.value(failovers)
	members := []string{"carrier-a/dal", "carrier-a/ash"}
	for _, m := range members {
		w.farEnds[m].sipp.Kill()
	}
	p.fires("TandemTrunkGroupDown", at...)
	p.fires("TandemNoActiveMember", `trunk_group="carrier-a"`, `site="ashburn"`)
	call(t, fromAcme(w.Node(lab.Dallas2), peer.Complete(0)))
	p.rises(before, 1, failovers)
	for _, m := range members {
		if err := w.farEnds[m].start(answers()); err != nil {
			t.Fatal(err)
		}
	}
	p.clears("TandemTrunkGroupDown", at...)
	p.clears("TandemNoActiveMember", at...)
}

// watchNode loses one node of two.
func watchNode(t *testing.T, w *world, p *prometheus) {
	p.t = t
	n := w.Node(lab.Ashburn1) // one of the two that discovery asks
	n.Kill()
	p.fires("TandemNodeDown", `node="ashburn-1"`, `site="ashburn"`)
	if got := p.value(alert("TandemSiteDown")); got != 0 {
		t.Error("one node that is gone counts as its site")
	}
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	p.clears("TandemNodeDown")
	w.settled(t)
}

// watchSite loses both nodes of a site. Its targets stay, since the other site goes on to tell of them.
func watchSite(t *testing.T, w *world, p *prometheus) {
	p.t = t
	for _, place := range []lab.Place{lab.Ashburn1, lab.Ashburn2} {
		w.Node(place).Kill()
	}
	p.fires("TandemSiteDown", `site="ashburn"`)
	p.fires("TandemSiteUnreachable", `site="dallas"`, `peer_site="ashburn"`)
	p.fires("TandemNodeDown", `node="ashburn-2"`)
	since := p.value(`max(tandem_site_since_timestamp_seconds{site="dallas",peer_site="ashburn"})`)
	if age := time.Since(time.Unix(int64(since), 0)); age < 0 || age > time.Minute {
		t.Errorf("Ashburn is said to be away since %v", age)
	}
	pstnCall(t, w.Node(lab.Dallas1), acmeNumber, peer.Complete(0))
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	p.clears("TandemSiteDown")
	p.clears("TandemSiteUnreachable")
	p.clears("TandemNodeDown")
	w.settled(t)
}

// watchLink cuts a site off from all others: its calls go on, and it has no quorum. A change meanwhile makes nodes differ.
func watchLink(t *testing.T, w *world, p *prometheus) {
	p.t = t
	l := theLab(t)
	t.Cleanup(func() {
		l.HealSite(lab.Ashburn)
		w.restoreDocument(t)
		w.settled(t)
	})
	old, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	l.CutSite(lab.Ashburn)
	p.fires("TandemSiteUnreachable", `site="dallas"`, `peer_site="ashburn"`)
	p.fires("TandemSiteUnreachable", `site="ashburn"`, `peer_site="dallas"`)
	p.fires("TandemNoQuorum", `site="ashburn"`)
	for _, n := range w.SBCs() {
		pstnCall(t, n, acmeNumber, peer.Complete(0))
	}
	eventually(t, time.Minute, "a change on the majority's side", func() error {
		return apply(w.Node(lab.Dallas1), withNumber("+19725550180"))
	})
	p.fires("TandemConfigDrift")
	if got := p.value(alert("TandemNoQuorum", `site="dallas"`)) + p.value(alert("TandemSiteDown")); got != 0 {
		t.Error("the side of the majority is said to be without quorum, or a site that is cut off to be down")
	}
	l.HealSite(lab.Ashburn)
	w.equalTables(t, old)
	p.clears("TandemConfigDrift")
	p.clears("TandemNoQuorum")
	p.clears("TandemSiteUnreachable")
}

// variable is a variable of a dashboard inside of a matcher.
var variable = regexp.MustCompile(`"\$[a-z_]+"`)

// dashboardsAnswer evaluates every query of the dashboards where everything has just happened.
func dashboardsAnswer(t *testing.T, p *prometheus) {
	p.t = t
	files, err := filepath.Glob("../configs/grafana/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	total, silent := 0, 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var dashboard any
		if err := json.Unmarshal(text, &dashboard); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, expr := range expressions(dashboard) {
			expr = strings.NewReplacer("$__rate_interval", "15s", "$__range", "5m").Replace(variable.ReplaceAllString(expr, `".*"`))
			list, err := p.ask(expr)
			total++
			switch {
			case err != nil:
				t.Errorf("%s: %v", filepath.Base(f), err)
			case len(list) == 0:
				silent++
				t.Logf("%s: nothing to show for %s", filepath.Base(f), expr)
			}
		}
	}
	// What only shows a fault of the moment has nothing to show; most of the rest does.
	if total == 0 || silent > total/3 {
		t.Errorf("%d of %d queries have nothing to show", silent, total)
	}
}

// expressions are all values of "expr" in a JSON document.
func expressions(v any) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if text, ok := inner.(string); ok && k == "expr" {
				list = append(list, text)
			}
			list = append(list, expressions(inner)...)
		}
	case []any:
		for _, inner := range v {
			list = append(list, expressions(inner)...)
		}
	}
	return list
}
