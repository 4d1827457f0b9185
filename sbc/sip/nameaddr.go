package sip

import "errors"

// ErrNameAddr says that a value is not a name-addr or addr-spec (RFC 3261 20.10).
var ErrNameAddr = errors.New("sip: malformed address")

// NameAddr is the value of From, To, Contact, Route and their like, as parts of the input.
type NameAddr struct {
	Display []byte // without quotes, escapes as written; empty when absent
	URI     []byte // without < >
	Params  []byte // header parameters without the leading ';'
}

// ParseNameAddr parses one name-addr or addr-spec with its parameters: one value, not a list. The URI is checked for its
// delimiters only; ParseURI reads it.
func ParseNameAddr(v []byte) (NameAddr, error) {
	a, next, ok := scanAddr(v, 0)
	if !ok || next != len(v) {
		return NameAddr{}, ErrNameAddr
	}
	n := NameAddr{Display: v[a.displayOff:a.displayEnd], URI: v[a.uriOff:a.uriEnd]}
	if a.paramsOff < next {
		n.Params = trim(v[a.paramsOff+1 : next])
	}
	return n, nil
}

// addr is a name-addr as offsets. paramsOff is the first ';', or the end of the value.
type addr struct {
	displayOff, displayEnd int
	uriOff, uriEnd         int
	paramsOff              int
	tagOff, tagEnd         int
	tagged                 bool
}

// scanAddr reads one address at pos and stops at a top-level comma or at len(b). Two tags are one too many.
func scanAddr(b []byte, pos int) (a addr, next int, ok bool) {
	pos = skipBlank(b, pos)
	if pos < len(b) && b[pos] == '"' {
		end := skipQuoted(b, pos)
		if end < 0 {
			return a, pos, false
		}
		a.displayOff, a.displayEnd = pos+1, end-1
		if pos = skipBlank(b, end); pos == len(b) || b[pos] != '<' {
			return a, pos, false
		}
		pos = scanAngle(b, pos, &a)
	} else {
		pos = scanBareAddr(b, pos, &a)
	}
	if pos < 0 {
		return a, 0, false
	}
	pos = skipBlank(b, pos)
	a.paramsOff = pos
	for pos < len(b) && b[pos] == ';' {
		var p param
		if p, pos, ok = scanParam(b, pos); !ok {
			return a, pos, false
		}
		if equalFold(b[p.nameOff:p.nameEnd], "tag") {
			if a.tagged || !p.hasValue || b[p.valOff] == '"' {
				return a, pos, false
			}
			a.tagged, a.tagOff, a.tagEnd = true, p.valOff, p.valEnd
		}
	}
	return a, pos, pos == len(b) || b[pos] == ','
}

// scanAngle reads the <URI> at pos and returns the position behind it, or -1.
func scanAngle(b []byte, pos int, a *addr) int {
	end := pos + 1
	for end < len(b) && classes[b[end]]&classURI != 0 {
		end++
	}
	if end == len(b) || b[end] != '>' || end == pos+1 {
		return -1
	}
	a.uriOff, a.uriEnd = pos+1, end
	return end + 1
}

// scanBareAddr reads an unquoted display name with <URI>, or a bare addr-spec. The latter ends at the first ';' or ',' and may
// not hold '?' (RFC 3261 20: such URIs must stand in < >).
func scanBareAddr(b []byte, pos int, a *addr) int {
	end := pos
	for end < len(b) && b[end] != '<' && b[end] != ';' && b[end] != ',' && b[end] != '"' && b[end] != '>' {
		end++
	}
	if end < len(b) && b[end] == '<' {
		a.displayOff, a.displayEnd = pos, end
		for a.displayEnd > pos && isBlank(b[a.displayEnd-1]) {
			a.displayEnd--
		}
		return scanAngle(b, end, a)
	}
	a.uriOff = pos
	for pos < end && classes[b[pos]]&classURI != 0 && b[pos] != '?' {
		pos++
	}
	a.uriEnd = pos
	if pos == a.uriOff || pos < end && b[pos] == '?' {
		return -1
	}
	return pos
}
