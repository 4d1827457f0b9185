package atrest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// ErrEnvelope is wrapped for octets that are no envelope.
var ErrEnvelope = errors.New("not an envelope of a data key, or damaged")

// ForeignError is returned when a data key is wrapped under secrets that the keyring
// does not hold.
type ForeignError struct {
	Wrapped []keyring.ID // under these
	Have    []keyring.ID // the ring's
}

// Error says which secret is missing.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("the data key is wrapped under cluster key %s, and the key file holds %s", names(e.Wrapped), names(e.Have))
}

func names(ids []keyring.ID) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return strings.Join(list, ", ")
}

// wrapLabel derives the key that wraps a data key.
const wrapLabel = "tandem data key v1"

// Sizes that bound an envelope: a wrapped key is one sealed text.
const (
	envelopeFormat = 1
	wrappedSize    = keySize + Overhead
	// maxEnvelope bounds an envelope in octets.
	maxEnvelope = 4 << 10
)

// envelope is the JSON form, so that an operator sees what it is and under which
// secrets; it holds nothing that is secret without one of them.
type envelope struct {
	Format int       `json:"tandem_data_key"`
	ID     string    `json:"id"`
	Keys   []wrapped `json:"wrapped_under"`
}

// wrapped is the key under one secret of the ring.
type wrapped struct {
	Secret string `json:"cluster_key"` // its id
	Sealed []byte `json:"sealed"`
}

// Wrap returns the envelope of k for every secret of the ring.
func (k *Key) Wrap(ring *keyring.Keyring) ([]byte, error) {
	e := envelope{Format: envelopeFormat, ID: k.id.String()}
	for _, id := range ring.IDs() {
		wrapper, err := wrapperOf(ring, id)
		if err != nil {
			return nil, err
		}
		e.Keys = append(e.Keys, wrapped{hex.EncodeToString(id[:]), wrapper.Seal(wrapLabel, k.secret[:])})
	}
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("atrest: %w", err)
	}
	return append(b, '\n'), nil
}

// wrapperOf is the key that a secret of the ring wraps with.
func wrapperOf(ring *keyring.Keyring, id keyring.ID) (*Key, error) {
	derived, ok := ring.DeriveFor(id, wrapLabel)
	if !ok || len(derived) != keySize {
		return nil, fmt.Errorf("atrest: the ring has no secret %s", id)
	}
	return keyOf([keySize]byte(derived))
}

// Unwrap opens an envelope with any secret of the ring, and returns under which ones the
// key is wrapped. Errors wrap ErrEnvelope, or are a *ForeignError.
func Unwrap(b []byte, ring *keyring.Keyring) (*Key, []keyring.ID, error) {
	e, ids, err := parseEnvelope(b)
	if err != nil {
		return nil, nil, err
	}
	for i, id := range ids {
		if !ring.Has(id) {
			continue
		}
		wrapper, err := wrapperOf(ring, id)
		if err != nil {
			return nil, nil, err
		}
		secret, err := wrapper.Open(wrapLabel, e.Keys[i].Sealed)
		if err != nil || len(secret) != keySize {
			return nil, nil, fmt.Errorf("%w: what is wrapped under cluster key %s does not open", ErrEnvelope, id)
		}
		k, err := keyOf([keySize]byte(secret))
		if err == nil && k.id.String() != e.ID {
			err = fmt.Errorf("%w: it holds another key than it says", ErrEnvelope)
		}
		return k, ids, err
	}
	return nil, ids, &ForeignError{Wrapped: ids, Have: ring.IDs()}
}

// parseEnvelope reads the JSON strictly.
func parseEnvelope(b []byte) (envelope, []keyring.ID, error) {
	var e envelope
	if len(b) > maxEnvelope {
		return e, nil, ErrEnvelope
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil || e.Format != envelopeFormat || len(e.Keys) == 0 || len(e.Keys) > keyring.MaxSecrets {
		return e, nil, ErrEnvelope
	}
	var ids []keyring.ID
	for _, w := range e.Keys {
		raw, err := hex.DecodeString(w.Secret)
		if err != nil || len(raw) != len(keyring.ID{}) || len(w.Sealed) != wrappedSize || slices.Contains(ids, keyring.ID(raw)) {
			return e, nil, ErrEnvelope
		}
		ids = append(ids, keyring.ID(raw))
	}
	return e, ids, nil
}
