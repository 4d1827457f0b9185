package importer

import (
	"bytes"
	"strconv"
	"strings"
)

// maxListLine is how much of a line Kamailio reads at once; it takes what is
// behind for another line.
const maxListLine = 1023

// list reads dispatcher.list as ds_load_list does: set, URI, flags, priority and
// attributes with spaces between them.
func (k *kamailio) list(in Input) error {
	line := 0
	for text := range bytes.Lines(in.Text) {
		line++
		d := destination{place: place{in.Name, line}}
		row := strings.TrimSpace(string(text))
		switch {
		case row == "" || row[0] == '#':
			continue
		case len(text) > maxListLine:
			k.Report.lost(d.place, row, "the line has more than 1023 octets, which Kamailio tears apart", "shorten its attributes")
			continue
		}
		if !k.listRow(&d, row) {
			continue
		}
		if err := k.addRow(d); err != nil {
			return err
		}
	}
	return nil
}

// listRow takes a line apart. What stands where a number should be is read as the
// module reads it: the number is 0, and the text is taken for what comes next.
func (k *kamailio) listRow(d *destination, row string) bool {
	set, rest := number(row)
	d.set = set
	d.uri, rest = word(rest, " \t\r#")
	if d.uri == "" {
		k.Report.lost(d.place, row, "there is no destination", "write: SET sip:HOST:PORT FLAGS PRIORITY ATTRIBUTES")
		return false
	}
	d.flags, rest = number(rest)
	d.priority, rest = number(rest)
	d.attrs, rest = attributes(rest)
	if rest != "" && rest[0] != '#' {
		k.Report.lost(d.place, rest, "stands behind the attributes, where Kamailio reads nothing", "attributes have no spaces; join them with ;")
	}
	return true
}

// number takes digits and the spaces behind them from the start of a text.
func number(s string) (int, string) {
	digits := leadingDigits(s)
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1<<30 {
		n = 0
	}
	return n, strings.TrimLeft(s[len(digits):], " \t\r")
}

// word takes what stands before one of the ends.
func word(s, ends string) (string, string) {
	i := strings.IndexAny(s, ends)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t\r")
}

// attributes takes the last column, with its quotes where somebody wrote some.
func attributes(s string) (attrs, rest string) {
	if s == "" || s[0] == '#' {
		return "", s
	}
	attrs, rest = word(s, " \t\r")
	if len(attrs) > 1 && attrs[0] == '"' && attrs[len(attrs)-1] == '"' {
		attrs = attrs[1 : len(attrs)-1]
	}
	return attrs, rest
}

// attribute is one name=value of a destination.
type attribute struct{ name, value string }

// splitAttrs reads name=value;name=value, values in quotes or not.
func splitAttrs(s string) []attribute {
	var out []attribute
	for s != "" {
		name, rest := s, ""
		if i := strings.IndexAny(s, "=;"); i >= 0 {
			name, rest = s[:i], s[i:]
		}
		value := ""
		if strings.HasPrefix(rest, "=") {
			value, rest = attrValue(rest[1:])
		}
		s = strings.TrimPrefix(rest, ";")
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, attribute{name, strings.TrimSpace(value)})
		}
	}
	return out
}

func attrValue(s string) (value, rest string) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if i := strings.IndexByte(s[1:], s[0]); i >= 0 {
			value, rest = s[1:1+i], s[2+i:]
			_, rest, _ = cutAt(rest, ';')
			return value, rest
		}
	}
	value, rest, _ = cutAt(s, ';')
	return value, rest
}

// cutAt cuts before a separator, which stays.
func cutAt(s string, sep byte) (before, after string, found bool) {
	if i := strings.IndexByte(s, sep); i >= 0 {
		return s[:i], s[i:], true
	}
	return s, "", false
}
