package main

import (
	"strings"
	"testing"
)

// A number that is none for a deck is told how to be one.
func TestQuoteHint(t *testing.T) {
	for number, want := range map[string]string{"12145550100": "with +", "911": "with +", "+12145550100": "deck list"} {
		if hint := quoteHint(number); !strings.Contains(hint, want) {
			t.Errorf("%s: %s", number, hint)
		}
	}
}
