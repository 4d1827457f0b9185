package cdrquery

import "strings"

// maxNumber bounds a number in octets: what is longer is cut, on both sides of a comparison.
const maxNumber = 64

// Number brings a number into the form in which numbers are compared: parameters, the plus
// and the signs that people write between digits are gone, letters are small. What a
// far end sent that is no number at all stays as it is otherwise, so that it can be asked for.
func Number(s string) string {
	s, _, _ = strings.Cut(s, ";")
	s = strings.TrimPrefix(strings.TrimSpace(s), "+")
	if len(s) > maxNumber {
		s = s[:maxNumber]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-' || r == '.' || r == '(' || r == ')':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Pattern is a number that is asked for: a whole number, or, with a star at its end,
// how it begins.
type Pattern struct {
	Digits string
	Prefix bool
}

// ParsePattern reads what an operator writes.
func ParsePattern(s string) Pattern {
	s = strings.TrimSpace(s)
	begins, prefix := strings.CutSuffix(s, "*")
	return Pattern{Number(begins), prefix}
}

// Match says whether one of the forms of a number is asked for.
func (p Pattern) Match(forms []string) bool {
	for _, f := range forms {
		if f == p.Digits || p.Prefix && strings.HasPrefix(f, p.Digits) {
			return true
		}
	}
	return false
}
