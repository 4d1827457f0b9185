package auth

import (
	"net/netip"
	"time"
)

// Challenge is a fresh nonce with its realm: the value of a WWW-Authenticate header without the name of the algorithm. The same may stand
// in one header per algorithm (RFC 8760 section 2.4).
type Challenge string

// Challenge mints a challenge for a realm, bound to the source. stale tells the caller that its secret was right (RFC 7616 section 3.3).
func (v *Verifier) Challenge(now time.Time, source netip.Addr, realm string, stale bool) Challenge {
	now = now.Add(v.opts.ClockOffset)
	b := make([]byte, 0, len(realm)+128)
	b = append(b, `Digest realm="`...)
	for i := range len(realm) {
		if c := realm[i]; c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, realm[i])
	}
	b = append(b, `", nonce="`...)
	b = v.mint.Load().list[0].mint(b, uint32(now.Unix()), v.unique.Add(1), source)
	b = append(b, `", qop="auth"`...)
	if stale {
		b = append(b, `, stale=true`...)
	}
	return Challenge(append(b, `, algorithm=`...))
}

// Append appends the value for an algorithm.
func (c Challenge) Append(dst []byte, algorithm string) []byte {
	return append(append(dst, c...), algorithm...)
}
