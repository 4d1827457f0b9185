package trunkgroup

import (
	"strings"
	"time"
)

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
	v.key(path, d)
	v.slowStart(path+".slow_start", d)
	if d.Method == Parallel && header != "" {
		v.faults.add(path+".session_affinity_header", "means nothing with method: parallel, which calls all far ends at once", "take it out, or use another method")
	}
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

// key checks what a method hashes.
func (v *validator) key(path string, d *DistributionSpec) {
	key, at := d.Method.keyOf(), path+".key"
	switch takes := d.Method == Hash || d.Method == HashMod; {
	case takes && d.Key == "":
		v.faults.addf(at, "name what of a call is hashed: "+strings.Join(KeyNames(), ", "), "is missing: method %s needs it", d.Method)
		return
	case takes:
		k, header, err := ParseKey(d.Key)
		if err != nil {
			v.faults.add(at, err.Error(), Suggest(d.Key, KeyNames()))
			return
		}
		v.keyHeader(at, header)
		key = k
	case d.Key != "" && key != KeyNone:
		v.faults.addf(at, "take it out, or use method: hash", "means nothing with method: %s, which has its own", d.Method)
	case d.Key != "":
		v.faults.add(at, "means nothing without method: hash or hash-mod", "take it out, or use one of them")
	}
	if d.UserOnly && key != KeyFrom && key != KeyTo {
		v.faults.add(path+".user_only", "means nothing without a method that hashes From or To", "take it out, or use one, like hash-from")
	}
}

// keyHeader checks a header that is a key.
func (v *validator) keyHeader(path, header string) {
	for _, own := range ofOneLeg {
		if strings.EqualFold(header, own) {
			v.faults.addf(path, "use key: call-id, from, to or auth-user, or a header that callers send alike",
				"%s is different in each call, or does not cross to the peer site", own)
		}
	}
}

// maxSlowStart bounds how long a member may have less than its share.
const maxSlowStart = time.Hour

func (v *validator) slowStart(path string, d *DistributionSpec) {
	switch {
	case d.SlowStart == 0 || !v.duration(path, d.SlowStart, false):
	case d.SlowStart.or(0) > maxSlowStart:
		v.faults.addf(path, "use at most 1h", "%s is too long", d.SlowStart)
	case d.Method == HashMod:
		v.faults.add(path, "means nothing with method: hash-mod, which places each key as Kamailio does", "take it out, or use method: hash")
	case d.Method == Parallel:
		v.faults.add(path, "means nothing with method: parallel, which calls all far ends at once", "take it out")
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
