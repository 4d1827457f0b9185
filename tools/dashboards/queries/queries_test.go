package queries

import (
	"strings"
	"testing"
)

const guide = "../../../docs/metrics.md"

// TestFaultsAreFound: what is wrong with a query is said, by the name of what is not there.
func TestFaultsAreFound(t *testing.T) {
	c, err := ReadGuide(guide)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(Rule{Record: "trunk_group:tandem_members_up:sum", Expr: "sum by (trunk_group) (tandem_trunk_member_up)"}); err != nil {
		t.Fatal(err)
	}
	for expr, want := range map[string]string{
		`sum by (trunk_group) (`:                           "parse error",
		`tandem_trunk_members_up`:                          "no node tells of",
		`tandem_trunk_member_up{group="x"}`:                "no label group",
		`sum by (trunkgroup) (tandem_trunk_member_up)`:     "no label trunkgroup",
		`trunk_group:tandem_members_up:sum{site="dallas"}`: "no label site",
		`sum by (trunk_group) (tandem_trunk_member_up) / sum by (site) (tandem_site_drained)`:        "never meets",
		`histogram_quantile(0.9, sum by (trunk_group) (rate(tandem_call_setup_seconds_bucket[5m])))`: "needs le",
		`rate(tandem_calls_total[$__rate_interval]) and on (peer) tandem_clock_offset_seconds`:       "no label peer",
	} {
		if _, err := c.Check(expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", expr, err, want)
		}
	}
	for expr, want := range map[string]string{
		`sum by (site, trunk_group) (rate(tandem_calls_total{result="failed"}[5m])) > 0`:    "site, trunk_group",
		`sum without (state, role) (tandem_trunk_group_members)`:                            "cluster, instance, job, node, site, trunk_group",
		`histogram_quantile(0.9, sum by (le) (rate(tandem_call_setup_seconds_bucket[5m])))`: "",
		`up{job="tandem"} == 0`: "cluster, instance, job, node, role, site",
	} {
		if got, err := c.Check(expr); err != nil || got.String() != want {
			t.Errorf("%s: labels %q, %v; want %q", expr, got, err, want)
		}
	}
	if err := CheckText("{{ $labels.member }} of {{site}}", setOf("site")); err == nil {
		t.Error("a text with a label that is not there is taken")
	}
}
