package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"net/netip"
	"sync"
	"time"
)

// Lifetime is how long a nonce may be used after its second, and Skew how far the clocks of two nodes may lie apart before a nonce of one
// is refused by the other (DEC-25).
const (
	Lifetime = 300 * time.Second
	Skew     = 300 * time.Second
)

// A nonce is base64url of: wall second (4 bytes), a number that no other challenge carries (8), and a MAC over both and the source IP (18).
// The number keeps two challenges of one second apart, so that their nonce counts do not collide.
const (
	nonceSecond = 4
	nonceUnique = 8
	nonceMAC    = 18
	nonceRaw    = nonceSecond + nonceUnique + nonceMAC
	nonceText   = nonceRaw / 3 * 4
)

// minter makes and checks nonces under one key.
type minter struct {
	pool sync.Pool // *macState
}

// minters are the keys of a cluster that may be changing its key: nonces are made under the first and checked under all.
type minters struct{ list []*minter }

// check is minter.check under any of the keys.
func (m *minters) check(text []byte, source netip.Addr) (second uint32, mark uint64, ok bool) {
	for _, k := range m.list {
		if second, mark, ok = k.check(text, source); ok {
			break
		}
	}
	return second, mark, ok
}

// macState holds a keyed hash with the buffers that it reads and fills, so that a check allocates nothing.
type macState struct {
	hash hash.Hash
	in   [1 + nonceSecond + nonceUnique + 16]byte
	out  [sha256.Size]byte
}

func newMinter(key []byte) *minter {
	key = append([]byte(nil), key...)
	m := &minter{}
	m.pool.New = func() any { return &macState{hash: hmac.New(sha256.New, key)} }
	return m
}

// sum fills out with the MAC of head (second and number) and the source.
func (s *macState) sum(head []byte, source netip.Addr) {
	ip := source.Unmap().WithZone("").As16()
	s.in[0] = 1 // the version of this layout
	copy(s.in[1:], head)
	copy(s.in[1+nonceSecond+nonceUnique:], ip[:])
	s.hash.Reset()
	s.hash.Write(s.in[:])
	s.hash.Sum(s.out[:0])
}

// mint appends the nonce text for a second, a unique number and a source.
func (m *minter) mint(dst []byte, second uint32, unique uint64, source netip.Addr) []byte {
	var raw [nonceRaw]byte
	binary.BigEndian.PutUint32(raw[:], second)
	binary.BigEndian.PutUint64(raw[nonceSecond:], unique)
	s := m.pool.Get().(*macState)
	s.sum(raw[:nonceSecond+nonceUnique], source)
	copy(raw[nonceSecond+nonceUnique:], s.out[:nonceMAC])
	m.pool.Put(s)
	return base64.RawURLEncoding.AppendEncode(dst, raw[:])
}

// check decodes a nonce. ok says that it is ours and was minted for this source; mark identifies it.
func (m *minter) check(text []byte, source netip.Addr) (second uint32, mark uint64, ok bool) {
	if len(text) != nonceText {
		return 0, 0, false
	}
	var raw [nonceRaw]byte
	if n, err := base64.RawURLEncoding.Decode(raw[:], text); err != nil || n != nonceRaw {
		return 0, 0, false
	}
	s := m.pool.Get().(*macState)
	s.sum(raw[:nonceSecond+nonceUnique], source)
	ok = hmac.Equal(raw[nonceSecond+nonceUnique:], s.out[:nonceMAC])
	m.pool.Put(s)
	return binary.BigEndian.Uint32(raw[:]), binary.BigEndian.Uint64(raw[nonceSecond+nonceUnique:]), ok
}

// alive says whether a nonce of this second may be used now: up to Lifetime old, with Skew on either side.
func alive(second uint32, now time.Time) bool {
	age := now.Unix() - int64(second)
	return age >= -int64(Skew/time.Second) && age <= int64((Lifetime+Skew)/time.Second)
}
