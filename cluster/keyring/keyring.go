package keyring

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

// MinSecret is the least length of a secret in octets: 128 bits.
const MinSecret = 16

// keyLength is the length of every derived key: 256 bits.
const keyLength = 32

// MaxSecrets bounds a keyring: what is checked against each secret is checked at most
// this often.
const MaxSecrets = 4

// ID names a secret without telling anything of it.
type ID [8]byte

// String is the id as operators see it.
func (id ID) String() string { return hex.EncodeToString(id[:4]) }

// Keyring is an immutable list of secrets.
type Keyring struct {
	secrets [][]byte
	ids     []ID
}

// New makes a keyring; the first secret is the primary one. It fails without
// any secret and on a secret that is shorter than MinSecret.
func New(secrets ...[]byte) (*Keyring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("keyring: no secret")
	}
	if len(secrets) > MaxSecrets {
		return nil, fmt.Errorf("keyring: %d secrets, at most %d are possible: remove those that no node uses any more", len(secrets), MaxSecrets)
	}
	k := &Keyring{}
	for i, s := range secrets {
		if len(s) < MinSecret {
			return nil, fmt.Errorf("keyring: secret %d has %d octets, at least %d are needed", i, len(s), MinSecret)
		}
		k.secrets = append(k.secrets, append([]byte(nil), s...))
		id := ID(derive(s, "tandem key id v1"))
		if k.Has(id) {
			return nil, fmt.Errorf("keyring: secret %d is there twice", i)
		}
		k.ids = append(k.ids, id)
	}
	return k, nil
}

// Primary returns the id of the secret that this node offers.
func (k *Keyring) Primary() ID { return k.ids[0] }

// IDs returns the ids of all secrets, the primary first. The slice is the caller's.
func (k *Keyring) IDs() []ID { return append([]ID(nil), k.ids...) }

// Has reports whether the keyring holds the secret that id names.
func (k *Keyring) Has(id ID) bool { return slices.Contains(k.ids, id) }

// Same reports whether two keyrings hold the same secrets in the same order.
func (k *Keyring) Same(other *Keyring) bool { return slices.Equal(k.ids, other.ids) }

// Derive returns the 32 octet key of the primary secret for one label.
func (k *Keyring) Derive(label string) []byte { return derive(k.secrets[0], label) }

// DeriveAll returns the key of every secret for one label, the primary first.
func (k *Keyring) DeriveAll(label string) [][]byte {
	keys := make([][]byte, len(k.secrets))
	for i, s := range k.secrets {
		keys[i] = derive(s, label)
	}
	return keys
}

// DeriveFor returns the key of the secret that id names; false when the keyring
// has no such secret.
func (k *Keyring) DeriveFor(id ID, label string) ([]byte, bool) {
	for i, have := range k.ids {
		if have == id {
			return derive(k.secrets[i], label), true
		}
	}
	return nil, false
}

func derive(secret []byte, label string) []byte {
	key, err := hkdf.Key(sha256.New, secret, nil, label, keyLength)
	if err != nil {
		// HKDF fails only on a length above 255 hashes, which a constant is not.
		panic("keyring: " + err.Error())
	}
	return key
}
