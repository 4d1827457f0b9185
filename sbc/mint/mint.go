package mint

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"hash"
)

const (
	macLen = 6
	rawLen = 4 + 4 + 1 + 8 + macLen

	// Len is the length of a minted identifier in bytes.
	Len = 32
	// prefix tells our identifiers from other people's at the first byte.
	prefix = 't'
)

// ID is what a minted identifier says.
type ID struct {
	// Node is the NodeID of the node that made the identifier.
	Node uint32
	// Boot is that node's boot number.
	Boot uint32
	// Shard is the index of the shard that owns the call there.
	Shard uint8
	// Random tells identifiers of one shard apart.
	Random uint64
}

// NodeID is the short form of a node's name that identifiers carry.
func NodeID(name string) uint32 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint32(sum[:4])
}

// Minter makes and reads identifiers under one key. It belongs to one
// goroutine: the MAC state inside is reused so that minting allocates only
// the identifier itself.
type Minter struct {
	mac hash.Hash
	// older are of keys that are still read and not minted under any more.
	older []hash.Hash
	sum   [sha256.Size]byte
	raw   [rawLen]byte
	node  uint32
	boot  uint32
}

// New returns a minter for a node and its boot number. Nodes of one cluster
// use the same key, so that each can read what the others made.
func New(key []byte, node, boot uint32) *Minter {
	return &Minter{mac: hmac.New(sha256.New, key), node: node, boot: boot}
}

// SetKeys replaces the key to mint under and the older ones that are still read. While a
// cluster changes its key, nodes hold both, so that each reads what the others made.
func (m *Minter) SetKeys(key []byte, older ...[]byte) {
	m.mac, m.older = hmac.New(sha256.New, key), nil
	for _, k := range older {
		m.older = append(m.older, hmac.New(sha256.New, k))
	}
}

// Mint returns a new identifier: a token by RFC 3261 section 25.1, so it
// serves as a tag and as a Call-ID alike.
func (m *Minter) Mint(shard uint8, random uint64) string {
	raw := m.raw[:]
	binary.BigEndian.PutUint32(raw[0:], m.node)
	binary.BigEndian.PutUint32(raw[4:], m.boot)
	raw[8] = shard
	binary.BigEndian.PutUint64(raw[9:], random)
	copy(raw[17:], m.sign(m.mac, raw[:17]))
	var out [Len]byte
	out[0] = prefix
	base64.RawURLEncoding.Encode(out[1:], raw)
	return string(out[:])
}

// Parse reads an identifier. It reports false when the text is not ours or its
// MAC does not verify.
func (m *Minter) Parse(text []byte) (ID, bool) {
	if len(text) != Len || text[0] != prefix {
		return ID{}, false
	}
	raw := m.raw[:]
	if n, err := base64.RawURLEncoding.Strict().Decode(raw, text[1:]); err != nil || n != rawLen {
		return ID{}, false
	}
	if subtle.ConstantTimeCompare(raw[17:], m.sign(m.mac, raw[:17])) == 1 {
		return decode(raw), true
	}
	for _, mac := range m.older {
		if subtle.ConstantTimeCompare(raw[17:], m.sign(mac, raw[:17])) == 1 {
			return decode(raw), true
		}
	}
	return ID{}, false
}

// Own reports whether the identifier was made by this node in this boot.
func (m *Minter) Own(id ID) bool { return id.Node == m.node && id.Boot == m.boot }

// Here reports whether the identifier was made by this node in whatever boot.
func (m *Minter) Here(id ID) bool { return id.Node == m.node }

func (m *Minter) sign(mac hash.Hash, b []byte) []byte {
	mac.Reset()
	mac.Write(b)
	return mac.Sum(m.sum[:0])[:macLen]
}

// Peek reads an identifier without checking its MAC: good for choosing a shard,
// never for trusting what it says. It is safe for concurrent use.
func Peek(text []byte) (ID, bool) {
	if len(text) != Len || text[0] != prefix {
		return ID{}, false
	}
	var raw [rawLen]byte
	if n, err := base64.RawURLEncoding.Strict().Decode(raw[:], text[1:]); err != nil || n != rawLen {
		return ID{}, false
	}
	return decode(raw[:]), true
}

func decode(raw []byte) ID {
	return ID{
		Node:   binary.BigEndian.Uint32(raw[0:]),
		Boot:   binary.BigEndian.Uint32(raw[4:]),
		Shard:  raw[8],
		Random: binary.BigEndian.Uint64(raw[9:]),
	}
}
