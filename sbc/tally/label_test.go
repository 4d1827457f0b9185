package tally

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// What decision servers call carriers becomes labels of metrics, which are text: a name that is cut is cut
// between two characters, and octets that are none are left out.
func TestNamesAreText(t *testing.T) {
	b := New(Config{})
	for _, name := range []string{strings.Repeat("a", maxName-1) + "\u00e9", "one\xfftwo", "\xff"} {
		b.Attempt(start, attempt(name))
	}
	if err := b.Heard("n1/1", "carrier x\xff", nil); err == nil {
		t.Error("a peer may tell of a name that is no text")
	}
	for _, r := range b.Rows(start.Add(time.Second), Hour) {
		if !utf8.ValidString(r.Name) || len(r.Name) > maxName {
			t.Errorf("%v %q", r.Scope, r.Name)
		}
	}
}
