package main

import (
	"strings"
	"testing"
)

// Class 11 of docs/abuse.md: a table moves no cursor, whatever a far end calls
// itself.
func TestAbuse11_TablesMoveNoCursor(t *testing.T) {
	for cell, want := range map[string]string{
		"plain text":        "plain text",
		"Jürgen's PBX — 漢字": "Jürgen's PBX — 漢字",
		"\x1b[2Jgone":       `\x1b[2Jgone`,
		"a\u009b31mb":       `a\u009b31mb`,
		"a\tb\nc\rd":        `a\tb\nc\rd`,
		"\u202egnp.exe":     `\u202egnp.exe`,
		"a\u200bb":          `a\u200bb`,
	} {
		table := table{head: []string{"AGENT"}}
		table.add(cell)
		var b strings.Builder
		if err := table.write(&b); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != "AGENT\n"+want+"\n" {
			t.Errorf("%q became %q", cell, got)
		}
	}
}
