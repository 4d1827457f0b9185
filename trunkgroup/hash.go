package trunkgroup

import (
	"bytes"
	"math/bits"
	"net/netip"

	"github.com/cespare/xxhash/v2"
)

// mix makes a word in which each bit hangs on all bits of the word: the last step of
// SplitMix64, which maps no two words to one.
func mix(word uint64) uint64 {
	_, value := splitMix(word)
	return value
}

// identity is what hashes know a far end by: its key in the cluster, and of a
// binding its ID; never its address or its place in the document.
func (s *slot) identity() uint64 {
	if s.binding == nil {
		return s.member.hash
	}
	return mix(s.member.hash ^ xxhash.Sum64String(s.binding.ID))
}

// KeyHash returns the hash of what the group's method goes by, the same on every
// node and after every restart; false for a call that has no such thing. It does
// not allocate.
func (g *Group) KeyHash(t *Traits) (uint64, bool) {
	if t == nil {
		return 0, false
	}
	switch g.Key {
	case KeyFrom, KeyTo:
		user, host := splitURI(g.uri(t))
		if g.Key == KeyFrom && Anonymous(user, host) {
			return 0, false
		}
		if g.UserOnly {
			return hashOf(user)
		}
		h, _ := hashOf(user)
		return mix(h ^ bits.RotateLeft64(lowerSum(host), 1)), len(host) > 0
	case KeySourceIP:
		addr := t.Source.Unmap().WithZone("")
		octets := addr.As16()
		return xxhash.Sum64(octets[:]), addr.IsValid()
	default:
		return hashOf(g.text(t))
	}
}

// uri is what the keys From and To go by.
func (g *Group) uri(t *Traits) []byte {
	if g.Key == KeyTo {
		return t.To
	}
	return t.From
}

// text is what a key other than a URI or an address is.
func (g *Group) text(t *Traits) []byte {
	switch g.Key {
	case KeyCallID:
		return t.CallID
	case KeyRequestUser:
		return t.RequestUser
	case KeyAuthUser:
		return t.AuthUser
	case KeyCaller:
		return t.Caller
	case KeyCalled:
		return t.Called
	case KeyHeader:
		if t.Headers != nil {
			return bytes.TrimSpace(t.Headers.HeaderValue(g.KeyHeader))
		}
	}
	return nil
}

func hashOf(b []byte) (uint64, bool) { return xxhash.Sum64(b), len(b) > 0 }

// lowerSum hashes a host, whose case says nothing (RFC 3261 19.1.4).
func lowerSum(host []byte) uint64 {
	var lower [256]byte
	n := copy(lower[:], host)
	for i, c := range lower[:n] {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return xxhash.Sum64(lower[:n])
}

// splitURI returns the user of a URI, without a password, and its host with the
// port when that is not the usual one. Both are parts of the URI.
func splitURI(uri []byte) (user, host []byte) {
	scheme, rest, _ := bytes.Cut(uri, []byte(":"))
	usual := []byte(":5060")
	if bytes.EqualFold(scheme, []byte("sips")) {
		usual = []byte(":5061")
	}
	if i := bytes.IndexByte(rest, '@'); i >= 0 {
		user, rest = rest[:i], rest[i+1:]
		user, _, _ = bytes.Cut(user, []byte(":"))
	} else if bytes.EqualFold(scheme, []byte("tel")) {
		number, _, _ := bytes.Cut(rest, []byte(";"))
		return number, nil
	}
	if i := bytes.IndexAny(rest, ";?"); i >= 0 {
		rest = rest[:i]
	}
	return user, bytes.TrimSuffix(rest, usual)
}

// Anonymous tells of the user and the host of a caller's URI that it is nobody's (RFC
// 3323 4.1): such calls have nothing in common.
func Anonymous(user, host []byte) bool {
	return bytes.EqualFold(user, []byte("anonymous")) || bytes.EqualFold(host, []byte("anonymous.invalid"))
}

// KamailioHash is the hash that Kamailio's dispatcher takes of one or two texts; it
// is never 0. Octets above 127 count as on architectures where a char of C has a
// sign.
func KamailioHash(x, y []byte) uint32 {
	h := kamailioSum(x) + kamailioSum(y)
	h += h>>11 + (h>>13 + h>>23)
	return max(h, 1)
}

// kamailioSum adds up a text in words of four octets.
func kamailioSum(b []byte) (h uint32) {
	word := func(b []byte) (v uint32) {
		for _, c := range b {
			v = v<<8 + uint32(int8(c))
		}
		return v ^ v>>3
	}
	for len(b) >= 4 {
		h += word(b[:4])
		b = b[4:]
	}
	return h + word(b)
}

// KamailioKey is the hash that Kamailio takes of what the group's method goes by;
// false for a call that has no such thing.
func (g *Group) KamailioKey(t *Traits) (uint32, bool) {
	if t == nil {
		return 0, false
	}
	switch g.Key {
	case KeyFrom, KeyTo:
		user, host := splitURI(g.uri(t))
		if g.UserOnly {
			return KamailioHash(user, nil), len(user) > 0
		}
		return KamailioHash(user, host), len(user)+len(host) > 0
	case KeySourceIP:
		return kamailioAddress(t.Source)
	default:
		text := g.text(t)
		return KamailioHash(text, nil), len(text) > 0
	}
}

// kamailioAddress hashes an address as it is written.
func kamailioAddress(a netip.Addr) (uint32, bool) {
	var text [48]byte
	a = a.Unmap().WithZone("")
	return KamailioHash(a.AppendTo(text[:0]), nil), a.IsValid()
}
