package sip

import (
	"bytes"
	"errors"
)

// Errors of ParseURI. They are compared with errors.Is; none carries the input, since it comes from strangers.
var (
	ErrURI    = errors.New("sip: malformed URI")
	ErrScheme = errors.New("sip: unsupported URI scheme") // well-formed, but not sip, sips or tel: 416
)

// URI is a sip, sips or tel URI (RFC 3261 19.1, RFC 3966) as parts of the input. Escapes are kept as they are.
type URI struct {
	Scheme   string // "sip", "sips", "tel"
	User     []byte // with user parameters (;npdi) as written; of a tel URI the number
	Password []byte
	Host     []byte // an IPv6 address with its brackets; empty for tel
	Port     uint16 // 0 = none given
	Params   []byte // without the leading ';'
	Headers  []byte // without the '?'
}

// Number returns the user part up to the first ';': the telephone number without its RFC 3966 parameters.
func (u *URI) Number() []byte {
	if i := bytes.IndexByte(u.User, ';'); i >= 0 {
		return u.User[:i]
	}
	return u.User
}

// Param returns a URI parameter; see the function Param.
func (u *URI) Param(name string) ([]byte, bool) { return Param(u.Params, name) }

// ParseURI parses a URI in time linear in its length. ErrScheme is a well-formed URI of another scheme, ErrURI everything else.
func ParseURI(b []byte) (URI, error) {
	colon := bytes.IndexByte(b, ':')
	if colon < 1 {
		return URI{}, ErrURI
	}
	rest := b[colon+1:]
	switch scheme := b[:colon]; {
	case equalFold(scheme, "sip"):
		return parseSIP("sip", rest)
	case equalFold(scheme, "sips"):
		return parseSIP("sips", rest)
	case equalFold(scheme, "tel"):
		return parseTel(rest)
	case classes[scheme[0]]&classAlpha != 0 && all(scheme, classScheme) && len(rest) > 0 && all(rest, classURI):
		return URI{}, ErrScheme
	}
	return URI{}, ErrURI
}

// parseSIP parses what stands behind "sip:".
func parseSIP(scheme string, b []byte) (URI, error) {
	u := URI{Scheme: scheme}
	if at := bytes.IndexByte(b, '@'); at >= 0 {
		user := b[:at]
		if colon := bytes.IndexByte(user, ':'); colon >= 0 {
			u.Password = user[colon+1:]
			user = user[:colon]
		}
		u.User = user
		if len(user) == 0 || !validEscapes(b[:at]) {
			return URI{}, ErrURI
		}
		b = b[at+1:]
	}
	pos := scanHost(b, 0)
	if pos < 0 {
		return URI{}, ErrURI
	}
	u.Host = b[:pos]
	if pos < len(b) && b[pos] == ':' {
		end := pos + 1
		for end < len(b) && classes[b[end]]&classDigit != 0 {
			end++
		}
		port, ok := parseUint(b[pos+1:end], 65535)
		if !ok || port == 0 {
			return URI{}, ErrURI
		}
		u.Port, pos = uint16(port), end
	}
	b = b[pos:]
	if q := bytes.IndexByte(b, '?'); q >= 0 {
		u.Headers = b[q+1:]
		if len(u.Headers) == 0 || !validEscapes(u.Headers) {
			return URI{}, ErrURI
		}
		b = b[:q]
	}
	if len(b) == 0 {
		return u, nil
	}
	u.Params = b[1:]
	if b[0] != ';' || !validURIParams(u.Params) {
		return URI{}, ErrURI
	}
	return u, nil
}

// parseTel parses what stands behind "tel:".
func parseTel(b []byte) (URI, error) {
	u := URI{Scheme: "tel", User: b}
	if semi := bytes.IndexByte(b, ';'); semi >= 0 {
		u.User, u.Params = b[:semi], b[semi+1:]
		if !validURIParams(u.Params) {
			return URI{}, ErrURI
		}
	}
	digits := 0
	for i, c := range u.User {
		switch {
		case classes[c]&classHex != 0 || c == '*' || c == '#':
			digits++
		case c == '+' && i == 0, c == '-', c == '.', c == '(', c == ')':
		default:
			return URI{}, ErrURI
		}
	}
	if digits == 0 {
		return URI{}, ErrURI
	}
	return u, nil
}

// scanHost returns the end of the host at pos: a name, an IPv4 address or an IPv6 reference in brackets; -1 when there is none.
// The inside of the brackets is checked by character only: RFC 5118 4.10 asks to tolerate ":::".
func scanHost(b []byte, pos int) int {
	if pos < len(b) && b[pos] == '[' {
		end := pos + 1
		for end < len(b) && classes[b[end]]&classIPv6 != 0 {
			end++
		}
		if end == len(b) || b[end] != ']' || bytes.IndexByte(b[pos:end], ':') < 0 {
			return -1
		}
		return end + 1
	}
	end := pos
	for end < len(b) && classes[b[end]]&classHost != 0 {
		end++
	}
	if end == pos {
		return -1
	}
	return end
}

// validEscapes tells whether b holds URI characters only and every '%' starts an escape.
func validEscapes(b []byte) bool {
	for i, c := range b {
		if classes[c]&classURI == 0 {
			return false
		}
		if c == '%' && (i+2 >= len(b) || classes[b[i+1]]&classes[b[i+2]]&classHex == 0) {
			return false
		}
	}
	return true
}

// validURIParams tells whether b is a list of name[=value] without empty names.
func validURIParams(b []byte) bool {
	if !validEscapes(b) {
		return false
	}
	start := true // of a parameter
	for _, c := range b {
		if start && (c == ';' || c == '=') {
			return false
		}
		start = c == ';'
	}
	return !start
}
