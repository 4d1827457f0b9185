package trunkgroup

import (
	"bytes"
	"testing"
)

// FuzzKeys: whatever the URI of a stranger is, its user and host are parts of it, and what
// is hashed of it is the same each time.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{"sip:bob:pw@example.com:5060;lr?a=b", "sips:bob@[2001:db8::1]:5061", "tel:+1214;x", "", ":", "@", "sip:@;", "sip:a@b@c"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, uri []byte) {
		user, host := splitURI(uri)
		if !bytes.Contains(uri, user) || !bytes.Contains(uri, host) {
			t.Fatalf("%q: %q and %q", uri, user, host)
		}
		for _, g := range []*Group{{Key: KeyFrom}, {Key: KeyTo, UserOnly: true}, {Key: KeyCallID}} {
			x := &Traits{CallID: uri, From: uri, To: uri}
			a, ok := g.KeyHash(x)
			b, again := g.KeyHash(x)
			c, same := g.KamailioKey(x)
			if a != b || ok != again || c == 0 {
				t.Fatalf("%q: %x %t, then %x %t; %x %t", uri, a, ok, b, again, c, same)
			}
			if n := testing.AllocsPerRun(1, func() { g.KeyHash(x); g.KamailioKey(x) }); n != 0 {
				t.Fatalf("%q: %v allocations", uri, n)
			}
		}
	})
}
