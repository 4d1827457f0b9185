package importer

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
)

// Bounds of one rule.
const (
	maxRule     = 1024
	maxPrefixes = 100
)

// errRule means that a rule begins with nothing that is a prefix.
var errRule = errors.New("does not begin with digits that could be a prefix")

// prefixesOf finds the prefixes of route plans that a rule of numbers means:
// "+1214", "911", or "*" for all. exact tells that they mean the same.
func prefixesOf(rule string) (prefixes []string, exact bool, err error) {
	if len(rule) > maxRule {
		return nil, false, errors.New("is longer than any rule")
	}
	re, err := syntax.Parse(rule, syntax.Perl)
	if err != nil {
		return nil, false, fmt.Errorf("is no regular expression: %w", err)
	}
	parts := flatten(re.Simplify())
	anchored := len(parts) > 0 && parts[0].Op == syntax.OpBeginText
	if anchored {
		parts = parts[1:]
	}
	if all(parts) {
		return []string{"*"}, true, nil
	}
	if !anchored {
		return nil, false, errors.New("is not anchored with ^, so that it fits in the middle of numbers")
	}
	starts := []string{""}
	for len(parts) > 0 {
		next, ok := choices(parts[0])
		if !ok || len(starts)*len(next) > maxPrefixes {
			break
		}
		var longer []string
		for _, s := range starts {
			for _, n := range next {
				longer = append(longer, s+n)
			}
		}
		starts, parts = longer, parts[1:]
	}
	ended := len(parts) == 1 && parts[0].Op == syntax.OpEndText
	return finishPrefixes(starts, ended, all(parts))
}

// finishPrefixes writes prefixes as route plans have them. ended: the rule names
// whole numbers.
func finishPrefixes(starts []string, ended, open bool) (prefixes []string, exact bool, err error) {
	exact = open
	for _, s := range starts {
		digits := strings.TrimPrefix(s, "+")
		switch {
		case digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits) > 15:
			return nil, false, errRule
		case s[0] != '+' && ended && len(digits) <= 6:
			prefixes = append(prefixes, digits) // a short number, as it is dialled
			exact = true
		default:
			prefixes = append(prefixes, "+"+digits)
			exact = exact && s[0] == '+'
		}
	}
	return sortedUnique(prefixes), exact, nil
}

// flatten makes one list of what stands one after the other.
func flatten(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpConcat:
		var out []*syntax.Regexp
		for _, sub := range re.Sub {
			out = append(out, flatten(sub)...)
		}
		return out
	case syntax.OpCapture:
		return flatten(re.Sub[0])
	case syntax.OpEmptyMatch:
		return nil
	}
	return []*syntax.Regexp{re}
}

// choices lists what a part may be, when that is few texts.
func choices(re *syntax.Regexp) ([]string, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, true
	case syntax.OpCharClass:
		var out []string
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > 9 {
				return nil, false
			}
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				out = append(out, string(c))
			}
		}
		return out, len(out) > 0 && len(out) < 10
	case syntax.OpQuest:
		// An optional plus stands for itself: numbers are E.164 inside.
		if sub := flatten(re.Sub[0]); len(sub) == 1 && sub[0].Op == syntax.OpLiteral && string(sub[0].Rune) == "+" {
			return []string{"+"}, true
		}
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			one := []string{""}
			for _, part := range flatten(sub) {
				next, ok := choices(part)
				if !ok || len(one)*len(next) > maxPrefixes {
					return nil, false
				}
				var longer []string
				for _, a := range one {
					for _, b := range next {
						longer = append(longer, a+b)
					}
				}
				one = longer
			}
			out = append(out, one...)
		}
		return out, len(out) <= maxPrefixes
	}
	return nil, false
}

// all tells whether the rest of a rule lets every number end as it likes.
func all(parts []*syntax.Regexp) bool {
	for i, re := range parts {
		switch re.Op {
		case syntax.OpStar, syntax.OpPlus:
			if sub := re.Sub[0]; sub.Op != syntax.OpAnyChar && sub.Op != syntax.OpAnyCharNotNL && !digitClass(sub) {
				return false
			}
		case syntax.OpEndText:
			if i == 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// digitClass tells whether a part is any digit.
func digitClass(re *syntax.Regexp) bool {
	return re.Op == syntax.OpCharClass && len(re.Rune) >= 2 && re.Rune[0] <= '0' && re.Rune[1] >= '9'
}
