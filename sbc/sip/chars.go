package sip

import "encoding/binary"

// Character classes, one bit each, looked up by byte.
const (
	classToken  = 1 << iota // RFC 3261 25.1 token
	classHost               // host names and IPv4: alphanum - . _ (underscore: seen in the field)
	classIPv6               // inside [ ]: hex : .
	classURI                // visible ASCII and UTF-8 but the delimiters < > " and blank
	classAlpha              // letters
	classDigit              // 0-9
	classScheme             // ALPHA DIGIT + - .
	classHex                // hex digits
)

var classes = makeClasses()

func makeClasses() (t [256]uint8) {
	mark := func(set string, class uint8) {
		for i := range len(set) {
			t[set[i]] |= class
		}
	}
	const (
		digits = "0123456789"
		alpha  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	)
	mark(digits+alpha+"-.!%*_+`'~", classToken)
	mark(digits+alpha+"-._", classHost)
	mark(digits+"abcdefABCDEF:.", classIPv6)
	mark(alpha, classAlpha)
	mark(digits, classDigit)
	mark(digits+alpha+"+-.", classScheme)
	mark(digits+"abcdefABCDEF", classHex)
	for c := 0x21; c < 256; c++ {
		if c != '<' && c != '>' && c != '"' && c != 0x7f {
			t[c] |= classURI
		}
	}
	return t
}

// all tells whether every byte belongs to the class.
func all(b []byte, class uint8) bool {
	for _, c := range b {
		if classes[c]&class == 0 {
			return false
		}
	}
	return true
}

func isToken(b []byte) bool { return len(b) > 0 && all(b, classToken) }

// equalFold compares ASCII letters without case; want is in any case.
func equalFold(b []byte, want string) bool {
	if len(b) != len(want) {
		return false
	}
	if string(b) == want {
		return true
	}
	for i, c := range b {
		if lower(c) != lower(want[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// hasControl tells whether b may hold a control character (HT counts): eight bytes at a time, since every byte of every header
// goes through here.
func hasControl(b []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		del := x ^ 0x7f*ones
		if ((x-0x20*ones)&^x|(del-ones)&^del)&highs != 0 {
			return true
		}
		b = b[8:]
	}
	for _, c := range b {
		if c < 0x20 || c == 0x7f {
			return true
		}
	}
	return false
}

// badControl tells whether b holds a control character that is not legal there. HT is, and so is a quoted-pair inside a quoted
// string other than of CR or LF (RFC 3261 25.1, RFC 4475 3.1.1.2). bareLine reports a CR or LF among the illegal ones.
func badControl(b []byte) (bad, bareLine bool) {
	quoted := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted && i+1 < len(b) && b[i+1] != '\r' && b[i+1] != '\n':
			i++
		case c == '\r' || c == '\n':
			return true, true
		case c < 0x20 && c != '\t' || c == 0x7f:
			bad = true
		}
	}
	return bad, false
}

// parseUint reads decimal digits only, no sign and no blank, up to limit; leading zeros are legal.
func parseUint(b []byte, limit uint64) (uint64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n = n*10 + uint64(c-'0'); n > limit {
			return 0, false
		}
	}
	return n, true
}

// isBlank tells the two characters of linear white space left after unfolding.
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// skipBlank returns the first position at or after pos that is not a blank.
func skipBlank(b []byte, pos int) int {
	for pos < len(b) && isBlank(b[pos]) {
		pos++
	}
	return pos
}

// trim cuts blanks from both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// skipQuoted returns the position behind the quoted string that starts at pos, or -1 when it has no end.
func skipQuoted(b []byte, pos int) int {
	for pos++; pos < len(b); pos++ {
		switch b[pos] {
		case '\\':
			pos++
		case '"':
			return pos + 1
		}
	}
	return -1
}
