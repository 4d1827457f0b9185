package sip

import "strconv"

// AppendStatusLine appends "SIP/2.0 code reason". An empty reason becomes the usual one of the code.
func AppendStatusLine(dst []byte, code int, reason string) []byte {
	if reason == "" {
		reason = ReasonPhrase(code)
	}
	dst = append(dst, "SIP/2.0 "...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, ' ')
	dst = appendClean(dst, reason)
	return append(dst, '\r', '\n')
}

// AppendHeader appends one header line whose value is the parts in a row. No part can end the line: CR, LF and NUL are dropped,
// wherever the value came from (a stranger's message, the API, the configuration).
func AppendHeader[V ~string | ~[]byte](dst []byte, name string, parts ...V) []byte {
	dst = append(dst, name...)
	dst = append(dst, ':', ' ')
	for _, part := range parts {
		dst = appendClean(dst, part)
	}
	return append(dst, '\r', '\n')
}

// AppendHeaderInt appends a header line with a decimal number.
func AppendHeaderInt(dst []byte, name string, n int64) []byte {
	dst = append(dst, name...)
	dst = append(dst, ':', ' ')
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, '\r', '\n')
}

// AppendBody ends the header block: Content-Type when there is a body, Content-Length always, the blank line, the body as it is.
func AppendBody(dst []byte, contentType, body []byte) []byte {
	if len(body) > 0 && len(contentType) > 0 {
		dst = AppendHeader(dst, "Content-Type", contentType)
	}
	dst = AppendHeaderInt(dst, "Content-Length", int64(len(body)))
	dst = append(dst, '\r', '\n')
	return append(dst, body...)
}

// AppendEach appends every line of the header as it is in m, under the canonical name: Record-Route into a response, Identity
// across the B2BUA. It does nothing for Other.
func AppendEach(dst []byte, m *Message, id HeaderID) []byte {
	if id == Other {
		return dst
	}
	for i := range m.fields {
		if f := &m.fields[i]; f.id == id {
			dst = AppendHeader(dst, headerNames[id], f.value.of(m.raw))
		}
	}
	return dst
}

// appendClean appends a value without CR, LF and NUL. A backslash that escaped one goes with it, else it would escape the next
// character. A value without control characters, the rule, is one copy and one look at eight bytes at a time.
func appendClean[V ~string | ~[]byte](dst []byte, value V) []byte {
	base := len(dst)
	dst = append(dst, value...)
	if !hasControl(dst[base:]) {
		return dst
	}
	return dst[:base+strip(dst[base:])]
}

// strip removes CR, LF and NUL in place and returns the new length.
func strip(b []byte) (n int) {
	escape := false // an odd run of backslashes stands before c
	for _, c := range b {
		if c != '\r' && c != '\n' && c != 0 {
			escape = c == '\\' && !escape
			b[n] = c
			n++
			continue
		}
		if escape {
			escape = false
			n--
		}
	}
	return n
}
