package number

import "bytes"

// Split parts the user of a SIP URI, or the subscriber of a tel URI, at the
// first semicolon: the number before it, the parameters of RFC 3966 section 3
// after it.
func Split(user []byte) (number, params []byte) {
	if i := bytes.IndexByte(user, ';'); i >= 0 {
		return user[:i], user[i+1:]
	}
	return user, nil
}

// Param returns the value of a parameter in params as Split gives them. The
// name is compared without regard to case; a parameter without value is there
// with an empty one.
func Param(params []byte, name string) (value []byte, ok bool) {
	for len(params) > 0 {
		var p []byte
		p, params, _ = bytes.Cut(params, []byte{';'})
		key, v, _ := bytes.Cut(p, []byte{'='})
		if len(key) == len(name) && bytes.EqualFold(key, []byte(name)) {
			return v, true
		}
	}
	return nil, false
}

// Portability returns what a number portability query left in the user (RFC
// 4694): the routing number, when there is one, and whether the query was made.
// Outbound calls route by rn when npdi is there; inbound calls match the
// dialled number always (NUM-01).
func Portability(user []byte) (rn []byte, npdi bool) {
	_, params := Split(user)
	rn, _ = Param(params, "rn")
	_, npdi = Param(params, "npdi")
	return rn, npdi
}

// Plain appends the number of a user as plain characters, as every reader of it here does.
// It reports false when that is longer than dst has room for.
func Plain(dst, user []byte) ([]byte, bool) { return clean(dst, user) }

// clean appends the number of a user as plain characters: escapes undone (RFC
// 3261 section 19.1.2: %2B is +), visual separators taken out (RFC 3966 section
// 3), parameters cut off. It stops with ok false when the number is too long.
func clean(dst, user []byte) (number []byte, ok bool) {
	number = dst
	for i := 0; i < len(user) && user[i] != ';'; i++ {
		c := user[i]
		if c == '%' && i+2 < len(user) {
			high, low := unhex(user[i+1]), unhex(user[i+2])
			if high >= 0 && low >= 0 {
				c, i = byte(high<<4|low), i+2
			}
		}
		if c == '-' || c == '.' || c == '(' || c == ')' {
			continue
		}
		if len(number) == cap(number) {
			return number, false
		}
		number = append(number, c)
	}
	return number, true
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
