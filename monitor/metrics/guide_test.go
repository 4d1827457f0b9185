package metrics

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var guideRow = regexp.MustCompile("(?m)^\\| ((?:`tandem_[a-z0-9_]+`(?:, )?)+) \\| ([a-z_, ]*) ?\\|")

// TestGuideLabels: the tables of docs/metrics.md name the labels that series have. Rules and dashboards are judged by these tables.
func TestGuideLabels(t *testing.T) {
	guide, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{}
	for _, row := range guideRow.FindAllStringSubmatch(string(guide), -1) {
		for _, name := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(row[1], -1) {
			labels[name[1]] = strings.FieldsFunc(row[2], func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	families, err := busy(t).Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), namespace+"_") {
			continue
		}
		want, ok := labels[f.GetName()]
		if !ok { // one of the test's own; a test of internal/archtest keeps the names
			continue
		}
		for _, m := range f.GetMetric() {
			var got []string
			for _, l := range m.GetLabel() {
				got = append(got, l.GetName())
			}
			slices.Sort(want)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s has the labels %v, docs/metrics.md says %v", f.GetName(), got, want)
				break
			}
		}
		checked++
	}
	if checked < 30 {
		t.Errorf("only %d metrics were found", checked)
	}
}
