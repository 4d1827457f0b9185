package trunkgroup

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// csvReader is what is known while a list is read.
type csvReader struct {
	NumberCSV
	sum    NumberCSVSum
	faults csvFaults
	begun  bool // the first line with content was read
	fields [][]byte
	number int // columns of the two; group is -1 when the header names none
	group  int
	named  bool // the columns are from a header
	groups map[string]csvGroup
	names  []string // by csvGroup.place
	seen   csvSeen
	ranges []csvRange
}

// csvGroup is a group of the list, asked for once.
type csvGroup struct {
	place  uint32
	remedy string
	ok     bool
}

func newCSVReader(o NumberCSV) *csvReader {
	if o.MaxFaults <= 0 {
		o.MaxFaults = defaultCSVFaults
	}
	return &csvReader{NumberCSV: o, group: 1, groups: make(map[string]csvGroup), faults: csvFaults{most: o.MaxFaults}}
}

// split parts a line at commas, semicolons or tabs, whichever comes first.
func (c *csvReader) split(line []byte) error {
	c.fields = c.fields[:0]
	part := byte(',')
	if i := bytes.IndexAny(line, ",;\t"); i >= 0 {
		part = line[i]
	}
	for {
		field, rest, more := bytes.Cut(line, []byte{part})
		if field = bytes.TrimSpace(field); len(field) > 0 && field[0] == '"' {
			line = bytes.TrimSpace(line)
			end := bytes.IndexByte(line[1:], '"') + 1
			if end == 0 {
				return errors.New("a quote is not closed")
			}
			field, rest = bytes.TrimSpace(line[1:end]), bytes.TrimSpace(line[end+1:])
			if more = len(rest) > 0; more && rest[0] != part {
				return errors.New("there is text behind a quote")
			} else if more {
				rest = rest[1:]
			}
		}
		c.fields = append(c.fields, field)
		if !more {
			return nil
		}
		line = rest
	}
}

// header takes the first line as names of the columns when one of them is
// "number".
func (c *csvReader) header() bool {
	number, group := -1, -1
	for i, f := range c.fields {
		switch strings.ToLower(string(f)) {
		case "number", "numbers", "pattern", "did":
			number = i
		case "group", "trunk_group":
			group = i
		}
	}
	if number < 0 {
		return false
	}
	c.number, c.group, c.named = number, group, true
	return true
}

// row makes a change of the fields.
func (c *csvReader) row() (NumberChange, bool) {
	if !c.named && len(c.fields) > 2 {
		return c.refuse(fmt.Sprintf("the line has %d columns", len(c.fields)), "write number,group or name the columns in the first line")
	}
	p, err := parseCSVPattern(c.field(c.number))
	if err != nil {
		text := string(c.field(c.number))
		return c.refuse(csvProblem(text, err), csvRemedy(text))
	}
	name := c.field(c.group)
	if len(name) == 0 {
		name = []byte(c.Group)
	}
	g := c.groupOf(name)
	switch {
	case !g.ok && len(name) == 0:
		return c.refuse(fmt.Sprintf("%s has no group", p), g.remedy)
	case !g.ok:
		return c.refuse(fmt.Sprintf("%s is for group %.70q, which cannot have numbers", p, name), g.remedy)
	}
	if c.seen.len() == MaxNumbers {
		return c.refuse(fmt.Sprintf("the list has more than %d patterns", MaxNumbers), "write prefixes or ranges in place of single numbers")
	}
	if before, place := c.seen.enter(p, csvPlace{uint32(c.sum.Lines), g.place}); before != 0 {
		if place == g.place {
			c.sum.Repeated++
			return NumberChange{}, false
		}
		return c.refuse(fmt.Sprintf("%s stands on line %d for %s", p, before, c.groupName(place)), "keep the number in one group")
	}
	if string(name) == "-" {
		c.sum.Removed++
		return NumberChange{Pattern: p}, true
	}
	if p.Kind == Range {
		c.ranges = append(c.ranges, csvRange{p, c.sum.Lines})
	}
	c.sum.Added++
	return NumberChange{p, c.names[g.place]}, true
}

// groupOf returns a group by its name; "-" is one too. What cannot be a name is
// not kept.
func (c *csvReader) groupOf(text []byte) csvGroup {
	if g, ok := c.groups[string(text)]; ok {
		return g
	}
	name := string(text)
	g := csvGroup{place: uint32(len(c.names)), ok: true}
	switch {
	case name == "":
		return csvGroup{remedy: `name the group in the second column, or write "-" to take the number out`}
	case name != "-" && !isGroupName(name):
		return csvGroup{remedy: "names are at most 63 letters, digits, and - . _ inside"}
	case len(c.names) == maxCSVGroups:
		return csvGroup{remedy: fmt.Sprintf("import at most %d groups at once", maxCSVGroups)}
	case name != "-" && c.Known != nil:
		g.remedy, g.ok = c.Known(name)
	}
	c.groups[name] = g
	c.names = append(c.names, name)
	return g
}

func (c *csvReader) groupName(place uint32) string {
	if name := c.names[place]; name != "-" {
		return "group " + name
	}
	return "removal"
}

func (c *csvReader) field(i int) []byte {
	if i < 0 || i >= len(c.fields) {
		return nil
	}
	return c.fields[i]
}

// parseCSVPattern is ParsePattern, which most often reads an exact number.
func parseCSVPattern(text []byte) (Pattern, error) {
	if n, ok := pack(text); ok && !n.local() {
		return Pattern{Exact, n, n}, nil
	}
	return ParsePattern(string(text))
}
