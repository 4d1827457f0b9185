package sip

// param is one ;name[=value] as offsets. value is the empty range when there is none.
type param struct {
	start            int // the ';'
	nameOff, nameEnd int
	valOff, valEnd   int
	hasValue         bool
}

// scanParam reads the parameter whose ';' stands at pos. White space around ';' and '=' is legal (RFC 3261 25.1 SEMI, EQUAL), a
// quoted string is a value with its quotes. next is where the scan stopped: at ';' or ',' or len(b).
func scanParam(b []byte, pos int) (p param, next int, ok bool) {
	p.start = pos
	pos = skipBlank(b, pos+1)
	p.nameOff = pos
	for pos < len(b) && classes[b[pos]]&classToken != 0 {
		pos++
	}
	p.nameEnd = pos
	if p.nameEnd == p.nameOff {
		return p, pos, false
	}
	p.valOff, p.valEnd = pos, pos
	pos = skipBlank(b, pos)
	if pos < len(b) && b[pos] == '=' {
		pos = skipBlank(b, pos+1)
		end := scanParamValue(b, pos)
		if end <= pos {
			return p, pos, false
		}
		p.valOff, p.valEnd, p.hasValue = pos, end, true
		pos = skipBlank(b, end)
	}
	if pos < len(b) && b[pos] != ';' && b[pos] != ',' {
		return p, pos, false
	}
	return p, pos, true
}

// scanParamValue returns the end of the token, host or quoted string at pos, -1 for a quoted string without end.
func scanParamValue(b []byte, pos int) int {
	if pos < len(b) && b[pos] == '"' {
		return skipQuoted(b, pos)
	}
	for pos < len(b) {
		if c := b[pos]; c == ';' || c == ',' || classes[c]&classURI == 0 {
			break
		}
		pos++
	}
	return pos
}

// Param finds a parameter in a list of ;name=value, with or without the leading ';', by its name in any case. The value of a
// quoted string comes without the quotes, escapes as they are; ok with a nil value is a flag parameter. It serves header
// parameters and URI parameters.
func Param(params []byte, name string) (value []byte, ok bool) {
	for pos := 0; pos < len(params); {
		end := pos
		for end < len(params) && params[end] != ';' {
			if params[end] != '"' {
				end++
			} else if end = skipQuoted(params, end); end < 0 {
				end = len(params)
			}
		}
		if v, has, found := matchParam(params[pos:end], name); found {
			if !has {
				return nil, true
			}
			return v, true
		}
		pos = end + 1
	}
	return nil, false
}

// matchParam compares one name[=value].
func matchParam(b []byte, name string) (value []byte, hasValue, found bool) {
	b = trim(b)
	eq := 0
	for eq < len(b) && b[eq] != '=' {
		eq++
	}
	if eq == 0 || !equalFold(trim(b[:eq]), name) {
		return nil, false, false
	}
	if eq == len(b) {
		return nil, false, true
	}
	value = trim(b[eq+1:])
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
		value = value[1 : n-1]
	}
	return value, true, true
}
