package atrest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// magic starts every sealed text; the last octet is the version of the format. No
// command of the log, no last known good document and no snapshot begins so.
const magic = "TNDSEAL\x01"

// keySize is that of AES-256.
const keySize = 32

// Overhead is how many octets a sealed text is longer than its plain one: magic, id of
// the key, nonce and tag.
const Overhead = len(magic) + len(ID{}) + 12 + 16

// ID names a Key without telling anything of it.
type ID [4]byte

// String is the id in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// ErrSealed is wrapped when a sealed text does not open: it is damaged, of another place,
// or sealed under another key.
var ErrSealed = errors.New("sealed data does not open")

// Key seals and opens. It may be used by many goroutines at once.
type Key struct {
	id     ID
	secret [keySize]byte
	aead   cipher.AEAD
}

// NewKey draws a key.
func NewKey() (*Key, error) {
	var secret [keySize]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, fmt.Errorf("atrest: random key: %w", err)
	}
	return keyOf(secret)
}

func keyOf(secret [keySize]byte) (*Key, error) {
	aead, err := gcm(secret[:])
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append([]byte("tandem data key id v1"), secret[:]...))
	return &Key{id: ID(sum[:]), secret: secret, aead: aead}, nil
}

// gcm is AES-256-GCM that puts a random nonce of 96 bits in front of each text. That is
// safe for 2^32 texts under one key; a node writes some per change of its configuration.
func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("atrest: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("atrest: %w", err)
	}
	return aead, nil
}

// ID returns the key's name.
func (k *Key) ID() ID { return k.id }

// String keeps the key out of formatted text.
func (k *Key) String() string { return "data key " + k.id.String() }

// GoString keeps the key out of formatted text.
func (k *Key) GoString() string { return k.String() }

// Seal returns plain, sealed and bound to the label.
func (k *Key) Seal(label string, plain []byte) []byte {
	b := make([]byte, 0, len(plain)+Overhead)
	b = append(append(b, magic...), k.id[:]...)
	return k.aead.Seal(b, nil, plain, bound(b, label))
}

// Open returns the plain text of what Seal made under the same label. Errors wrap
// ErrSealed.
func (k *Key) Open(label string, sealed []byte) ([]byte, error) {
	head := len(magic) + len(k.id)
	if !Sealed(sealed) || len(sealed) < Overhead {
		return nil, fmt.Errorf("%w: it is cut off or not sealed", ErrSealed)
	}
	if id := ID(sealed[len(magic):head]); id != k.id {
		return nil, fmt.Errorf("%w: it was sealed under data key %s, and this is %s", ErrSealed, id, k.id)
	}
	plain, err := k.aead.Open(nil, nil, sealed[head:], bound(sealed[:head], label))
	if err != nil {
		return nil, fmt.Errorf("%w: it is damaged", ErrSealed)
	}
	return plain, nil
}

// bound is what the cipher authenticates beside the text: head and label.
func bound(head []byte, label string) []byte {
	return append(bytes.Clone(head), label...)
}

// Sealed reports whether b begins like a sealed text.
func Sealed(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }

// Within reports whether a sealed text seems to stand somewhere in b.
func Within(b []byte) bool { return bytes.Contains(b, []byte(magic)) }
