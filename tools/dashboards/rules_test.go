package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/tools/dashboards/queries"
)

const (
	guide    = "../../docs/metrics.md"
	rules    = "../../configs/prometheus"
	runbooks = "../../docs/runbooks/alerts"
	address  = "https://github.com/tandem-sbc/tandem/blob/main/docs/runbooks/alerts/"
)

// catalogue is what nodes tell of, with the series of our recording rules.
func catalogue(t *testing.T) *queries.Catalogue {
	t.Helper()
	c, err := queries.ReadGuide(guide)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rulesOf(t, "recording.yaml") {
		if err := c.Add(r); err != nil {
			t.Error(err)
		}
	}
	return c
}

func rulesOf(t *testing.T, file string) []queries.Rule {
	t.Helper()
	list, err := queries.ReadRules(filepath.Join(rules, file))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("no rules in %s", file)
	}
	return list
}

// TestAlertsAskForWhatThereIs: expressions go by metrics and labels that nodes have, and so do the texts.
func TestAlertsAskForWhatThereIs(t *testing.T) {
	c := catalogue(t)
	for _, r := range rulesOf(t, "alerts.yaml") {
		have, err := c.Check(r.Expr)
		if err != nil {
			t.Errorf("%s: %v", r.Alert, err)
			continue
		}
		for name, text := range r.Annotations {
			if err := queries.CheckText(text, have); err != nil {
				t.Errorf("%s: %s: %v", r.Alert, name, err)
			}
		}
		for _, name := range []string{"summary", "impact"} {
			if r.Annotations[name] == "" {
				t.Errorf("%s has no %s", r.Alert, name)
			}
		}
		if s := r.Labels["severity"]; s != "page" && s != "ticket" {
			t.Errorf("%s has the severity %q", r.Alert, s)
		}
	}
}

// TestAlertsHaveRunbooks: each alert has one, with the parts that somebody needs at night, and no runbook is without alert.
func TestAlertsHaveRunbooks(t *testing.T) {
	known := map[string]bool{}
	for _, r := range rulesOf(t, "alerts.yaml") {
		known[r.Alert] = true
		if got := r.Annotations["runbook_url"]; got != address+r.Alert+".md" {
			t.Errorf("%s has the runbook %q", r.Alert, got)
		}
		text, err := os.ReadFile(filepath.Join(runbooks, r.Alert+".md"))
		if err != nil {
			t.Errorf("%s: %v", r.Alert, err)
			continue
		}
		for _, part := range []string{"# " + r.Alert + "\n", "\n## What it means\n", "\n## Who is affected\n", "\n## Look\n", "\n## Do\n", "\n## Over when\n", "\n```sh\n", "](README.md#when-a-command-does-not-answer)"} {
			if !strings.Contains(string(text), part) {
				t.Errorf("the runbook of %s has no %q", r.Alert, strings.TrimSpace(part))
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(runbooks, "Tandem*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".md"); !known[name] {
			t.Errorf("no alert %s for its runbook", name)
		}
	}
}

// expectation is one of the tests of promtool: of which alert, and whether it fires then.
var expectation = regexp.MustCompile(`ALERTS\{alertname="(\w+)", alertstate="firing"\}\n +eval_time: \w+\n +exp_samples:( \[\])?`)

// TestAlertsAreTested: for each alert there is a test in which it fires, and one in which it does not; and all of them hold.
func TestAlertsAreTested(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(rules, "tests", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range expectation.FindAllStringSubmatch(string(text), -1) {
			if m[2] == "" {
				fires[m[1]] = true
			} else {
				silent[m[1]] = true
			}
		}
	}
	for _, r := range rulesOf(t, "alerts.yaml") {
		if !fires[r.Alert] || !silent[r.Alert] {
			t.Errorf("%s: a test in which it fires: %v, in which it does not: %v", r.Alert, fires[r.Alert], silent[r.Alert])
		}
	}
	if testing.Short() {
		t.Skip("a week of samples takes a while")
	}
	promtool(t, append([]string{"test", "rules"}, files...)...)
}

// TestPrometheusTakesTheConfiguration lets Debian's Prometheus read the files.
func TestPrometheusTakesTheConfiguration(t *testing.T) {
	promtool(t, "check", "config", filepath.Join(rules, "prometheus.yaml"))
}

func promtool(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: make packages")
	}
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", args[0]+" "+args[1], err, out)
	}
}
