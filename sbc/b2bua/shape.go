package b2bua

import (
	"strconv"

	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// shaped is what the INVITE of an attempt says of numbers and identities.
type shaped struct {
	uri      string // Request-URI
	from, to string // From and To values, without tags
	lines    []byte // complete header lines
	veil     *veil  // what the caller says later must pass; nil for most
}

// shape makes it for one far end, always from the caller's own request (S-082).
func (c *Call) shape(t *try, hop transport.Target) shaped {
	if t.cand.Route != nil || t.cand.Member.Group.Shapes() {
		return c.shapeRoute(t, hop)
	}
	m, host := t.cand.Member, memberHost(t.cand)
	return shaped{
		uri:  "sip:" + c.calledUser(m) + "@" + host + m.Transport.URIParam(),
		from: c.callerAddress(hop), to: c.calledAddress(host), lines: c.callerLines(hop),
	}
}

// callerLines are the header lines that cross to a leg.
func (c *Call) callerLines(hop transport.Target) []byte {
	lines := make([]byte, 0, crossingSize(c.msg)+96)
	return c.appendCaller(append(lines, allowLine...), c.callerHost(hop))
}

// calledUser is the user part of the Request-URI: the number as the member's
// group wants it; towards carriers with the parameters that the caller put
// behind it (NUM-01).
func (c *Call) calledUser(m *trunkgroup.Member) string {
	if c.toAOR() {
		return c.calledRaw
	}
	dialled, params := number.Split([]byte(c.calledRaw))
	b := make([]byte, 0, len(c.called)+len(params)+8)
	b = number.AppendFormatted(b, &m.Group.Numbering, []byte(c.called), dialled)
	if m.Group.Role == trunkgroup.PSTNProvider && len(params) > 0 {
		b = append(append(b, ';'), params...)
	}
	return string(b)
}

// callerAddress is the From of a B leg: the caller's name and number at our own
// address. An anonymous caller stays as he is (RFC 3323 4.1).
func (c *Call) callerAddress(hop transport.Target) string {
	if c.ani != "" {
		return c.overridden(c.callerHost(hop))
	}
	return c.callerFrom(c.s.sentBy(hop))
}

// callerFrom is what the caller says of himself, at a host.
func (c *Call) callerFrom(host string) string { return readdress(c.msg.Header(sip.From), host) }

// calledAddress is the To of a B leg: what the caller wrote, at the far end's
// host (NUM-08).
func (c *Call) calledAddress(host string) string {
	return readdress(c.msg.Header(sip.To), host)
}

// readdress rewrites the host of a From or To value and drops its parameters.
func readdress(v []byte, host string) string {
	a, err := sip.ParseNameAddr(v)
	if err != nil {
		return "<sip:" + host + ">"
	}
	u, err := sip.ParseURI(a.URI)
	if err != nil {
		return withoutTag(v)
	}
	b := append(appendDisplay(make([]byte, 0, len(v)+len(host)+8), v, &a), '<')
	switch {
	case u.Scheme == "tel" || string(u.Host) == "anonymous.invalid":
		b = append(b, a.URI...)
	default:
		b = append(append(b, u.Scheme...), ':')
		if len(u.User) > 0 {
			b = append(append(b, u.User...), '@')
		}
		b = append(b, host...)
	}
	return string(append(b, '>'))
}

// memberHost is the host part that names a member: its name when it has one.
func memberHost(cand trunkgroup.Candidate) string {
	if cand.Member.FQDN == "" {
		return cand.Addr.String()
	}
	if cand.Member.Port == 0 {
		return cand.Member.FQDN
	}
	return cand.Member.FQDN + ":" + strconv.Itoa(int(cand.Member.Port))
}
