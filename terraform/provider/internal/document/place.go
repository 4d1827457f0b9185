package document

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// join is the text with the lines from one to another replaced.
func (d *Document) join(from, to int, with string) string {
	return strings.Join(d.lines[:from], "") + with + strings.Join(d.lines[to:], "")
}

// start is where a line begins, counted from 0.
func (d *Document) start(line int) int {
	at := 0
	for _, l := range d.lines[:line] {
		at += len(l)
	}
	return at
}

// offset is where a node begins. Columns of nodes count characters.
func (d *Document) offset(n *yaml.Node) int {
	at, column := d.start(n.Line-1), 1
	for i := range d.lines[n.Line-1] {
		if column == n.Column {
			return at + i
		}
		column++
	}
	return at + len(d.lines[n.Line-1])
}

// valueEnd is where a value ends that is in brackets, in quotes, or one plain word or
// line; false for one that takes lines of its own.
func (d *Document) valueEnd(v *yaml.Node) (int, bool) {
	at := d.offset(v)
	switch {
	case v.Kind != yaml.ScalarNode:
		if !isFlow(v) {
			return 0, false
		}
		end := skip(d.text, at+1, false)
		return end + 1, end < len(d.text)
	case v.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		end := quoted(d.text, at)
		return end + 1, end < len(d.text)
	case v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, false
	}
	if !strings.HasPrefix(d.text[at:], v.Value) {
		return 0, false // it goes over several lines
	}
	return at + len(v.Value), true
}

// entryEnd is the line behind a key and its value.
func (d *Document) entryEnd(k, v *yaml.Node) int {
	indent := k.Column - 1
	if v.Kind == yaml.SequenceNode && !isFlow(v) && len(v.Content) > 0 && d.dash(v.Content[0]) == indent {
		// The list stands as far to the left as its key.
		return d.blockEnd(v.Content[len(v.Content)-1].Line-1, indent)
	}
	end := d.blockEnd(k.Line-1, indent)
	if v.Kind == yaml.ScalarNode || isFlow(v) {
		if to, ok := d.valueEnd(v); ok {
			return max(end, 1+strings.Count(d.text[:to-1], "\n"))
		}
	}
	return end
}

// blockEnd is the line behind what begins in a line and whose parts are indented by
// more than indent. Empty lines and comments behind it do not belong to it.
func (d *Document) blockEnd(line, indent int) int {
	last := line
	for i := line + 1; i < len(d.lines); i++ {
		text := strings.TrimLeft(d.lines[i], " ")
		if strings.TrimSpace(text) == "" || text[0] == '#' {
			continue
		}
		if len(d.lines[i])-len(text) <= indent {
			break
		}
		last = i
	}
	return last + 1
}

// dash is how far the dash before an item is indented; -1 when there is none in its line.
func (d *Document) dash(item *yaml.Node) int {
	line := d.lines[item.Line-1]
	i := len(line) - len(strings.TrimLeft(line, " "))
	if !strings.HasPrefix(line[i:], "- ") {
		return -1
	}
	return i
}

// before writes something before the bracket that ends a node.
func (d *Document) before(n *yaml.Node, bracket byte, what string) (string, bool) {
	begin := d.offset(n)
	end := skip(d.text, begin+1, false)
	if end >= len(d.text) || d.text[end] != bracket {
		return "", false
	}
	at := end
	if blank := strings.TrimRight(d.text[:end], " \n"); !strings.Contains(d.text[d.lineOf(len(blank)):len(blank)], "#") {
		at = len(blank) // no comment stands between, in which it would be lost
	}
	if strings.HasSuffix(d.text[:at], ",") {
		what = strings.TrimPrefix(what, ",") // a comma may stand behind the last one
	}
	return d.text[:at] + what + d.text[at:], true
}

// lineOf is where the line of an offset begins.
func (d *Document) lineOf(at int) int { return strings.LastIndexByte(d.text[:at], '\n') + 1 }

// cut takes what begins at an offset out of its brackets, with the comma that parts it
// from the next, else from the one before.
func (d *Document) cut(begin int) (string, bool) {
	end := skip(d.text, begin, true)
	if end >= len(d.text) {
		return "", false
	}
	if d.text[end] == ',' {
		end++
		rest := d.text[end:]
		end += len(rest) - len(strings.TrimLeft(rest, " "))
	} else if rest := strings.TrimRight(d.text[:begin], " \n"); strings.HasSuffix(rest, ",") {
		begin = len(rest) - 1
	}
	return d.text[:begin] + d.text[end:], true
}

// skip is where, from a place inside of brackets on, their closing bracket stands, or
// with comma the next comma if that comes first.
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

// quoted is where a text in quotes ends. A quote inside of a plain word begins none.
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
