package trunkgroup

import (
	"cmp"
	"log/slog"
	"net/netip"
	"strings"
	"time"
)

// AccountSpec is what a carrier gave us to log in with: it answers the carrier's
// digest challenges and, with register, holds a registration there. It holds hashes
// of username:realm:password (RFC 7616 section 3.4.2), never the password.
type AccountSpec struct {
	AOR          string   `yaml:"aor" json:"aor"`                                           // sip:user@host, as the carrier names the account
	Username     string   `yaml:"username,omitempty" json:"username,omitempty"`             // digest user; default the AOR's user
	Realm        string   `yaml:"realm" json:"realm"`                                       // the only realm whose challenges are answered
	HA1MD5       string   `yaml:"ha1_md5,omitempty" json:"ha1_md5,omitempty"`               // 32 hex digits
	HA1SHA256    string   `yaml:"ha1_sha256,omitempty" json:"ha1_sha256,omitempty"`         // 64 hex digits
	HA1SHA512256 string   `yaml:"ha1_sha512_256,omitempty" json:"ha1_sha512_256,omitempty"` // 64 hex digits
	Register     bool     `yaml:"register,omitempty" json:"register,omitempty"`             // hold a registration; without it challenges are answered, no more
	Registrar    string   `yaml:"registrar,omitempty" json:"registrar,omitempty"`           // address or name, with port or without; default the member's own
	Expires      Duration `yaml:"expires,omitempty" json:"expires,omitempty"`               // what is asked for; default 1h, 60s to 24h
	// Trust says whose INVITEs to our contact are taken for the carrier's:
	// "registrar" (default), the addresses of the registrar and of the member, or
	// "token", whoever knows the contact.
	Trust    string `yaml:"trust,omitempty" json:"trust,omitempty"`
	Required bool   `yaml:"required,omitempty" json:"required,omitempty"` // no call goes to the member while its registration has failed
}

// Account is the compiled account of a member.
type Account struct {
	AOR          string // canonical: sip:user@host
	User, Host   string // of the AOR
	Username     string
	Realm        string
	HA1MD5       string // hex, lower case; empty when the account has none
	HA1SHA256    string // the same
	HA1SHA512256 string // the same
	Register     bool
	Registrar    Registrar
	Expires      time.Duration // what a REGISTER asks for
	TrustToken   bool          // an INVITE to our contact is the carrier's wherever it comes from
	Required     bool          // no call goes to the member while its registration has failed
}

// CauseNotRegistered is the cause of a carrier's member that takes no calls while we are
// not registered there.
const CauseNotRegistered = "not_registered"

// Registrar is where REGISTERs of an account go; the zero value is the member itself.
type Registrar struct {
	Addr netip.AddrPort // zero for a registrar by name
	FQDN string
	Port uint16 // of a registrar by name; 0 = by SRV (RFC 3263)
}

// Bounds and default of an account's expiry.
const (
	defaultAccountExpires = time.Hour
	minAccountExpires     = time.Minute
	maxAccountExpires     = 24 * time.Hour
)

// LogValue keeps the hashes out of logs.
func (a Account) LogValue() slog.Value {
	return slog.GroupValue(slog.String("aor", a.AOR), slog.String("username", a.Username), slog.String("realm", a.Realm))
}

// String keeps the hashes out of formatted text.
func (a Account) String() string { return a.AOR }

// GoString keeps the hashes out of formatted text.
func (a Account) GoString() string { return a.AOR }

func compileAccount(s *AccountSpec, transport Transport) *Account {
	if s == nil {
		return nil
	}
	aor, user, host, _ := ParseAOR(s.AOR)
	a := &Account{
		AOR: aor, User: user, Host: host, Username: cmp.Or(s.Username, user), Realm: s.Realm,
		HA1MD5: strings.ToLower(s.HA1MD5), HA1SHA256: strings.ToLower(s.HA1SHA256), HA1SHA512256: strings.ToLower(s.HA1SHA512256),
		Register: s.Register, Expires: s.Expires.or(defaultAccountExpires), TrustToken: s.Trust == "token", Required: s.Required,
	}
	if s.Registrar != "" {
		a.Registrar, _ = parseRegistrar(s.Registrar, transport)
	}
	return a
}

// parseRegistrar reads an address or a name, with port or without.
func parseRegistrar(s string, transport Transport) (Registrar, error) {
	addr, err := parseAddress(s, transport)
	if err == nil {
		return Registrar{Addr: addr}, nil
	}
	host, port, bad := parseFQDN(s)
	if bad != nil || strings.Trim(host, "0123456789.") == "" {
		return Registrar{}, err
	}
	return Registrar{FQDN: host, Port: port}, nil
}

