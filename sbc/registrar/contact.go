package registrar

import (
	"bytes"
	"net/netip"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// contacts reads what shall change (RFC 3261 10.3). A star stands alone and
// with Expires: 0.
func (r *Request) contacts(m *sip.Message) *Refusal {
	var fault *Refusal
	values := 0
	asked, told := expiresOf(m)
	rport := m.TopVia().RPort
	m.EachOf(sip.Contact, func(v []byte) bool {
		values++
		switch {
		case values > maxRequested:
			fault = refuse(400, "Too Many Contacts", "contact")
		case string(v) == "*":
			r.Star = true
		default:
			var c Contact
			if c, fault = r.contact(v, asked, rport); fault == nil {
				r.Contacts = append(r.Contacts, c)
			}
		}
		return fault == nil
	})
	if fault == nil && r.Star && (values > 1 || !told || asked != 0) {
		fault = refuse(400, "A Contact of * Stands Alone, With Expires: 0", "star")
	}
	return fault
}

// expiresOf reads the Expires header. What is no number asks for the default
// (RFC 3261 20.19).
func expiresOf(m *sip.Message) (d time.Duration, told bool) {
	v := m.Header(sip.Expires)
	if v == nil {
		return defaultExpires, false
	}
	return seconds(v), true
}

func seconds(v []byte) time.Duration {
	n, ok := number(v, 1<<32-1)
	if !ok {
		return defaultExpires
	}
	return time.Duration(n) * time.Second
}

// contact reads one contact.
func (r *Request) contact(v []byte, asked time.Duration, rport bool) (Contact, *Refusal) {
	a, err := sip.ParseNameAddr(v)
	if err != nil {
		return Contact{}, refuse(400, "Bad Contact", "contact")
	}
	uri := a.URI
	u, err := sip.ParseURI(uri)
	if n := len(u.Headers); n > 0 { // not for us to send
		uri, u.Headers = uri[:len(uri)-n-1], nil
	}
	if err != nil || u.Scheme == "tel" || len(uri) > maxURI {
		return Contact{}, refuse(400, "Contact Is No SIP Address of 512 Octets at Most", "contact")
	}
	c := Contact{URI: string(uri), Q: 1000}
	if q, ok := sip.Param(a.Params, "q"); ok {
		c.Q = qvalue(q)
	}
	if e, ok := sip.Param(a.Params, "expires"); ok {
		asked = seconds(e)
	}
	if i, ok := sip.Param(a.Params, "+sip.instance"); ok {
		c.Instance = unquotable(i)
	}
	if id, ok := sip.Param(a.Params, "reg-id"); ok && c.Instance != "" && r.outbound {
		if n, ok := number(id, 1<<31-1); ok {
			c.RegID = uint32(n)
		}
	}
	_, c.Bulk = u.Param("bnc")
	c.Reach, c.Addr = r.place(&u, rport)
	c.ID = r.identity(&c, &u)
	return c, r.grant(&c, asked)
}

// grant decides for how long a contact is kept.
func (r *Request) grant(c *Contact, asked time.Duration) *Refusal {
	rules := r.Member.Registration
	if asked == 0 {
		return nil
	}
	if asked < rules.MinExpires && asked < time.Hour {
		least := strconv.FormatInt(int64((rules.MinExpires+time.Second-1)/time.Second), 10)
		return &Refusal{Code: 423, Extra: "Min-Expires: " + least + "\r\n", Result: "brief"}
	}
	c.Expires = min(asked, rules.MaxExpires, trunkgroup.MaxExpires)
	switch {
	case c.Reach == trunkgroup.ReachSocket:
		c.Expires = min(c.Expires, rules.NATExpires)
	case c.Reach == trunkgroup.ReachFlow && r.From.FlowExpires > 0:
		c.Expires = min(c.Expires, r.From.FlowExpires)
	}
	c.Expires = max(c.Expires, time.Second)
	return nil
}

// place says how requests reach a contact; the package comment gives the rule.
func (r *Request) place(u *sip.URI, rport bool) (trunkgroup.Reach, netip.AddrPort) {
	source := r.From.Source
	if r.From.Transport != trunkgroup.UDP {
		return trunkgroup.ReachFlow, source
	}
	next := u
	if len(r.Path) > 0 { // the proxy next to us
		if a, err := sip.ParseNameAddr([]byte(r.Path[0])); err == nil {
			if p, err := sip.ParseURI(a.URI); err == nil {
				next = &p
			}
		}
	}
	host, ok := address(next.Host)
	if !ok || host != source.Addr() {
		return trunkgroup.ReachSocket, source
	}
	port := next.Port
	if port == 0 {
		port = trunkgroup.UDP.DefaultPort()
	}
	switch {
	case port == source.Port():
		return trunkgroup.ReachAny, source
	case rport:
		return trunkgroup.ReachSocket, source
	}
	// A sender that does not want responses at the port it sends from listens at
	// the one that it names (RFC 3581 3).
	return trunkgroup.ReachAny, netip.AddrPortFrom(host, port)
}

// address reads a host that is an address.
func address(host []byte) (netip.Addr, bool) {
	a, err := netip.ParseAddr(string(bytes.Trim(host, "[]")))
	return a.Unmap(), err == nil
}

// identity is what the contact is known by (R-21, RFC 5626, DEC-15), as a hash.
func (r *Request) identity(c *Contact, u *sip.URI) string {
	var b []byte
	if c.RegID != 0 {
		b = strconv.AppendUint(append(append(append(b, 'i'), c.Instance...), 0), uint64(c.RegID), 10)
	} else {
		b = append(append(append(append(b, 'c'), u.User...), 0), lower(u.Host)...)
		b = strconv.AppendUint(append(b, 0), uint64(portOf(u)), 10)
		b = append(append(b, 0), transportOf(u)...)
		if host, ok := address(u.Host); !ok || host != r.From.Source.Addr() {
			b = r.From.Source.Addr().AppendTo(append(b, 0))
		}
	}
	h := xxhash.Sum64(b)
	const digits = "0123456789abcdef"
	var id [16]byte
	for i := range id {
		id[i] = digits[h>>(60-4*i)&0xf]
	}
	return string(id[:])
}

func portOf(u *sip.URI) uint16 {
	switch {
	case u.Port != 0:
		return u.Port
	case u.Scheme == "sips":
		return 5061
	}
	return 5060
}

func transportOf(u *sip.URI) string {
	if v, ok := u.Param("transport"); ok {
		return lower(v)
	}
	if u.Scheme == "sips" {
		return "tls"
	}
	return "udp"
}
