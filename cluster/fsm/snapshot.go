package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// snapshotMagic starts every snapshot; the octet behind it is the version.
const snapshotMagic = "TNDFSM\x00"

// Versions of a snapshot. A state without any canary is written as version 1,
// which a build of protocol 1 reads: so a cluster that is half upgraded can bring
// a follower up to date from either build.
const (
	snapshotPlain  = 1
	snapshotCanary = 2 // revisions carry what became of them
)

// ErrUnknownSnapshot is returned for a snapshot of a later build.
var ErrUnknownSnapshot = errors.New("fsm: snapshot of an unknown version")

// Snapshot encodes the state. A halted state has none: it lacks what a later
// build must replay.
func (s *State) Snapshot() ([]byte, error) {
	if s.halted != nil {
		return nil, s.halted
	}
	version := byte(snapshotPlain)
	for i := range s.history {
		if !s.history[i].plain() {
			version = snapshotCanary
		}
	}
	dst := append([]byte(snapshotMagic), version)
	dst = octets.Append(dst, s.cluster)
	dst = binary.AppendUvarint(dst, uint64(len(s.history)))
	for i := range s.history {
		if version == snapshotPlain {
			dst = s.history[i].Append(dst)
		} else {
			dst = s.history[i].append(dst)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.keys)))
	for _, k := range s.keys {
		dst = octets.Append(dst, k.key)
		dst = binary.AppendUvarint(dst, k.version.Generation)
		dst = binary.AppendUvarint(dst, k.version.Revision)
	}
	return dst, nil
}

// Restore decodes a snapshot of the named cluster. It keeps b.
func Restore(cluster string, b []byte) (*State, error) {
	if len(b) <= len(snapshotMagic) || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, ErrMalformed
	}
	version := b[len(snapshotMagic)]
	if version != snapshotPlain && version != snapshotCanary {
		return nil, fmt.Errorf("%w: %d", ErrUnknownSnapshot, version)
	}
	r := read(b[len(snapshotMagic)+1:])
	s := New(r.Text(MaxName))
	if !r.Bad() && s.cluster != cluster {
		return nil, fmt.Errorf("%w: %q, this is %q", ErrCluster, s.cluster, cluster)
	}
	if !s.readHistory(&r, version) {
		return nil, ErrMalformed
	}
	for n := r.Int(MaxKeys); n > 0; n-- {
		s.keys = append(s.keys, keyed{
			key:     r.Text(MaxName),
			version: trunkgroup.Version{Cluster: cluster, Generation: r.Number(), Revision: r.Number()},
		})
	}
	if !r.End() {
		return nil, ErrMalformed
	}
	return s, nil
}

// readHistory takes the revisions off a snapshot; false when they are no history:
// versions rise, and only the last may be a canary.
func (s *State) readHistory(r *reader, version byte) bool {
	var last trunkgroup.Version
	plain := true
	for n := r.Int(MaxHistory); n > 0; n-- {
		var v Revision
		if version == snapshotPlain {
			v.Entry = r.entry()
		} else {
			v = r.revision()
		}
		if v.Version.Cluster != s.cluster || !v.Version.Newer(last) || v.State == Staged && n > 1 {
			return false
		}
		last = v.Version
		plain = plain && v.plain()
		s.history = append(s.history, v)
	}
	return !r.Bad() && plain == (version == snapshotPlain)
}