// FromCarrier tells whether an INVITE to a member's registration may come from an
// address: one of the member's or of its registrar's, or any where the account trusts
// whoever knows our Contact.
func (v *View) FromCarrier(m *Member, source netip.Addr) bool {
	switch {
	case !m.Group.ACL.Admits(source):
		return false
	case m.Account.TrustToken:
		return true
	}
	return v.carrierAt(m, source)
}

// carrierAt tells whether a member or its registrar has an address; v may be nil.
func (v *View) carrierAt(m *Member, source netip.Addr) bool {
	source = source.Unmap().WithZone("")
	var lists [2][]netip.AddrPort
	if v != nil {
		lists[0] = v.Addrs[m.Index]
	}
	if v != nil && v.Carriers != nil {
		lists[1] = v.Carriers[m.Index]
	}
	for _, list := range lists {
		for _, a := range list {
			if a.Addr().Unmap() == source {
				return true
			}
		}
	}
	r := m.Account.Registrar.Addr
	return r.IsValid() && r.Addr() == source || m.Addr.IsValid() && m.Addr.Addr() == source
}

// onRegistration finds the carrier whose calls on our registration come from an
// address that is no source: who asks what becomes of them does not know our Contact.
func (e *explainer) onRegistration(source netip.Addr) *Group {
	for _, m := range e.t.members {
		if m.Account != nil && m.Account.Register && !m.Disabled && m.Group.ACL.Admits(source) && e.v.carrierAt(m, source) {
			e.say("source", "%s is where %s is registered: the carrier's as a call to our contact there, else a stranger's", source, m.Key)
			return m.Group
		}
	}
	return nil
}

// account checks the account of a member.
func (v *validator) account(path string, g *GroupSpec, m *MemberSpec) {
	a := m.Account
	if a == nil {
		return
	}
	at := path + ".account"
	if g.Role != PSTNProvider || m.Registration != nil {
		v.faults.add(at, "is for members of pstn-provider groups by address or name", "take it out: customers log in here by credentials and registration")
		return
	}
	if _, _, _, err := ParseAOR(a.AOR); err != nil {
		v.faults.addf(at+".aor", "write it as the carrier names the account, like sip:12145550100@sip.carrier.example", "%q %v", a.AOR, err)
	}
	if strings.ContainsAny(a.Username, ":\"\\") || hasControl(a.Username) {
		v.faults.addf(at+".username", `use none of : " \`, "%q is not a digest user name", a.Username)
	}
	if a.Realm == "" || strings.ContainsAny(a.Realm, "\"\\") || hasControl(a.Realm) {
		v.faults.addf(at+".realm", "write the realm of the carrier's challenge: no other one is answered", "%q is not a realm", a.Realm)
	}
	if a.HA1MD5 == "" && a.HA1SHA256 == "" && a.HA1SHA512256 == "" {
		v.faults.add(at, "has no ha1_md5, ha1_sha256 or ha1_sha512_256", "make them with: tandem credential hash")
	}
	v.hash(at+".ha1_md5", a.HA1MD5, 32)
	v.hash(at+".ha1_sha256", a.HA1SHA256, 64)
	v.hash(at+".ha1_sha512_256", a.HA1SHA512256, 64)
	v.accountRegistrar(at, m)
}

func (v *validator) accountRegistrar(at string, m *MemberSpec) {
	a := m.Account
	if a.Registrar != "" {
		if _, err := parseRegistrar(a.Registrar, cmp.Or(m.Transport, UDP)); err != nil {
			v.faults.add(at+".registrar", err.Error(), "write a name like sip.carrier.example, or an address like 192.0.2.10:5060")
		}
	}
	if v.duration(at+".expires", a.Expires, false) && a.Expires != 0 {
		if d := a.Expires.or(0); d < minAccountExpires || d > maxAccountExpires {
			v.faults.addf(at+".expires", "use 60s to 24h", "%s is out of range", d)
		}
	}
	if a.Trust != "" && a.Trust != "registrar" && a.Trust != "token" {
		v.faults.addf(at+".trust", "write registrar or token", "%q is neither", a.Trust)
	}
	if !a.Register {
		for _, k := range []struct {
			set bool
			key string
		}{{a.Registrar != "", "registrar"}, {a.Expires != 0, "expires"}, {a.Trust != "", "trust"}, {a.Required, "required"}} {
			if k.set {
				v.faults.add(at+"."+k.key, "means nothing without register", "add register: true, or take it out")
			}
		}
	}
}
