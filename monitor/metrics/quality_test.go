package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestD10_QualityMetrics(t *testing.T) {
	m := New(Info{}, Sources{Quality: func() []Quality {
		return []Quality{
			{Group: "carrier", Site: "dallas", Member: "a", Barred: true, Attempts: 8, Answered: 4, Delivered: 6, Short: 1, Ended: 3, Talk: 90 * time.Second},
			{Group: "carrier", Site: "dallas", Member: "b"},
		}
	}})
	member := &trunkgroup.Member{ID: "a", Site: "dallas", Group: &trunkgroup.Group{Name: "carrier"}}
	h := m.ForTable(&trunkgroup.Table{})
	for f := range faults {
		for range f {
			h.Member(member).Fault(f)
		}
	}
	lines := pageOf(t, m)
	const a, b = `{member="a",site="dallas",trunk_group="carrier"} `, `{member="b",site="dallas",trunk_group="carrier"} `
	for _, want := range []string{
		"tandem_quality_barred" + a + "1", "tandem_quality_barred" + b + "0", "tandem_quality_attempts" + a + "8", "tandem_quality_attempts" + b + "0",
		"tandem_quality_answer_ratio" + a + "0.5", "tandem_quality_effectiveness_ratio" + a + "0.75", "tandem_quality_short_ratio" + a + "0.25",
		"tandem_quality_call_duration_seconds" + a + "30",
		`tandem_route_attempt_faults_total{fault="carrier",member="a",site="dallas",trunk_group="carrier"} 4`,
		`tandem_route_attempt_faults_total{fault="caller",member="a",site="dallas",trunk_group="carrier"} 5`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, line := range lines {
		if strings.Contains(line, `_ratio{member="b"`) || strings.Contains(line, `fault="none"`) {
			t.Errorf("of nothing: %s", line)
		}
	}
}
