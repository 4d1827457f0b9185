package trunkgroup

import (
	"encoding/hex"
	"slices"
	"strings"
)

func (v *validator) credentials() {
	seen := make(map[userKey]string)
	for i := range v.document.TrunkGroups {
		list := index("trunk_groups", i) + ".credentials"
		for j := range v.document.TrunkGroups[i].Credentials {
			c := &v.document.TrunkGroups[i].Credentials[j]
			path := index(list, j)
			v.credential(path, c)
			key := userKey{c.Realm, c.Username}
			if first, ok := seen[key]; ok {
				v.faults.addf(path+".username", "use another name: one user stands for one group", "%q in realm %q stands already at %s", c.Username, c.Realm, first)
				continue
			}
			seen[key] = path
		}
	}
	v.registrationUsers()
}

func (v *validator) credential(path string, c *CredentialSpec) {
	if c.Username == "" || strings.ContainsAny(c.Username, ":\"\\") || hasControl(c.Username) {
		v.faults.addf(path+".username", `use at least one character, and none of : " \`, "%q is not a digest user name", c.Username)
	}
	if c.Realm == "" || strings.ContainsAny(c.Realm, "\"\\") || hasControl(c.Realm) {
		v.faults.addf(path+".realm", "write the realm of the challenge, like sip.example.com", "%q is not a realm", c.Realm)
	}
	if c.HA1SHA256 == "" && c.HA1SHA512256 == "" && c.HA1MD5 == "" {
		v.faults.add(path, "has neither ha1_sha256 nor ha1_sha512_256 nor ha1_md5", "make them with: tandem credential hash")
	}
	v.hash(path+".ha1_sha256", c.HA1SHA256, 64)
	v.hash(path+".ha1_sha512_256", c.HA1SHA512256, 64)
	v.hash(path+".ha1_md5", c.HA1MD5, 32)
	v.algorithms(path+".algorithms", c)
	v.networks(path+".bound_ip", c.BoundIP)
	if c.ANIOverride != "" && !isE164(c.ANIOverride) {
		v.faults.addf(path+".ani_override", "write it like +12145550100", "%q is not an E.164 number", c.ANIOverride)
	}
}

// algorithms checks the list that restricts a user: an entry without its hash
// would let nobody in.
func (v *validator) algorithms(path string, c *CredentialSpec) {
	if c.Algorithms != nil && len(c.Algorithms) == 0 {
		v.faults.add(path, "is empty, which would mean the default", "leave the key out, or name algorithms")
	}
	for i, name := range c.Algorithms {
		at := index(path, i)
		switch {
		case !slices.Contains(AlgorithmNames(), name):
			v.faults.addf(at, Suggest(name, AlgorithmNames()), "there is no algorithm %q", name)
		case slices.Index(c.Algorithms, name) < i:
			v.faults.addf(at, "take it out", "%s stands twice", name)
		case c.hash(name) == "":
			v.faults.addf(at, "take it out, or make the hash with: tandem credential hash", "the user has no hash for %s", name)
		}
	}
}

// registrationUsers checks that whoever may register is a digest user of the
// member's group or of another of the same customer.
func (v *validator) registrationUsers() {
	for i := range v.document.TrunkGroups {
		g := &v.document.TrunkGroups[i]
		for j := range g.Members {
			r := g.Members[j].Registration
			if r == nil {
				continue
			}
			path := index(index("trunk_groups", i)+".members", j) + ".registration"
			if len(r.Users) == 0 {
				if _, user, _, err := ParseAOR(r.AOR); err == nil {
					v.registrationUser(path+".users", user, g)
				}
			}
			for k, user := range r.Users {
				v.registrationUser(index(path+".users", k), user, g)
			}
		}
	}
}

func (v *validator) registrationUser(path, user string, g *GroupSpec) {
	if v.look.isUser(g, user) {
		return
	}
	remedy := v.look.suggest(user, func() []string { return v.look.usersOf(g) }, "give the group credentials, or a customer whose groups have some")
	v.faults.addf(path, remedy, "there is no digest user %q in this group or in another of its customer", user)
}

// networks checks a list of addresses and CIDRs.
func (v *validator) networks(path string, texts []string) {
	for i, text := range texts {
		if _, err := parseNetwork(text); err != nil {
			v.faults.add(index(path, i), err.Error(), "write an address like 198.51.100.10 or a network like 198.51.100.0/28")
		}
	}
}

// hash never shows the value: it may be a password.
func (v *validator) hash(path, s string, digits int) {
	if s == "" {
		return
	}
	if _, err := hex.DecodeString(s); err != nil || len(s) != digits {
		v.faults.addf(path, "a password never stands here; make the hash with: tandem credential hash", "is not %d hex digits", digits)
	}
}

// isE164 tells whether a text is "+" and 2 to 15 digits that begin with none
// that no country has.
func isE164(s string) bool {
	if len(s) < 3 || len(s) > 16 || s[0] != '+' || s[1] == '0' {
		return false
	}
	return strings.Trim(s[1:], "0123456789") == ""
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return true
		}
	}
	return false
}
