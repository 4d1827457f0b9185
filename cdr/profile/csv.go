package profile

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// appendCell appends a cell of CSV (RFC 4180). Controls become spaces, and octets that are
// not UTF-8 become U+FFFD: a record is one line, whatever a far end wrote.
func appendCell(dst, v []byte) []byte {
	guard := formula(v)
	if !guard && plain(v) {
		return append(dst, v...)
	}
	dst = append(dst, '"')
	if guard {
		dst = append(dst, '\'')
	}
	for len(v) > 0 {
		r, n := utf8.DecodeRune(v)
		switch {
		case r == '"':
			dst = append(dst, '"', '"')
		case blank(r):
			dst = append(dst, ' ')
		default:
			dst = utf8.AppendRune(dst, r)
		}
		v = v[n:]
	}
	return append(dst, '"')
}

// blank reports whether a character stands as a space in a cell: a space, a control, or
// what some readers take for the end of a line.
func blank(r rune) bool {
	return r <= ' ' || r >= 0x7f && r <= 0xa0 || r == '\u2028' || r == '\u2029'
}

// plain reports whether a cell needs no quotes.
func plain(v []byte) bool {
	for _, c := range v {
		if c <= ' ' || c >= 0x7f || c == '"' || c == ',' || c == ';' {
			return false
		}
	}
	return true
}

// starts are the characters that make a spreadsheet read a cell as a formula, the wide
// forms of them too.
const starts = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"

// formula reports whether a spreadsheet would reckon with the cell: a far end chooses what
// stands in some. A telephone number or another number with its sign is none.
func formula(v []byte) bool {
	first := bytes.TrimLeftFunc(v, blank)
	if len(first) == 0 {
		return false
	}
	if r, _ := utf8.DecodeRune(first); !strings.ContainsRune(starts, r) {
		return false
	}
	if c := v[0]; c != '+' && c != '-' || len(v) == 1 {
		return true
	}
	points := 0
	for _, c := range v[1:] {
		switch {
		case c >= '0' && c <= '9':
		case c == '.' && points == 0:
			points++
		default:
			return true
		}
	}
	return false
}
