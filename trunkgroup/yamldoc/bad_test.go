package yamldoc_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// wanted reads the fault comments of a bad document: fault text by line. A
// fault without a line of its own is announced by "fault-at-top" and stands at
// the line of the first key.
func wanted(text string) map[int][]string {
	want := make(map[int][]string)
	first := 0
	for i, line := range strings.Split(text, "\n") {
		number := i + 1
		if first == 0 && line != "" && line[0] != '#' {
			first = number
		}
		if _, list, ok := strings.Cut(line, "# fault: "); ok {
			want[number] = append(want[number], strings.Split(list, " | ")...)
		}
	}
	for line := range strings.Lines(text) {
		if list, ok := strings.CutPrefix(strings.TrimSpace(line), "# fault-at-top: "); ok {
			want[first] = append(want[first], list)
		}
	}
	return want
}

func TestBadConfigs(t *testing.T) {
	files, err := filepath.Glob("../../configs/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no bad configs:", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := yamldoc.Decode(filepath.Base(file), data)
			var faults trunkgroup.Faults
			if doc != nil || !errors.As(err, &faults) {
				t.Fatalf("no faults: %v", err)
			}
			compare(t, wanted(string(data)), faults)
		})
	}
}

// compare pairs the faults with those wanted; each stands for one.
func compare(t *testing.T, want map[int][]string, faults trunkgroup.Faults) {
	t.Helper()
next:
	for _, f := range faults {
		for i, text := range want[f.Line] {
			if strings.Contains(f.String(), text) {
				want[f.Line] = append(want[f.Line][:i], want[f.Line][i+1:]...)
				continue next
			}
		}
		t.Errorf("not announced: %s", f)
	}
	for line, texts := range want {
		for _, text := range texts {
			t.Errorf("line %d: no fault says %q", line, text)
		}
	}
}
