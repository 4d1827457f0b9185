package auth

import "errors"

// errSyntax reports an Authorization value that is not a well-formed Digest credential list (RFC 7616 section 3.4, RFC 3261 section
// 25.1 credentials).
var errSyntax = errors.New("auth: malformed digest credentials")

// params is one parsed Authorization value: views of the header, quotes removed, escapes left as they are (the digest is computed over
// the characters on the wire).
type params struct {
	username, realm, nonce, uri, response []byte
	algorithm, cnonce, qop, nc, userhash  []byte
	extended                              bool // username* was given (RFC 7616 section 3.4.4); it is not supported
	hashes                                int  // digests that were computed for it
}

// parse reads an Authorization value. digest is false for another scheme than Digest. Unknown parameters are skipped, a repeated known one
// is a fault, because two readers of such a header need not see the same credentials.
func parse(v []byte) (p params, digest bool, err error) {
	v = trimLeft(v)
	n := 0
	for n < len(v) && isToken(v[n]) {
		n++
	}
	if !equalFold(v[:n], "digest") {
		return p, false, nil
	}
	v = v[n:]
	if len(v) == 0 || !isSpace(v[0]) {
		return p, true, errSyntax
	}
	for {
		// Empty list elements are legal in RFC 7230 lists and seen in the field.
		for v = trimLeft(v); len(v) > 0 && v[0] == ','; v = trimLeft(v) {
			v = v[1:]
		}
		if len(v) == 0 {
			break
		}
		if v, err = p.next(v); err != nil {
			return p, true, err
		}
	}
	if p.username == nil || p.realm == nil || p.nonce == nil || p.uri == nil || p.response == nil {
		return p, true, errSyntax
	}
	return p, true, nil
}

// next reads one name=value and the separator behind it, and returns what is left.
func (p *params) next(v []byte) ([]byte, error) {
	n := 0
	for n < len(v) && isToken(v[n]) {
		n++
	}
	name := v[:n]
	if v = trimLeft(v[n:]); n == 0 || len(v) == 0 || v[0] != '=' {
		return nil, errSyntax
	}
	value, rest, ok := cutValue(trimLeft(v[1:]))
	if !ok {
		return nil, errSyntax
	}
	if rest = trimLeft(rest); len(rest) > 0 && rest[0] != ',' {
		return nil, errSyntax
	}
	if equalFold(name, "username*") {
		p.extended = true
		return rest, nil
	}
	field := p.field(name)
	if field == nil {
		return rest, nil
	}
	if *field != nil {
		return nil, errSyntax
	}
	*field = value
	return rest, nil
}

// field is the place of a known parameter, nil for an unknown one.
func (p *params) field(name []byte) *[]byte {
	switch {
	case equalFold(name, "username"):
		return &p.username
	case equalFold(name, "realm"):
		return &p.realm
	case equalFold(name, "nonce"):
		return &p.nonce
	case equalFold(name, "uri"):
		return &p.uri
	case equalFold(name, "response"):
		return &p.response
	case equalFold(name, "algorithm"):
		return &p.algorithm
	case equalFold(name, "cnonce"):
		return &p.cnonce
	case equalFold(name, "qop"):
		return &p.qop
	case equalFold(name, "nc"):
		return &p.nc
	case equalFold(name, "userhash"):
		return &p.userhash
	}
	return nil
}

// cutValue takes a token or a quoted string from the front of v. The value is never nil when ok.
func cutValue(v []byte) (value, rest []byte, ok bool) {
	if len(v) > 0 && v[0] == '"' {
		for i := 1; i < len(v); i++ {
			switch v[i] {
			case '\\':
				i++
			case '"':
				return v[1:i:i], v[i+1:], true
			}
		}
		return nil, nil, false
	}
	n := 0
	// A token, and leniently everything up to a separator: some callers forget the quotes around uri.
	for n < len(v) && v[n] != ',' && v[n] != '"' && !isSpace(v[n]) {
		n++
	}
	return v[:n:n], v[n:], n > 0
}

// unescape removes the backslashes of a quoted string. It copies only when there are any.
func unescape(b []byte) []byte {
	for i := range b {
		if b[i] != '\\' {
			continue
		}
		out := append(make([]byte, 0, len(b)), b[:i]...)
		for ; i < len(b); i++ {
			if b[i] == '\\' && i+1 < len(b) {
				i++
			}
			out = append(out, b[i])
		}
		return out
	}
	return b
}

func trimLeft(v []byte) []byte {
	for len(v) > 0 && isSpace(v[0]) {
		v = v[1:]
	}
	return v
}

// isSpace knows CR and LF too, because a header that was not unfolded may still hold them.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// isToken is RFC 3261 section 25.1 token.
func isToken(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	switch c {
	case '-', '.', '!', '%', '*', '_', '+', '`', '\'', '~':
		return true
	}
	return false
}

// equalFold compares with a lower-case ASCII string.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		if toLower(b[i]) != lower[i] {
			return false
		}
	}
	return true
}

func toLower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
