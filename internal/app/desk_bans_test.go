package app

import (
	"strings"
	"testing"
)

// What is no network says which one was meant.
func TestBanPrefixesAreExplained(t *testing.T) {
	for text, want := range map[string]string{
		"198.51.100.7/24":  "write 198.51.100.0/24 for all of it, 198.51.100.7 for the address alone",
		"2001:db8::7/48":   "write 2001:db8::/48 for all of it",
		"everybody":        "write it like 198.51.100.7 or 198.51.100.0/28",
		"0.0.0.0/0":        "write it like",
		"198.51.100.7:506": "write it like",
	} {
		if _, err := prefixOf(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if p, err := prefixOf("198.51.100.7"); err != nil || p.Bits() != 32 {
		t.Errorf("%v %v", p, err)
	}
}
