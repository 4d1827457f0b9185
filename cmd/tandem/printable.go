package main

import (
	"strconv"
	"strings"
	"unicode"
)

// printable makes a cell fit for a terminal: what far ends name themselves must
// neither move its cursor nor turn its text round. Control characters, those of
// Unicode too, and what only changes the direction of text are shown as escapes.
func printable(cell string) string {
	if strings.IndexFunc(cell, dangerous) < 0 {
		return cell
	}
	var b strings.Builder
	for _, r := range cell {
		if !dangerous(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

func dangerous(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
