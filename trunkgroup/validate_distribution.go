package trunkgroup

// maxHeaderName bounds the name of a header, in octets.
const maxHeaderName = 64

func (v *validator) distribution(path string, d *DistributionSpec) {
	header := d.SessionAffinityHeader
	if d.Sessions != 0 && d.Method != LeastSessions && header == "" {
		v.faults.add(path+".sessions", "means nothing without method: least-sessions or a session_affinity_header", "take it out, or add one of them")
	}
	if header != "" && (len(header) > maxHeaderName || !isToken(header)) {
		v.faults.addf(path+".session_affinity_header", "write the name of a header, like X-Room-Id", "%.64q is not the name of a header", header)
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
