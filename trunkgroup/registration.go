package trunkgroup

import (
	"cmp"
	"errors"
	"net/netip"
	"strings"
	"time"
)

// Defaults of a registration.
const (
	defaultContacts   = 10
	defaultMinExpires = time.Minute
	defaultMaxExpires = time.Hour
	defaultNATExpires = time.Minute
	// leastExpires bounds what may be granted at most.
	leastExpires = 5 * time.Second
	maxContacts  = 1000
)

// ParseAOR reads an address of record, sip:user@host, and returns it in
// canonical form: the scheme and the host in lower case, no port, no parameters.
func ParseAOR(s string) (aor, user, host string, err error) {
	scheme, rest, _ := strings.Cut(s, ":")
	if !strings.EqualFold(scheme, "sip") && !strings.EqualFold(scheme, "sips") {
		return "", "", "", errors.New("is not a sip: address")
	}
	rest, _, _ = strings.Cut(rest, ";")
	user, host, ok := strings.Cut(rest, "@")
	if !ok || user == "" || hasControl(user) || strings.ContainsAny(user, " <>\"") {
		return "", "", "", errAOR
	}
	if host, err = hostOf(host); err != nil {
		return "", "", "", errAOR
	}
	return "sip:" + user + "@" + host, user, host, nil
}

var errAOR = errors.New("is not an address of record")

// hostOf reads a name or an address, with a port or without, and returns it in
// lower case without the port.
func hostOf(s string) (string, error) {
	bare := s
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		bare = s[1 : len(s)-1]
	}
	a, err := netip.ParseAddr(bare)
	if ap, bad := netip.ParseAddrPort(s); bad == nil {
		a, err = ap.Addr(), nil
	}
	switch {
	case err == nil && a.Is6():
		return "[" + a.String() + "]", nil
	case err == nil:
		return a.String(), nil
	}
	host, _, err := parseFQDN(s)
	return strings.ToLower(host), err
}

func compileRegistration(s *RegistrationSpec) *Registration {
	aor, user, _, _ := ParseAOR(s.AOR)
	r := &Registration{
		AOR: aor, Users: s.Users, Contacts: cmp.Or(s.Contacts, defaultContacts),
		MinExpires: s.MinExpires.or(defaultMinExpires), MaxExpires: s.MaxExpires.or(defaultMaxExpires),
		NATExpires: s.NATExpires.or(defaultNATExpires), ByNumber: s.RequestURI == "number",
		BoundIP: networks(s.BoundIP),
	}
	if len(r.Users) == 0 {
		r.Users = []string{user}
	}
	return r
}

// registration checks a member that registers.
func (v *validator) registration(path string, m *MemberSpec) {
	r := m.Registration
	at := path + ".registration"
	if m.Site != "" || m.Address != "" || m.FQDN != "" || m.Transport != 0 || m.ServerName != "" {
		v.faults.add(path, "a member that registers has no site, address, fqdn, transport or server_name", "take them out: it stands where it registers")
	}
	aor, _, _, err := ParseAOR(r.AOR)
	if err != nil {
		v.faults.addf(at+".aor", "write it like sip:pbx@sip.example.com", "%q %v", r.AOR, err)
	} else if first, ok := v.aors[aor]; ok {
		v.faults.addf(at+".aor", "one AOR belongs to one member", "stands already at %s", first)
	} else {
		v.aors[aor] = at
	}
	if r.Contacts < 0 || r.Contacts > maxContacts {
		v.faults.addf(at+".contacts", "use 1 to 1000", "%d is out of range", r.Contacts)
	}
	ok := v.duration(at+".min_expires", r.MinExpires, false)
	ok = v.duration(at+".max_expires", r.MaxExpires, false) && ok
	ok = v.duration(at+".nat_expires", r.NATExpires, false) && ok
	for _, most := range []struct {
		key string
		d   Duration
	}{{".max_expires", r.MaxExpires}, {".nat_expires", r.NATExpires}} {
		if ok && most.d != 0 && time.Duration(most.d) < leastExpires {
			v.faults.addf(at+most.key, "use 5s or more", "%s has the far end register without pause", most.d)
		}
	}
	if c := compileRegistration(r); ok && c.MinExpires > c.MaxExpires {
		v.faults.addf(at+".min_expires", "lower it or raise max_expires", "%s is above max_expires, %s", c.MinExpires, c.MaxExpires)
	}
	if c := compileRegistration(r); ok && c.MaxExpires > MaxExpires {
		v.faults.addf(at+".max_expires", "use 2h at most", "%s is longer than any binding is kept", c.MaxExpires)
	}
	v.networks(at+".bound_ip", r.BoundIP)
	if r.RequestURI != "" && r.RequestURI != "contact" && r.RequestURI != "number" {
		v.faults.addf(at+".request_uri", "write contact or number", "%q is neither", r.RequestURI)
	}
}
