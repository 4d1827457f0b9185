package gossip

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/memberlist"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// SetKeys replaces the cluster secrets while the gossip runs: packets are sealed with the
// first one and opened with any. A member that does not hold the first one hears nothing
// from this node any more.
func (g *Gossip) SetKeys(k *keyring.Keyring) error {
	g.keysMu.Lock()
	defer g.keysMu.Unlock()
	g.keys = k
	if g.ring == nil {
		return nil
	}
	return install(g.ring, k.DeriveAll(gossipLabel))
}

// newRing makes memberlist's keyring of the keys that are in force at the start.
func (g *Gossip) newRing() (*memberlist.Keyring, error) {
	g.keysMu.Lock()
	defer g.keysMu.Unlock()
	keys := g.keys.DeriveAll(gossipLabel)
	ring, err := memberlist.NewKeyring(keys, keys[0])
	if err != nil {
		return nil, fmt.Errorf("gossip: keyring: %w", err)
	}
	g.ring = ring
	return ring, nil
}

// install makes want the keys of a ring, the first one to use. At no moment is the ring without a key.
func install(ring *memberlist.Keyring, want [][]byte) error {
	var faults []error
	for _, k := range want {
		faults = append(faults, ring.AddKey(k))
	}
	faults = append(faults, ring.UseKey(want[0]))
	for _, have := range slices.Clone(ring.GetKeys()) {
		if !slices.ContainsFunc(want, func(k []byte) bool { return bytes.Equal(k, have) }) {
			faults = append(faults, ring.RemoveKey(have))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("gossip: keyring: %w", err)
	}
	return nil
}
