package hello

import (
	"fmt"
	"io"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// UnknownKeyError says that two nodes hold different cluster keys: one of them has missed a step
// of a rotation, or is a stranger. It is an ErrKey.
type UnknownKeyError struct {
	// Claimed is the name that the peer gives itself, unproven; empty at the dialer.
	Claimed string
	// Offered is the key that the dialer offered and the acceptor does not hold.
	Offered keyring.ID
	// Peer is the key that the acceptor uses, as it says without proof.
	Peer keyring.ID
	// Held: the dialer holds that key, so an offer of it will do.
	Held bool
}

// Error implements error.
func (e *UnknownKeyError) Error() string {
	if e.Claimed != "" {
		return fmt.Sprintf("%v: it calls itself %q and offers key %s, which is not in the key file of this node; this node uses %s", ErrKey, e.Claimed, e.Offered, e.Peer)
	}
	return fmt.Sprintf("hello: the peer does not hold the cluster key %s that this node offers, it uses %s: one of the two has missed a step of a key rotation", e.Offered, e.Peer)
}

// Unwrap makes it an ErrKey.
func (e *UnknownKeyError) Unwrap() error { return ErrKey }

// unknownKey tells a dialer whose key is not held which one is, so that it can say why it stays outside or offer
// another one. It tells the cluster's name, which the dialer knows, and the id of a key, and proves nothing.
func (l *Local) unknownKey(w io.Writer, theirs message) error {
	refusal := &UnknownKeyError{Claimed: theirs.node, Offered: theirs.key, Peer: l.Keys.Primary()}
	bare := Local{Cluster: l.Cluster}
	m, err := bare.message(theirs.purpose, "", refusal.Peer)
	if err == nil {
		// A stranger who does not listen misses it.
		_, _ = send(w, m)
	}
	return refusal
}
