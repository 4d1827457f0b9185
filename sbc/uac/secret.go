package uac

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Why a challenge is not answered. Their texts are for people.
var (
	ErrNoChallenge = errors.New("the answer has no digest challenge that can be read")
	ErrRealm       = errors.New("the challenge is for another realm than the account's")
	ErrAlgorithm   = errors.New("the account has no hash for the algorithm of the challenge")
)

// maxChallenges bounds the challenges of one response that are looked at.
const maxChallenges = 8

// Choose picks the challenge of a 401 or 407 that the account answers: the first of
// its own realm that it has the hash for, as their order is the far end's preference
// (RFC 8760 section 2.4). A challenge of another realm is never answered: whoever
// sends one asks for somebody else's login.
func Choose(a *trunkgroup.Account, m *sip.Message) (Challenge, error) {
	id := sip.WWWAuthenticate
	if m.Status() == 407 {
		id = sip.ProxyAuthenticate
	}
	var chosen Challenge
	reason, n := ErrNoChallenge, 0
	m.EachOf(id, func(v []byte) bool {
		n++
		c, digest, err := ParseChallenge(string(v))
		switch {
		case !digest || err != nil:
		case unescaped(c.Realm) != a.Realm:
			if !errors.Is(reason, ErrAlgorithm) {
				reason = fmt.Errorf("%w: it names %.64q, the account is of %q", ErrRealm, c.Realm, a.Realm)
			}
		case c.QOP && !c.Auth || hashOf(a, c.Algorithm) == "":
			reason = fmt.Errorf("%w: it asks for %s, the account has %s", ErrAlgorithm, asked(&c), strings.Join(hashesOf(a), ", "))
		default:
			chosen, reason = c, nil
			chosen.Proxy = m.Status() == 407
			return false
		}
		return n < maxChallenges
	})
	return chosen, reason
}

// asked words what a challenge asks for.
func asked(c *Challenge) string {
	switch {
	case c.Algorithm == auth.NoAlgorithm:
		return "one that is not supported"
	case c.QOP && !c.Auth:
		return c.Algorithm.String() + " without qop=auth"
	}
	return c.Algorithm.String()
}

// hashesOf names the algorithms that the account has a hash for.
func hashesOf(a *trunkgroup.Account) (names []string) {
	for _, alg := range [...]auth.Algorithm{auth.SHA256, auth.SHA512256, auth.MD5} {
		if hashOf(a, alg) != "" {
			names = append(names, alg.String())
		}
	}
	return names
}

// hashOf is the account's HA1 for an algorithm, or "".
func hashOf(a *trunkgroup.Account, alg auth.Algorithm) string {
	switch alg {
	case auth.MD5:
		return a.HA1MD5
	case auth.SHA256:
		return a.HA1SHA256
	case auth.SHA512256:
		return a.HA1SHA512256
	default:
		return ""
	}
}

// Answer returns the header line that answers a challenge: the count-th use of its
// nonce, for a request of method to uri (RFC 7616 section 3.4.1). Without qop in the
// challenge it is the form of RFC 2069.
func Answer(a *trunkgroup.Account, c *Challenge, count uint32, cnonce uint64, method, uri string) string {
	name := "Authorization"
	if c.Proxy {
		name = "Proxy-Authorization"
	}
	ha2 := hash(c.Algorithm, method+":"+uri)
	var b strings.Builder
	fmt.Fprintf(&b, `%s: Digest username="%s", realm="%s", nonce="%s", uri="%s", `, name, a.Username, c.Realm, c.Nonce, uri)
	ha1 := hashOf(a, c.Algorithm)
	if c.Auth {
		use := fmt.Sprintf("%08x:%016x:auth", count, cnonce)
		fmt.Fprintf(&b, `response="%s", qop=auth, nc=%08x, cnonce="%016x"`, hash(c.Algorithm, ha1+":"+c.Nonce+":"+use+":"+ha2), count, cnonce)
	} else {
		fmt.Fprintf(&b, `response="%s"`, hash(c.Algorithm, ha1+":"+c.Nonce+":"+ha2))
	}
	if c.Opaque != "" {
		fmt.Fprintf(&b, `, opaque="%s"`, c.Opaque)
	}
	fmt.Fprintf(&b, ", algorithm=%s\r\n", c.Algorithm)
	return b.String()
}

func hash(a auth.Algorithm, s string) string { return string(a.AppendHash(nil, []byte(s))) }
