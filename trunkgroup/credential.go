package trunkgroup

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"
)

// The digest algorithms (RFC 8760), as a document and a challenge name them.
const (
	AlgorithmMD5       = "MD5"
	AlgorithmSHA256    = "SHA-256"
	AlgorithmSHA512256 = "SHA-512-256"
)

// AlgorithmNames lists the digest algorithms, the one preferred first.
func AlgorithmNames() []string {
	return []string{AlgorithmSHA256, AlgorithmSHA512256, AlgorithmMD5}
}

// CredentialSpec is one digest user. It holds hashes of username:realm:password
// (RFC 7616 section 3.4.2), never the password.
type CredentialSpec struct {
	Username     string   `yaml:"username" json:"username"`
	Realm        string   `yaml:"realm" json:"realm"`
	HA1SHA256    string   `yaml:"ha1_sha256,omitempty" json:"ha1_sha256,omitempty"`         // 64 hex digits
	HA1SHA512256 string   `yaml:"ha1_sha512_256,omitempty" json:"ha1_sha512_256,omitempty"` // 64 hex digits
	HA1MD5       string   `yaml:"ha1_md5,omitempty" json:"ha1_md5,omitempty"`               // 32 hex digits
	Algorithms   []string `yaml:"algorithms,omitempty" json:"algorithms,omitempty"`         // SHA-256, SHA-512-256, MD5; default those with a hash
	BoundIP      []string `yaml:"bound_ip,omitempty" json:"bound_ip,omitempty"`             // addresses or CIDRs; default anywhere (P-29)
	ANIOverride  string   `yaml:"ani_override,omitempty" json:"ani_override,omitempty"`     // E.164; calls of this user say that they come from it (P-29)
}

// Credential is one digest user of a group.
type Credential struct {
	Username     string
	Realm        string
	HA1SHA256    string         // hex, lower case; empty when there is none
	HA1SHA512256 string         // hex, lower case; empty when there is none
	HA1MD5       string         // hex, lower case; empty when there is none
	Algorithms   []string       // that are accepted of this user, the one preferred first; never empty
	BoundIP      []netip.Prefix // where requests of this user may come from; empty = anywhere (P-29)
	ANIOverride  string         // E.164 with its +, replaces From, PAI and RPID; empty = none (P-29)
}

// LogValue keeps the hashes out of logs.
func (c Credential) LogValue() slog.Value {
	return slog.GroupValue(slog.String("username", c.Username), slog.String("realm", c.Realm))
}

// String keeps the hashes out of formatted text.
func (c Credential) String() string { return c.Username + "@" + c.Realm }

// GoString keeps the hashes out of formatted text.
func (c Credential) GoString() string { return c.String() }

// HA1 returns the hash for an algorithm, named as in AlgorithmNames, or "" when
// the user has none or may not use it.
func (c *Credential) HA1(algorithm string) string {
	if !slices.Contains(c.Algorithms, algorithm) {
		return ""
	}
	switch algorithm {
	case AlgorithmSHA256:
		return c.HA1SHA256
	case AlgorithmSHA512256:
		return c.HA1SHA512256
	case AlgorithmMD5:
		return c.HA1MD5
	}
	return ""
}

// AllowedFrom tells whether a request of this user may come from an address
// (P-29).
func (c *Credential) AllowedFrom(addr netip.Addr) bool { return within(c.BoundIP, addr) }

// within tells whether one of the prefixes has the address; no prefix is all.
func within(prefixes []netip.Prefix, addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, p := range prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return len(prefixes) == 0
}

// RealmOf returns the realm for challenges of requests to a host: the host, as
// a credential writes it, if some credential has it as realm, else "", which
// stands for the node's own realm. It allocates only for a host in upper case.
func (t *Table) RealmOf(host string) string {
	if realm, ok := t.realms[host]; ok {
		return realm
	}
	return t.realms[strings.ToLower(host)]
}

// ownGroups tells whether two groups are one, or of one customer.
func ownGroups(a, b *Group) bool { return a == b || a.Customer != "" && a.Customer == b.Customer }

func compileCredential(s *CredentialSpec) Credential {
	c := Credential{
		Username:     s.Username,
		Realm:        s.Realm,
		HA1SHA256:    strings.ToLower(s.HA1SHA256),
		HA1SHA512256: strings.ToLower(s.HA1SHA512256),
		HA1MD5:       strings.ToLower(s.HA1MD5),
		BoundIP:      networks(s.BoundIP),
		ANIOverride:  s.ANIOverride,
	}
	for _, name := range AlgorithmNames() {
		if s.hash(name) != "" && (len(s.Algorithms) == 0 || slices.Contains(s.Algorithms, name)) {
			c.Algorithms = append(c.Algorithms, name)
		}
	}
	return c
}

// hash returns the hash for an algorithm as the document has it.
func (s *CredentialSpec) hash(algorithm string) string {
	switch algorithm {
	case AlgorithmSHA256:
		return s.HA1SHA256
	case AlgorithmSHA512256:
		return s.HA1SHA512256
	case AlgorithmMD5:
		return s.HA1MD5
	}
	return ""
}

func (t *Table) addCredentials(g *Group, specs []CredentialSpec) {
	g.Credentials = make([]Credential, len(specs))
	for i := range specs {
		c := &g.Credentials[i]
		*c = compileCredential(&specs[i])
		t.credentials[userKey{c.Realm, c.Username}] = credentialRef{c, g}
		t.offers[c.Realm] = t.offers[c.Realm].with(c.Algorithms)
		if host := strings.ToLower(c.Realm); t.realms[host] == "" {
			t.realms[host] = c.Realm
		}
	}
}
