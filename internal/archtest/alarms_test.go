package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// alarmName finds where the code names an alarm.
var alarmName = regexp.MustCompile(`\b[Aa]larm[A-Z]\w* *= "([a-z_]+)"`)

// TestAlarmsAreDocumented sees that who reads the name of an alarm at night finds it in a guide.
func TestAlarmsAreDocumented(t *testing.T) {
	s := source(t)
	paths, err := filepath.Glob(filepath.Join(s.root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllSubmatch(text, -1) {
			documented[string(m[1])] = true
		}
	}
	found := 0
	for _, f := range s.files {
		if f.Test {
			continue
		}
		for _, m := range alarmName.FindAllSubmatch(f.Text, -1) {
			found++
			if !documented[string(m[1])] {
				t.Errorf("%s: no guide says what to do about the alarm `%s`", f.Path, m[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d alarms found: how they are named has changed, and this test with it", found)
	}
}
