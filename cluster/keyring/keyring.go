package keyring

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// MinSecret is the least length of a secret in octets: 128 bits.
const MinSecret = 16

// keyLength is the length of every derived key: 256 bits.
const keyLength = 32

// ID names a secret without telling anything of it.
type ID [8]byte

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
	k := &Keyring{}
	for i, s := range secrets {
		if len(s) < MinSecret {
			return nil, fmt.Errorf("keyring: secret %d has %d octets, at least %d are needed", i, len(s), MinSecret)
		}
		k.secrets = append(k.secrets, append([]byte(nil), s...))
		k.ids = append(k.ids, ID(derive(s, "tandem key id v1")))
	}
	return k, nil
}

// Primary returns the id of the secret that this node offers.
func (k *Keyring) Primary() ID { return k.ids[0] }

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
