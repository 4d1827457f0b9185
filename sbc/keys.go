package sbc

import (
	"errors"
	"fmt"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// derived are the keys of each purpose, made from the cluster keys in their order.
type derived struct {
	nonces [][]byte
	calls  b2bua.Keys
}

func deriveAll(key []byte, older [][]byte) derived {
	var d derived
	for _, k := range append([][]byte{key}, older...) {
		d.nonces = append(d.nonces, derive(k, "digest nonce"))
		d.calls.Identifiers = append(d.calls.Identifiers, derive(k, "identifiers"))
		d.calls.Handoff = append(d.calls.Handoff, derive(k, "hand-off"))
		d.calls.Accounts = append(d.calls.Accounts, derive(k, "accounts"))
	}
	return d
}

// Seed is what a cluster key gives for the hashes that all nodes compute alike (DEC-03). These
// would not find each other's entries if it changed with the key, so it is kept when the key goes.
func Seed(key []byte) uint64 { return b2bua.OpenSeed(derive(key, "hand-off")) }

// SetKeys replaces the cluster key of the running server: identifiers, nonces and hand-off tokens are
// made under key from now on and still read under the older ones. Calls, and registrations of far ends that hold a
// nonce, go on.
func (s *Server) SetKeys(key []byte, older ...[]byte) error {
	for _, k := range append([][]byte{key}, older...) {
		if len(k) < minKey {
			return errors.New("sbc: the cluster key has fewer than 16 bytes")
		}
	}
	keys := deriveAll(key, older)
	if s.verifier != nil {
		if err := s.verifier.SetKeys(keys.nonces[0], keys.nonces[1:]...); err != nil {
			return fmt.Errorf("sbc: %w", err)
		}
	}
	for _, sh := range s.shards {
		sh.push(event{kind: evAsk, ask: func(core *b2bua.Shard) { core.SetKeys(keys.calls) }})
	}
	return nil
}

// minKey is the least length of a cluster key in bytes.
const minKey = 16
