package trunkgroup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// csvFaults is the first faults of a list; the others are counted by the caller.
type csvFaults struct {
	list Faults
	most int
}

func (f *csvFaults) add(line int, problem, remedy string) {
	if len(f.list) < f.most {
		f.list = append(f.list, Fault{Line: line, Problem: problem, Remedy: remedy})
	}
}

// all returns the faults in the order of lines as an error, or nil.
func (f *csvFaults) all(count int) error {
	slices.SortStableFunc(f.list, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	if more := count - len(f.list); more > 0 {
		f.list.add("", fmt.Sprintf("%d more lines have faults", more), "correct the lines above and read the list again")
	}
	return f.list.Err()
}

func (c *csvReader) fault(problem, remedy string) {
	c.sum.Faults++
	c.faults.add(c.sum.Lines, problem, remedy)
}

func (c *csvReader) refuse(problem, remedy string) (NumberChange, bool) {
	c.fault(problem, remedy)
	return NumberChange{}, false
}

// csvRange is a range of the list, and its line.
type csvRange struct {
	Pattern
	line int
}

// rangeFaults looks for ranges of the list that overlap.
func (c *csvReader) rangeFaults() {
	slices.SortFunc(c.ranges, func(a, b csvRange) int { return cmp.Compare(a.low, b.low) })
	for i := 1; i < len(c.ranges); i++ {
		a, b := c.ranges[i-1], c.ranges[i]
		if b.low > a.high {
			continue
		}
		if a.high > b.high {
			c.ranges[i].Pattern, c.ranges[i].line = a.Pattern, a.line // it reaches further
		}
		if a.line > b.line {
			a, b = b, a
		}
		c.sum.Faults++
		c.faults.add(b.line, fmt.Sprintf("%s overlaps with %s on line %d", b.Pattern, a.Pattern, a.line), "keep each number in one range")
	}
}

const maxPatternText = 40 // more than any pattern has

// csvProblem says what is wrong with a text that should be a pattern.
func csvProblem(text string, err error) string {
	problem := err.Error()
	switch {
	case text == "":
		return "the number is missing"
	case len(text) > maxPatternText:
		return fmt.Sprintf("%.40q and so on is no number", text)
	case strings.HasPrefix(problem, `"`):
		return problem
	}
	return fmt.Sprintf("%q: %s", text, problem)
}

// csvRemedy says how a text should be written that is almost a number.
func csvRemedy(text string) string {
	text = strings.TrimPrefix(text, "tel:")
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
	body := strings.TrimPrefix(text, "+")
	switch {
	case len(text) > maxPatternText || digits == "" || len(digits) > maxDigits:
	case strings.ContainsAny(text, "eE") && strings.ContainsAny(text, ".,+") && strings.Trim(text, "0123456789eE.,+") == "":
		return "a spreadsheet has rounded the number: format the column as text and fill it again"
	case strings.Trim(body, "0123456789 ().-/\u00a0") != "":
	case strings.HasPrefix(text, "+"):
		return fmt.Sprintf("write %q", "+"+digits)
	case strings.HasPrefix(digits, "00") && len(digits) > 2:
		return fmt.Sprintf("write + in place of 00: %q", "+"+digits[2:])
	case !strings.HasPrefix(digits, "0"):
		return fmt.Sprintf("write the number with + and country code: %q if it has the code already", "+"+digits)
	default:
		return "write the number with + and country code, without the 0 in front"
	}
	return `write "+12145550100", "+1469555*" or "+12145550100..+12145550199"`
}
