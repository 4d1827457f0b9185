package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recordField finds where package cdr names a field of the JSON form.
var recordField = regexp.MustCompile(`\bw\.(integer|boolean|text|optional|time|address|key)\("([a-z0-9_]+)"`)

// TestRecordFieldsAreDocumented keeps docs/cdr.md whole.
func TestRecordFieldsAreDocumented(t *testing.T) {
	s := source(t)
	guide, err := os.ReadFile(filepath.Join(s.root, "docs", "cdr.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range s.files {
		if f.Dir != "cdr" || f.Test {
			continue
		}
		for _, m := range recordField.FindAllSubmatch(f.Text, -1) {
			names := []string{string(m[2])}
			if string(m[1]) == "address" {
				names = []string{names[0] + "_ip", names[0] + "_port"}
			}
			for _, name := range names {
				n++
				if !strings.Contains(string(guide), "`"+name+"`") {
					t.Errorf("docs/cdr.md says nothing of %s", name)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d fields found in package cdr: how they are written has changed, and this test with it", n)
	}
}
