package importer

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// sipURI is what a SIP URI says of where to send (RFC 3261 section 19.1.1).
type sipURI struct {
	secure    bool // sips:
	user      string
	host      string // without brackets
	port      int    // 0 = not said
	transport string // lower case; empty = not said
	params    []string
}

// parseURI reads sip:user@host:port;params, and takes a missing scheme for sip.
func parseURI(s string) (sipURI, error) {
	var u sipURI
	rest := s
	if scheme, after, ok := strings.Cut(s, ":"); ok && !strings.ContainsAny(scheme, ".@[") && strings.Trim(scheme, "0123456789") != "" {
		switch strings.ToLower(scheme) {
		case "sip":
			rest = after
		case "sips":
			u.secure, rest = true, after
		default:
			if _, err := strconv.Atoi(leadingDigits(after)); err != nil || leadingDigits(after) == "" {
				return u, fmt.Errorf("the scheme %q is not sip", clip(scheme))
			}
		}
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, params, _ := strings.Cut(rest, ";")
	if user, host, ok := cutLast(rest, '@'); ok {
		u.user, _, _ = strings.Cut(user, ":")
		rest = host
	}
	if err := u.hostPort(rest); err != nil {
		return u, err
	}
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		switch {
		case strings.EqualFold(name, "transport"):
			u.transport = strings.ToLower(value)
		case p != "":
			u.params = append(u.params, p)
		}
	}
	return u, nil
}

func leadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func (u *sipURI) hostPort(s string) error {
	u.host = s
	port := ""
	switch {
	case strings.HasPrefix(s, "["):
		host, after, ok := strings.Cut(s[1:], "]")
		if !ok {
			return errors.New("the bracket of the address is not closed")
		}
		u.host, port = host, strings.TrimPrefix(after, ":")
	case strings.Count(s, ":") == 1:
		u.host, port, _ = strings.Cut(s, ":")
	}
	if u.host == "" {
		return errors.New("there is no host")
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return fmt.Errorf("%q is not a port", clip(port))
		}
		u.port = int(n)
	}
	return nil
}

// member fills in where a member is: by address, or by name. portless leaves the
// port of a name to SRV records; otherwise the default one is written out.
func (u *sipURI) member(m *trunkgroup.MemberSpec, portless bool) error {
	transport := u.transport
	if transport == "" && u.secure {
		transport = "tls"
	}
	if transport == "" {
		transport = "udp"
	}
	t, err := trunkgroup.ParseTransport(transport)
	if err != nil || !t.Dialled() {
		return fmt.Errorf("the transport %q cannot be dialled", clip(transport))
	}
	if t != trunkgroup.UDP {
		m.Transport = t
	}
	port := u.port
	if port == 0 {
		port = int(t.DefaultPort())
	}
	if addr, err := netip.ParseAddr(u.host); err == nil {
		m.Address = netip.AddrPortFrom(addr.Unmap(), uint16(port)).String()
		return nil
	}
	m.FQDN = u.host
	if u.port != 0 || !portless {
		m.FQDN += ":" + strconv.Itoa(port)
	}
	return nil
}

// far tells two far ends apart, and names one where nothing else does.
func far(m *trunkgroup.MemberSpec) string {
	at := m.Address
	if at == "" {
		at = strings.ToLower(m.FQDN)
	}
	at = strings.Trim(strings.NewReplacer("[", "", "]:", "-", "]", "", ":", "-").Replace(at), "-")
	if m.Transport != 0 && m.Transport != trunkgroup.UDP {
		at += "-" + m.Transport.String()
	}
	return at
}
