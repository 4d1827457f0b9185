package importer

import (
	"fmt"
	"strings"
)

// inserts reads INSERT INTO dispatcher ... VALUES (...), (...); and COPY of a dump. Other
// statements and other tables are passed over.
func (k *kamailio) inserts(in Input) error {
	s := &sqlScanner{text: string(in.Text), line: 1}
	for s.next() {
		var err error
		switch {
		case s.word("copy"):
			err = k.copied(in.Name, s)
		case s.word("insert") || s.word("replace"):
			err = k.inserted(in.Name, s)
		}
		if err != nil {
			return err
		}
	}
	if s.err != nil {
		return fmt.Errorf("%s:%d: %w", in.Name, s.line, s.err)
	}
	return nil
}

// inserted reads one INSERT or REPLACE: up to the name of the table may stand LOW_PRIORITY,
// IGNORE, OR REPLACE and the like.
func (k *kamailio) inserted(file string, s *sqlScanner) error {
	at := place{file, s.line}
	for words := 0; !s.word("into"); words++ {
		if words > 3 || !s.next() || s.word(";") {
			return nil
		}
	}
	table, ok := s.table()
	if !k.isTable(table) {
		k.Report.elsewhere(at, "INSERT INTO "+table, "is not the table "+k.tableName())
		return nil
	}
	if !ok {
		return nil
	}
	return k.insert(file, s)
}

// insert reads one statement up to its end, from the token behind the table on.
func (k *kamailio) insert(file string, s *sqlScanner) error {
	columns := dispatcherColumns()
	values := false
	for more := true; more && !s.word(";"); more = s.next() {
		switch {
		case s.word("values"):
			values = true
		case s.token == "(" && !s.quoted:
			at := place{file, s.line}
			row := s.tuple()
			if !values {
				columns = columnNames(row)
				continue
			}
			if err := k.record(at, columns, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// sqlScanner gives the tokens of a dump: words, numbers, texts in quotes without
// them, and single signs.
type sqlScanner struct {
	text   string
	at     int
	line   int
	token  string
	quoted bool // the token stood in single quotes
	err    error
}

func (s *sqlScanner) word(w string) bool { return !s.quoted && strings.EqualFold(s.token, w) }

// tuple reads up to the closing bracket.
func (s *sqlScanner) tuple() []string {
	var out []string
	var value strings.Builder
	some := false
	for s.next() {
		switch {
		case !s.quoted && (s.token == ")" || s.token == ","):
			if some || s.token == "," {
				out = append(out, value.String())
			}
			value.Reset()
			some = false
		default:
			value.WriteString(strings.TrimPrefix(s.token, introducer(s)))
			some = true
		}
		if s.word(")") {
			return out
		}
	}
	return out
}

// introducer is the token where it only says the character set of the text behind
// it: _utf8mb4'...', N'...', E'...'.
func introducer(s *sqlScanner) string {
	if s.quoted || s.at >= len(s.text) || s.text[s.at] != '\'' && s.text[s.at] != '"' {
		return ""
	}
	return s.token
}

// next reads one token; false at the end, or at a text that does not end.
func (s *sqlScanner) next() bool {
	s.skip()
	if s.at >= len(s.text) {
		return false
	}
	s.quoted = false
	switch c := s.text[s.at]; {
	case c == '\'' || c == '"' || c == '`':
		s.quoted = c == '\''
		return s.quote(c)
	case isWord(c):
		begin := s.at
		for s.at < len(s.text) && isWord(s.text[s.at]) {
			s.at++
		}
		s.token = s.text[begin:s.at]
	default:
		s.token = s.text[s.at : s.at+1]
		s.at++
	}
	return true
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}

// skip passes spaces and comments.
func (s *sqlScanner) skip() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch c := rest[0]; {
		case c == '\n':
			s.line++
			s.at++
		case c == ' ' || c == '\t' || c == '\r':
			s.at++
		case strings.HasPrefix(rest, "--") || c == '#':
			s.at += lineEnd(rest)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				n = len(rest) - 4
			}
			s.line += strings.Count(rest[:n+4], "\n")
			s.at += n + 4
		default:
			return
		}
	}
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// quote reads a text in quotes: a quote inside is doubled, or has a backslash
// before it.
func (s *sqlScanner) quote(q byte) bool {
	var b strings.Builder
	for i := s.at + 1; i < len(s.text); i++ {
		c := s.text[i]
		switch {
		case c == '\\' && q == '\'' && i+1 < len(s.text):
			i++
			b.WriteByte(escaped(s.text[i]))
		case c == q && i+1 < len(s.text) && s.text[i+1] == q:
			i++
			b.WriteByte(q)
		case c == q:
			s.at, s.token = i+1, b.String()
			return true
		default:
			if c == '\n' {
				s.line++
			}
			b.WriteByte(c)
		}
	}
	s.at = len(s.text)
	s.err = fmt.Errorf("a text in %c does not end", q)
	return false
}
