package registrar

import "strings"

// number reads a decimal number of at most limit.
func number(v []byte, limit uint64) (n uint64, ok bool) {
	if len(v) == 0 || len(v) > 10 {
		return 0, false
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, n <= limit
}

// qvalue reads a preference in thousandths (RFC 3261 25.1); what is none is the
// highest, as if it were not there.
func qvalue(v []byte) int {
	if len(v) == 0 || len(v) > 5 || v[0] != '0' && v[0] != '1' || len(v) > 1 && v[1] != '.' {
		return 1000
	}
	q := 1000 * int(v[0]-'0')
	for i, unit := 2, 100; i < len(v); i, unit = i+1, unit/10 {
		if v[i] < '0' || v[i] > '9' {
			return 1000
		}
		q += unit * int(v[i]-'0')
	}
	return min(q, 1000)
}

// printable keeps of a stranger's text what is harmless on a terminal.
func printable(v []byte) string {
	b := make([]byte, 0, min(len(v), maxText))
	for _, c := range v[:min(len(v), maxText)] {
		if c < ' ' || c > '~' {
			c = '?'
		}
		b = append(b, c)
	}
	return string(b)
}

// unquotable is printable text that can stand between quotes.
func unquotable(v []byte) string {
	return strings.NewReplacer(`"`, "?", `\`, "?").Replace(printable(v))
}

// lower returns ASCII text in lower case.
func lower(v []byte) string {
	b := make([]byte, len(v))
	for i, c := range v {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		b[i] = c
	}
	return string(b)
}
