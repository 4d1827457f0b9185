package importer

import "strings"

// copied reads COPY dispatcher (columns) FROM stdin; and its rows, which is how
// PostgreSQL dumps a table. Rows of other tables are passed over: they are no SQL.
func (k *kamailio) copied(file string, s *sqlScanner) error {
	at := place{file, s.line}
	table, ok := s.table()
	if !ok {
		return nil
	}
	columns, stdin := dispatcherColumns(), false
	for !s.word(";") {
		if s.token == "(" && !s.quoted {
			columns = columnNames(s.tuple())
		}
		stdin = stdin || s.word("stdin")
		if !s.next() {
			return nil
		}
	}
	if !stdin {
		return nil
	}
	mine := k.isTable(table)
	if !mine {
		k.Report.elsewhere(at, "COPY "+table, "is not the table "+k.tableName())
	}
	s.restOfLine()
	for {
		at := place{file, s.line}
		row, more := s.restOfLine()
		switch {
		case !more || row == `\.`:
			return nil
		case !mine:
			continue
		}
		var values []string
		for v := range strings.SplitSeq(row, "\t") {
			if v != `\N` {
				v = copyUnescape(v)
			}
			values = append(values, v)
		}
		if err := k.record(at, columns, values); err != nil {
			return err
		}
	}
}

// copyUnescape reads the backslashes of a column.
func copyUnescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			b.WriteByte(escaped(s[i]))
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escaped is the octet that a backslash and a letter stand for.
func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case '0':
		return 0
	case 'Z':
		return 0x1a
	}
	return c
}

// restOfLine takes what is left of a line; more is false at the end of the text.
func (s *sqlScanner) restOfLine() (line string, more bool) {
	if s.at >= len(s.text) {
		return "", false
	}
	rest := s.text[s.at:]
	n := lineEnd(rest)
	s.at += min(n+1, len(rest))
	s.line++
	return strings.TrimSuffix(rest[:n], "\r"), true
}

// table reads the name of a table without its schema, and the token behind it.
func (s *sqlScanner) table() (string, bool) {
	name := ""
	for s.next() {
		name = s.token
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			name = name[i+1:]
		}
		if !s.next() {
			return name, false
		}
		switch {
		case s.token == ".": // between quoted names
		case strings.HasPrefix(s.token, "."):
			return s.token[1:], s.next()
		default:
			return name, true
		}
	}
	return name, false
}

// tableName is the name of the table that has the destinations.
func (k *kamailio) tableName() string {
	if name := k.o.Params["table_name"]; name != "" {
		return name
	}
	if name := k.params["table_name"].value; name != "" {
		return name
	}
	return "dispatcher"
}

func (k *kamailio) isTable(name string) bool { return equalName(name, k.tableName()) }
