package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// snapshotMagic starts every snapshot; the last octet is the version.
const snapshotMagic = "TNDFSM\x00\x01"

// ErrUnknownSnapshot is returned for a snapshot of a later build.
var ErrUnknownSnapshot = errors.New("fsm: snapshot of an unknown version")

// Snapshot encodes the state. A halted state has none: it lacks what a later
// build must replay.
func (s *State) Snapshot() ([]byte, error) {
	if s.halted != nil {
		return nil, s.halted
	}
	dst := append([]byte(nil), snapshotMagic...)
	dst = appendOctets(dst, s.cluster)
	dst = binary.AppendUvarint(dst, uint64(len(s.history)))
	for i := range s.history {
		dst = s.history[i].Append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.keys)))
	for _, k := range s.keys {
		dst = appendOctets(dst, k.key)
		dst = binary.AppendUvarint(dst, k.version.Generation)
		dst = binary.AppendUvarint(dst, k.version.Revision)
	}
	return dst, nil
}

// Restore decodes a snapshot of the named cluster. It keeps b.
func Restore(cluster string, b []byte) (*State, error) {
	const name = len(snapshotMagic) - 1
	if len(b) < len(snapshotMagic) || string(b[:name]) != snapshotMagic[:name] {
		return nil, ErrMalformed
	}
	if b[name] != snapshotMagic[name] {
		return nil, fmt.Errorf("%w: %d", ErrUnknownSnapshot, b[name])
	}
	r := reader{b: b[len(snapshotMagic):]}
	s := New(r.text(MaxName))
	if !r.bad && s.cluster != cluster {
		return nil, fmt.Errorf("%w: %q, this is %q", ErrCluster, s.cluster, cluster)
	}
	var last trunkgroup.Version
	for n := r.count(MaxHistory); n > 0; n-- {
		e := r.entry()
		if e.Version.Cluster != cluster || !e.Version.Newer(last) {
			return nil, ErrMalformed
		}
		last = e.Version
		s.history = append(s.history, e)
	}
	for n := r.count(MaxKeys); n > 0; n-- {
		s.keys = append(s.keys, keyed{
			key:     r.text(MaxName),
			version: trunkgroup.Version{Cluster: cluster, Generation: r.number(), Revision: r.number()},
		})
	}
	if !r.end() {
		return nil, ErrMalformed
	}
	return s, nil
}

// count reads a number of elements, at most limit.
func (r *reader) count(limit int) int {
	n := r.number()
	if n > uint64(limit) {
		r.bad = true
		return 0
	}
	return int(n)
}
