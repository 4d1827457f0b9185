package trunkgroup

import (
	"errors"
	"fmt"
	"strings"
)

// PatternKind says how a Pattern covers numbers.
type PatternKind uint8

// The kinds.
const (
	Exact  PatternKind = 1 // +12145550100
	Prefix PatternKind = 2 // +1469555*
	Range  PatternKind = 3 // +12145550100..+12145550199, both ends inside
)

// Pattern is a set of telephone numbers, in packed form. Patterns of equal
// meaning are equal with ==.
type Pattern struct {
	Kind      PatternKind
	low, high number // the same but for a Range
}

// ParsePattern reads an E.164 pattern: "+12145550100", "+1469555*" or
// "+12145550100..+12145550199". Both ends of a range have equally many digits.
func ParsePattern(s string) (Pattern, error) {
	p, err := parsePattern(s)
	if err == nil && p.low.local() {
		err = errors.New("does not begin with +")
	}
	return p, err
}

// ParseLocalPattern reads an exact or prefix pattern of a number that is no
// E.164 number: "911" or "0800*".
func ParseLocalPattern(s string) (Pattern, error) {
	p, err := parsePattern(s)
	switch {
	case err != nil:
	case !p.low.local():
		err = errors.New("begins with +")
	case p.Kind == Range:
		err = errors.New("is a range")
	}
	return p, err
}

func parsePattern(s string) (Pattern, error) {
	if low, high, ok := strings.Cut(s, ".."); ok {
		return parseRange(low, high)
	}
	kind := Exact
	if rest, ok := strings.CutSuffix(s, "*"); ok {
		kind, s = Prefix, rest
	}
	n, err := packText(s)
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{Kind: kind, low: n, high: n}, nil
}

func parseRange(low, high string) (Pattern, error) {
	a, err := packText(low)
	if err != nil {
		return Pattern{}, fmt.Errorf("low end: %w", err)
	}
	b, err := packText(high)
	if err != nil {
		return Pattern{}, fmt.Errorf("high end: %w", err)
	}
	switch {
	case a.length() != b.length() || a.local() != b.local():
		return Pattern{}, fmt.Errorf("ends %q and %q differ in length", low, high)
	case a > b:
		return Pattern{}, fmt.Errorf("low end %q is above high end %q", low, high)
	case a == b:
		return Pattern{Kind: Exact, low: a, high: a}, nil
	}
	return Pattern{Kind: Range, low: a, high: b}, nil
}

func packText(s string) (number, error) {
	n, ok := pack(s)
	if ok {
		return n, nil
	}
	digits := strings.TrimPrefix(s, "+")
	switch {
	case digits == "":
		return 0, errors.New("has no digits")
	case strings.Trim(digits, "0123456789") != "":
		return 0, fmt.Errorf("%q is not + and digits", s)
	}
	return 0, fmt.Errorf("%q has more than %d digits", s, maxDigits)
}

// Matches reports whether the pattern covers the number, which begins with +
// when it is an E.164 number.
func (p Pattern) Matches(user []byte) bool {
	n, ok := pack(user)
	return ok && p.covers(n)
}

func (p Pattern) covers(n number) bool {
	if p.Kind == Prefix && n.length() > p.low.length() {
		n = n.cut(p.low.length())
	}
	return p.low <= n && n <= p.high
}

// String returns what ParsePattern reads.
func (p Pattern) String() string {
	switch p.Kind {
	case Exact:
		return p.low.String()
	case Prefix:
		return p.low.String() + "*"
	case Range:
		return p.low.String() + ".." + p.high.String()
	}
	return ""
}
