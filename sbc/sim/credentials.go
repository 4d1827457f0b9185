package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/icholy/digest"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// Credentials answer digest challenges (RFC 7616, RFC 8760).
type Credentials struct {
	Username string `json:"username"`
	Password string `json:"-"`
	// Algorithms that the caller can do, the preferred one first; default SHA-256, MD5.
	Algorithms []string `json:"algorithms,omitempty"`
	// Reuse sends credentials for the last nonce with the first INVITE already, with a rising nonce count, as many PBXs
	// do; otherwise each call waits for its own challenge.
	Reuse bool `json:"reuse,omitempty"`
}

func (c *Credentials) algorithms() []string {
	if len(c.Algorithms) > 0 {
		return c.Algorithms
	}
	return []string{"SHA-256", "MD5"}
}

// challenge is one digest challenge and how often its nonce was used.
type challenge struct {
	parsed *digest.Challenge
	header string // the header that answers it
	count  int
}

// pick chooses the challenge whose algorithm stands first in the caller's list.
func (c *Credentials) pick(m *sip.Message) (*challenge, error) {
	id, header := sip.WWWAuthenticate, "Authorization"
	if m.Status() == 407 {
		id, header = sip.ProxyAuthenticate, "Proxy-Authorization"
	}
	var best *challenge
	rank := len(c.algorithms())
	var parseErr error
	m.EachOf(id, func(value []byte) bool {
		parsed, err := digest.ParseChallenge(string(value))
		if err != nil {
			parseErr = err
			return true
		}
		algorithm := parsed.Algorithm
		if algorithm == "" {
			algorithm = "MD5"
		}
		i := slices.IndexFunc(c.algorithms(), func(a string) bool { return strings.EqualFold(a, algorithm) })
		if i >= 0 && i < rank {
			best, rank = &challenge{parsed: parsed, header: header}, i
		}
		return true
	})
	if best == nil {
		return nil, fmt.Errorf("no challenge that can be answered in the %d (parse error: %w)", m.Status(), parseErr)
	}
	return best, nil
}

// answer returns the header line that answers the challenge, with the next nonce
// count.
func (c *Credentials) answer(ch *challenge, method, uri, cnonce string) ([]byte, error) {
	ch.count++
	cred, err := digest.Digest(ch.parsed, digest.Options{
		Method: method, URI: uri, Count: ch.count, Username: c.Username, Password: c.Password, Cnonce: cnonce,
	})
	if err != nil {
		return nil, fmt.Errorf("digest: %w", err)
	}
	return []byte(ch.header + ": " + cred.String() + "\r\n"), nil
}
