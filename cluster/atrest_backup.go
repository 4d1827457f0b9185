package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tandem-sbc/tandem/cluster/atrest"
	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// backupLabel binds the sealed state to what it is.
const backupLabel = "backup"

// ErrBackupKey is returned by OpenBackup for a backup that is sealed under cluster keys
// that the node does not hold.
var ErrBackupKey = errors.New("the backup is sealed under another cluster key: add that key to the end of the key file of this node, and remove it afterwards")

// OpenBackup is OpenBackup with the cluster keys that this node holds.
func (n *Node) OpenBackup(b []byte) (*Backup, error) {
	ring, _, _ := n.trust()
	return OpenBackup(b, ring)
}

// sealBackup seals a state under a key of its own: length and text of the key's envelope,
// the sealed state.
func sealBackup(state []byte, ring *keyring.Keyring) ([]byte, error) {
	k, err := atrest.NewKey()
	if err != nil {
		return nil, err
	}
	envelope, err := k.Wrap(ring)
	if err != nil {
		return nil, err
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(envelope)))
	return append(append(b, envelope...), k.Seal(backupLabel, state)...), nil
}

// unsealBackup returns the state that sealBackup sealed.
func unsealBackup(b []byte, ring *keyring.Keyring) ([]byte, error) {
	if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, ErrBackup
	}
	envelope, sealed := b[4:4+binary.BigEndian.Uint32(b)], b[4+binary.BigEndian.Uint32(b):]
	k, _, err := atrest.Unwrap(envelope, ring)
	if _, foreign := errors.AsType[*atrest.ForeignError](err); foreign {
		return nil, fmt.Errorf("%w: %w", ErrBackupKey, err)
	}
	if err == nil {
		b, err = k.Open(backupLabel, sealed)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	return b, nil
}
