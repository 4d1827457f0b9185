package trunkgroup

import "strings"

// maxHeaderName bounds the name of a header, in octets.
const maxHeaderName = 64

// ofOneLeg are headers that name a dialog, a hop or a program: they keep no calls
// together, and a hand-off does not have them.
var ofOneLeg = [...]string{
	"Via", "v", "From", "f", "Call-ID", "i", "CSeq", "Max-Forwards", "Contact", "m", "Route", "Record-Route", "Path",
	"Content-Length", "l", "Content-Type", "c", "Authorization", "Proxy-Authorization", "Supported", "k", "Require", "Allow",
	"Session-Expires", "x", "Min-SE", "User-Agent", "Timestamp",
}

func (v *validator) distribution(path string, d *DistributionSpec) {
	header := d.SessionAffinityHeader
	if d.Sessions != 0 && d.Method != LeastSessions && header == "" {
		v.faults.add(path+".sessions", "means nothing without method: least-sessions or a session_affinity_header", "take it out, or add one of them")
	}
	if header != "" && (len(header) > maxHeaderName || !isToken(header)) {
		v.faults.addf(path+".session_affinity_header", "write the name of a header, like X-Room-Id", "%.64q is not the name of a header", header)
	}
	for _, own := range ofOneLeg {
		if strings.EqualFold(header, own) {
			v.faults.addf(path+".session_affinity_header", "use a header that callers of one room send alike, like X-Room-Id",
				"%s is different in each call, or does not cross to the peer site", own)
		}
	}
}

// isToken tells whether a text is a token (RFC 3261 25.1).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		other := c == '-' || c == '.' || c == '!' || c == '%' || c == '*' || c == '_' || c == '+' || c == '`' || c == '\'' || c == '~'
		if !isAlnum(c) && !other {
			return false
		}
	}
	return s != ""
}
