package guard

import (
	"bytes"
	"strings"
)

// DefaultSignatures are words by which tools name themselves that look for open
// exchanges. Case does not matter.
func DefaultSignatures() []string {
	return []string{
		"friendly-scanner", "friendly-request", "sipvicious", "sundayddr", "sipcli", "sip-scan", "sipscan", "siparmyknife",
		"vaxsipuseragent", "vaxipuseragent", "pplsip", "iwar", "sivus", "smap", "eyebeam-scanner", "gulp-scanner", "sipptk",
	}
}

// maxHead bounds how far into a message a signature is looked for.
const maxHead = 4096

// signatures finds the words of scanners in messages.
type signatures struct{ words [][]byte }

func newSignatures(words []string) *signatures {
	s := &signatures{}
	for _, w := range words {
		if w = strings.ToLower(strings.TrimSpace(w)); w != "" {
			s.words = append(s.words, []byte(w))
		}
	}
	return s
}

// match tells whether a request names a scanner as its User-Agent, or, where names
// says so, as its sender's display name and nothing beside: people are called Iwar, and
// what a PBX forwards has a name that its caller chose. So has what is answered to a
// caller, which is why responses are not looked at. It reads lines and nothing else,
// since nobody has checked the message.
func (s *signatures) match(raw []byte, names bool) bool {
	if len(s.words) == 0 || bytes.HasPrefix(raw, []byte("SIP/2.0 ")) {
		return false
	}
	head := raw[:min(len(raw), maxHead)]
	for len(head) > 0 {
		line := head
		if end := bytes.IndexByte(head, '\n'); end >= 0 {
			line, head = head[:end], head[end+1:]
		} else {
			head = nil
		}
		if len(line) <= 1 {
			return false // the body begins
		}
		switch value, is := telling(line); {
		case is == agentLine && s.contains(value), is == fromLine && names && s.is(value):
			return true
		}
	}
	return false
}

// What a line may tell.
const (
	otherLine = iota
	agentLine
	fromLine
)

// telling returns the part of a header line in which a tool may name itself.
func telling(line []byte) (value []byte, is int) {
	switch line[0] | 0x20 {
	case 'u', 'f':
	default:
		return nil, otherLine
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return nil, otherLine
	}
	name, value := bytes.TrimRight(line[:colon], " \t"), line[colon+1:]
	switch {
	case bytes.EqualFold(name, []byte("user-agent")):
		return value, agentLine
	case bytes.EqualFold(name, []byte("from")), bytes.EqualFold(name, []byte("f")):
		if display, _, found := bytes.Cut(value, []byte{'<'}); found {
			return display, fromLine
		}
	}
	return nil, otherLine
}

// is tells whether a display name is one of the words.
func (s *signatures) is(display []byte) bool {
	display = bytes.Trim(display, " \t\"")
	for _, w := range s.words {
		if bytes.EqualFold(display, w) {
			return true
		}
	}
	return false
}

// contains finds one of the words, whole: "sipcli" is not in "SIPClient".
func (s *signatures) contains(value []byte) bool {
	var buf [256]byte
	low := buf[:copy(buf[:], value)]
	for i, c := range low {
		if c >= 'A' && c <= 'Z' {
			low[i] = c | 0x20
		}
	}
	for _, w := range s.words {
		for rest := low; ; {
			at := bytes.Index(rest, w)
			if at < 0 {
				break
			}
			after := at + len(w)
			if !letter(rest, at-1) && !letter(rest, after) {
				return true
			}
			rest = rest[after:]
		}
	}
	return false
}

func letter(b []byte, i int) bool {
	return i >= 0 && i < len(b) && (b[i] >= 'a' && b[i] <= 'z' || b[i] >= '0' && b[i] <= '9')
}
