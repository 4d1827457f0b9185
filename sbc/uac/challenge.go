package uac

import (
	"errors"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/auth"
)

// Challenge is one Digest challenge. Its texts are those between the quotes, escapes
// left as they are, since the digest goes over the characters on the wire.
type Challenge struct {
	Realm, Nonce, Opaque string
	Algorithm            auth.Algorithm
	// QOP: the challenge names qualities, Auth: "auth" is among them.
	QOP, Auth bool
	// Stale: the last answer was right but for its nonce.
	Stale bool
	// Proxy: of a 407; its answer is a Proxy-Authorization.
	Proxy bool
}

// errChallenge reports a value that is no well-formed Digest challenge (RFC 7616
// section 3.3).
var errChallenge = errors.New("uac: malformed digest challenge")

// maxText bounds what of a challenge is echoed, in bytes.
const maxText = 1024

// ParseChallenge reads the value of a WWW-Authenticate or Proxy-Authenticate. digest
// is false for another scheme. Parameters that it does not know are skipped, one that
// stands twice is a fault, as two readers need not see the same challenge.
func ParseChallenge(v string) (c Challenge, digest bool, err error) {
	scheme, rest, _ := strings.Cut(strings.TrimLeft(v, " \t\r\n"), " ")
	if !strings.EqualFold(scheme, "digest") {
		return c, false, nil
	}
	c.Algorithm = auth.MD5 // without the parameter (RFC 7616 section 3.3)
	seen := make(map[string]bool, 8)
	for {
		rest = strings.TrimLeft(rest, " \t\r\n,")
		if rest == "" {
			break
		}
		name, value, after, ok := cutParam(rest)
		if name = strings.ToLower(name); !ok || seen[name] {
			return c, true, errChallenge
		}
		seen[name], rest = true, after
		c.set(name, value)
	}
	if !seen["realm"] || c.Nonce == "" || !echoable(c.Realm) || !echoable(c.Nonce) || !echoable(c.Opaque) {
		return c, true, errChallenge
	}
	return c, true, nil
}

func (c *Challenge) set(name, value string) {
	switch name {
	case "realm":
		c.Realm = value
	case "nonce":
		c.Nonce = value
	case "opaque":
		c.Opaque = value
	case "stale":
		c.Stale = strings.EqualFold(value, "true")
	case "algorithm":
		c.Algorithm = auth.ParseAlgorithm([]byte(value))
	case "qop":
		c.QOP = true
		for one := range strings.SplitSeq(value, ",") {
			c.Auth = c.Auth || strings.EqualFold(strings.Trim(one, " \t"), "auth")
		}
	}
}

// cutParam takes name=value from the front; a value is a token or a quoted string.
func cutParam(s string) (name, value, rest string, ok bool) {
	eq := strings.IndexByte(s, '=')
	if eq <= 0 {
		return "", "", "", false
	}
	name = strings.TrimRight(s[:eq], " \t\r\n")
	if name == "" || strings.ContainsAny(name, "\", \t\r\n;<>") {
		return "", "", "", false
	}
	s = strings.TrimLeft(s[eq+1:], " \t\r\n")
	if strings.HasPrefix(s, `"`) {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return name, s[1:i], s[i+1:], true
			}
		}
		return "", "", "", false
	}
	end := strings.IndexAny(s, ", \t\r\n\"")
	if end < 0 {
		end = len(s)
	}
	return name, s[:end], s[end:], end > 0
}

// echoable tells whether a text may stand in a header of ours between quotes.
func echoable(s string) bool {
	if len(s) > maxText {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] < ' ' || s[i] == 0x7f || s[i] == '"':
			return false
		case s[i] == '\\':
			if i++; i == len(s) || s[i] < ' ' {
				return false
			}
		}
	}
	return true
}

// unescaped removes the backslashes of a quoted string.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
