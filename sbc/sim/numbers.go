package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// Numbers is a list of telephone numbers and ranges of them.
type Numbers struct {
	spans []numberSpan
	count uint64
}

type numberSpan struct {
	prefix string // "+" or nothing
	first  uint64
	width  int
	count  uint64
	plain  string // a user part that is no number
}

// ParseNumbers reads numbers ("+12145550100"), ranges of equal length
// ("+12145550100..+12145550199") and plain user names.
func ParseNumbers(list ...string) (Numbers, error) {
	var n Numbers
	for _, s := range list {
		for part := range strings.SplitSeq(s, ",") {
			span, err := parseSpan(strings.TrimSpace(part))
			if err != nil {
				return Numbers{}, err
			}
			n.spans = append(n.spans, span)
			n.count += span.count
		}
	}
	return n, nil
}

func parseSpan(s string) (numberSpan, error) {
	first, last, isRange := strings.Cut(s, "..")
	if !isRange {
		if s == "" || strings.ContainsAny(s, " @;<>\"\r\n") {
			return numberSpan{}, fmt.Errorf("number %q: want digits, +digits or a user name", s)
		}
		return numberSpan{plain: s, count: 1}, nil
	}
	digits := strings.TrimPrefix(first, "+")
	a, errA := strconv.ParseUint(digits, 10, 63)
	b, errB := strconv.ParseUint(strings.TrimPrefix(last, "+"), 10, 63)
	if errA != nil || errB != nil || b < a || len(first) != len(last) || strings.HasPrefix(first, "+") != strings.HasPrefix(last, "+") {
		return numberSpan{}, fmt.Errorf("number range %q: want two numbers of equal length, the lower one first", s)
	}
	return numberSpan{prefix: first[:len(first)-len(digits)], first: a, width: len(digits), count: b - a + 1}, nil
}

// Count returns how many numbers there are.
func (n Numbers) Count() uint64 { return n.count }

// At returns the number with index i modulo Count, "" of an empty list.
func (n Numbers) At(i uint64) string {
	if n.count == 0 {
		return ""
	}
	i %= n.count
	for _, s := range n.spans {
		if i < s.count {
			return s.at(i)
		}
		i -= s.count
	}
	return ""
}

func (s numberSpan) at(i uint64) string {
	if s.plain != "" {
		return s.plain
	}
	var text [24]byte
	digits := strconv.AppendUint(text[:0], s.first+i, 10)
	b := make([]byte, 0, len(s.prefix)+s.width)
	b = append(b, s.prefix...)
	for range s.width - len(digits) {
		b = append(b, '0')
	}
	return string(append(b, digits...))
}
