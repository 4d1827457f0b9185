package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// metricName finds where monitor/metrics names a metric, and guideName where the guide does.
var (
	metricName = regexp.MustCompile(`(?:\b(?:desc|constant|counter|histogram)\(|\bnewCached\(r, |\bName: )"([a-z][a-z0-9_]+)"`)
	guideName  = regexp.MustCompile("`tandem_([a-z0-9_]+)`")
)

// TestMetricsAreDocumented keeps docs/metrics.md and the metrics of the code equal.
func TestMetricsAreDocumented(t *testing.T) {
	s := source(t)
	guide, err := os.ReadFile(filepath.Join(s.root, "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented, inCode := map[string]bool{}, map[string]bool{}
	for _, m := range guideName.FindAllSubmatch(guide, -1) {
		documented[string(m[1])] = true
	}
	for _, f := range s.files {
		if f.Dir != "monitor/metrics" || f.Test {
			continue
		}
		for _, m := range metricName.FindAllSubmatch(f.Text, -1) {
			inCode[string(m[1])] = true
		}
	}
	for name := range inCode {
		if !documented[name] {
			t.Errorf("docs/metrics.md says nothing of tandem_%s", name)
		}
	}
	for name := range documented {
		if !inCode[name] {
			t.Errorf("docs/metrics.md names tandem_%s, which no code makes", name)
		}
	}
	if len(inCode) < 10 {
		t.Errorf("only %d metrics found in monitor/metrics: how they are named has changed, and this test with it", len(inCode))
	}
}
