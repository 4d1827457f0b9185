package b2bua

import (
	"bytes"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// persona is an address of a call in pieces: of From, To or another header that names
// somebody.
type persona struct {
	display    []byte // quoted, with a blank behind it; empty for none
	scheme     string // sip, sips or tel
	user       []byte // the number, or name, as a URI has it
	userParams []byte // with the ; before them
	rest       []byte // from the @ on; of a tel URI its parameters
	params     []byte // of the header, without the ; before them
	text       []byte // all of it as it came, when it cannot be read
}

// readPersona takes an address apart.
func readPersona(v []byte) persona {
	a, err := sip.ParseNameAddr(v)
	if err != nil {
		return persona{text: v}
	}
	u, err := sip.ParseURI(a.URI)
	if err != nil {
		return persona{text: v}
	}
	p := persona{display: appendDisplay(nil, v, &a), scheme: u.Scheme, params: a.Params}
	p.user, p.userParams = u.User, nil
	if user, params := number.Split(u.User); params != nil {
		p.user, p.userParams = user, u.User[len(user):]
	}
	behind := a.URI[len(u.Scheme)+1:]
	switch at := bytes.IndexByte(behind, '@'); {
	case u.Scheme == "tel":
		p.rest = behind[len(u.User):]
	case at >= 0:
		p.rest = behind[at:]
	default:
		p.rest = append([]byte{'@'}, behind...)
	}
	return p
}

// append writes the address.
func (p *persona) append(dst []byte) []byte {
	if p.text != nil {
		return append(dst, p.text...)
	}
	dst = append(append(append(append(dst, p.display...), '<'), p.scheme...), ':')
	dst = append(append(dst, p.user...), p.userParams...)
	rest := p.rest
	if len(p.user) == 0 {
		rest = bytes.TrimPrefix(rest, []byte{'@'})
	}
	dst = append(append(dst, rest...), '>')
	if len(p.params) > 0 {
		dst = append(append(dst, ';'), p.params...)
	}
	return dst
}

// anonymousHost is where nobody is (RFC 3323 section 4.1.1.3).
const anonymousHost = "anonymous.invalid"

// nobody is the From of a caller who is withheld (S-085).
func nobody() persona {
	return persona{display: []byte(`"Anonymous" `), scheme: "sip", user: []byte("anonymous"), rest: []byte("@" + anonymousHost)}
}

// anonymous reports whether the address says that it names nobody.
func (p *persona) anonymous() bool {
	return bytes.EqualFold(p.user, []byte("anonymous")) || bytes.EqualFold(p.host(), []byte(anonymousHost))
}

// host is the host of a sip address, without its port.
func (p *persona) host() []byte {
	host := bytes.TrimPrefix(p.rest, []byte{'@'})
	if i := bytes.IndexAny(host, ":;?"); i >= 0 && !bytes.HasPrefix(host, []byte{'['}) {
		host = host[:i]
	}
	return host
}

// at puts the address at a host, without the parameters that it had at the one before.
func (p *persona) at(host string) { p.rest = append([]byte{'@'}, host...) }

// become makes the address that of another number, at a host. The name stays that the
// caller goes by, unless it is a number too.
func (p *persona) become(user []byte, host string) {
	p.text, p.scheme, p.user, p.userParams = nil, "sip", user, nil
	p.at(host)
	if countDigits(p.display) >= shortestSecret {
		p.display = nil
	}
}

func countDigits(b []byte) (n int) {
	for _, c := range b {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

// calling reports whether an address of Remote-Party-ID is the caller's.
func (p *persona) calling() bool {
	side, ok := sip.Param(p.params, "party")
	return !ok || !bytes.EqualFold(side, []byte("called"))
}

// userOf returns the user of a number that a decision server wrote, alone or as a URI: of a
// URI nothing else is taken. It can be part of a URI whatever stood in it.
func userOf(text string) (user, params []byte) {
	text = strings.TrimSpace(text)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "<"), ">")
	scheme, rest, isURI := strings.Cut(text, ":")
	switch s := strings.ToLower(scheme); {
	case isURI && (s == "sip" || s == "sips"):
		var has bool
		if text, _, has = strings.Cut(rest, "@"); !has {
			return nil, nil
		}
	case isURI && s == "tel":
		text = rest
	}
	text, _, _ = strings.Cut(text, "@")
	text, _, _ = strings.Cut(text, ":")
	head, tail, has := strings.Cut(text, ";")
	if has {
		params = appendEscaped([]byte{';'}, tail, ";=")
	}
	return appendEscaped(nil, head, ""), params
}

// appendEscaped appends text as part of the user of a URI: whatever has no place there is
// escaped (RFC 3261 section 25.1), what is escaped already stays as it is.
func appendEscaped(dst []byte, text, also string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.IndexByte("-_.!~*'()&=+$,", c) >= 0, strings.IndexByte(also, c) >= 0,
			c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			dst = append(dst, c)
		default:
			dst = append(dst, '%', digits[c>>4], digits[c&0xf])
		}
	}
	return dst
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
