package yamldoc

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// page is a text whose lines are edited.
type page struct{ lines []string } // each with its end

func newPage(text []byte) *page {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(bytes.Clone(text), '\n')
	}
	return &page{slices.Collect(strings.Lines(string(text)))}
}

func (p *page) text() []byte { return []byte(strings.Join(p.lines, "")) }

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// add writes a member, given on one line, at the end; nil when there is no place.
func (g *place) add(p *page, member string) []byte {
	switch {
	case g.members != nil && isFlow(g.members):
		if len(g.members.Content) > 0 {
			member = ", " + member
		}
		return p.before(g.members, ']', member)
	case g.members != nil && len(g.members.Content) > 0:
		item := g.members.Content[len(g.members.Content)-1]
		first := g.members.Content[0]
		if dash := p.dash(item); dash >= 0 && p.dash(first) == dash {
			return p.insert(p.end(item.Line-1, dash), strings.Repeat(" ", dash)+"- "+member)
		}
	case g.members == nil && isFlow(g.mapping):
		return p.before(g.mapping, '}', ", members: ["+member+"]")
	case g.members == nil && len(g.mapping.Content) > 0:
		indent := g.mapping.Content[0].Column - 1
		return p.insert(p.end(g.mapping.Line-1, indent-1), strings.Repeat(" ", indent)+"members: ["+member+"]")
	}
	return nil
}

// remove takes the member of an index out; nil when it cannot be told from the rest.
func (g *place) remove(p *page, i int) []byte {
	if g.members == nil || i >= len(g.members.Content) {
		return nil
	}
	item := g.members.Content[i]
	if isFlow(g.members) {
		return p.cut(g.members, i)
	}
	dash := p.dash(item)
	if dash < 0 {
		return nil
	}
	from, to := item.Line-1, p.end(item.Line-1, dash)
	for i > 0 && from > 0 && strings.HasPrefix(strings.TrimSpace(p.lines[from-1]), "#") {
		from-- // what is said above the first member may be about all of them
	}
	if len(g.members.Content) == 1 {
		from = g.key.Line - 1 // a key without a value is a fault
	}
	p.lines = slices.Delete(p.lines, from, to)
	return p.text()
}

// dash is how far the dash before an item is indented; -1 when there is none in its
// line.
func (p *page) dash(item *yaml.Node) int {
	line := p.lines[item.Line-1]
	i := len(line) - len(strings.TrimLeft(line, " "))
	if !strings.HasPrefix(line[i:], "- ") {
		return -1
	}
	return i
}

// end is the line behind what begins in a line and whose parts are indented by more
// than indent. Empty lines and comments behind it do not belong to it.
func (p *page) end(line, indent int) int {
	last := line
	for i := line + 1; i < len(p.lines); i++ {
		text := strings.TrimLeft(p.lines[i], " ")
		if strings.TrimSpace(text) == "" || text[0] == '#' {
			continue
		}
		if len(p.lines[i])-len(text) <= indent {
			break
		}
		last = i
	}
	return last + 1
}

func (p *page) insert(at int, line string) []byte {
	p.lines = slices.Insert(p.lines, at, line+"\n")
	return p.text()
}

// offset is where a node begins.
func (p *page) offset(text string, n *yaml.Node) int {
	at := 0
	for _, line := range p.lines[:n.Line-1] {
		at += len(line)
	}
	column := 1
	for i := range text[at:] {
		if column == n.Column {
			return at + i
		}
		column++
	}
	return len(text)
}

// before writes something before the bracket that ends a node.
func (p *page) before(n *yaml.Node, bracket byte, what string) []byte {
	text := string(p.text())
	begin := p.offset(text, n)
	end := skip(text, begin+1, false)
	if end >= len(text) || text[end] != bracket {
		return nil
	}
	at := len(strings.TrimRight(text[:end], " \n"))
	if strings.HasSuffix(text[:at], ",") {
		what = strings.TrimPrefix(what, ",") // a comma may stand behind the last one
	}
	return []byte(text[:at] + what + text[at:])
}

// cut takes an item out of a list in brackets, with the comma that parts it from the
// next, else from the one before.
func (p *page) cut(list *yaml.Node, i int) []byte {
	text := string(p.text())
	begin := p.offset(text, list.Content[i])
	end := skip(text, begin, true)
	if end >= len(text) {
		return nil
	}
	if text[end] == ',' {
		end++
		end += len(text[end:]) - len(strings.TrimLeft(text[end:], " \n"))
	} else if rest := strings.TrimRight(text[:begin], " \n"); strings.HasSuffix(rest, ",") {
		begin = len(rest) - 1 // a comment may stand between: then the comma stays, as it may
	}
	return []byte(text[:begin] + text[end:])
}

// skip returns where, from a place inside of brackets on, their closing bracket
// stands, or with comma the next comma if that comes first.
func skip(text string, from int, comma bool) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			i = quoted(text, i)
		case '#':
			if i == 0 || text[i-1] == ' ' || text[i-1] == '\n' {
				if next := strings.IndexByte(text[i:], '\n'); next >= 0 {
					i += next
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 && comma {
				return i
			}
		}
	}
	return len(text)
}

// quoted returns where a text in quotes ends. A quote inside of a plain word begins
// none.
func quoted(text string, i int) int {
	if i > 0 && !strings.ContainsRune(" \n[{,:", rune(text[i-1])) {
		return i
	}
	q := text[i]
	for j := i + 1; j < len(text); j++ {
		switch {
		case text[j] == '\\' && q == '"':
			j++
		case text[j] == q && q == '\'' && j+1 < len(text) && text[j+1] == q:
			j++
		case text[j] == q:
			return j
		}
	}
	return len(text)
}
