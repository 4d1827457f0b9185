package fsm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// snapshotMagic starts every snapshot; the octet behind it is the version.
const snapshotMagic = "TNDFSM\x00"

// Versions of a snapshot. A state without any canary is written as version 1,
// which a build of protocol 1 reads, one that never had a number table as version 2, and one that never had rate decks as
// version 3: so a cluster that is half upgraded can bring a follower up to date from either build.
const (
	snapshotPlain   = 1
	snapshotCanary  = 2 // revisions carry what became of them
	snapshotNumbers = 3 // the length of what is not a table, that, and the number tables
	snapshotDecks   = 4 // the same with rate decks, behind the number tables if there are any
)

// MaxSnapshotHead bounds what of a snapshot is no number table in octets: the history and
// the current document.
const MaxSnapshotHead = MaxHistoryBytes + MaxDocument + 1<<20

// ErrUnknownSnapshot is returned for a snapshot of a later build.
var ErrUnknownSnapshot = errors.New("fsm: snapshot of an unknown version")

// HasNumbers reports whether what begins with head is a snapshot with a number table or rate decks, which
// can be much larger than one without.
func HasNumbers(head []byte) bool {
	return len(head) > len(snapshotMagic) && string(head[:len(snapshotMagic)]) == snapshotMagic && head[len(snapshotMagic)] >= snapshotNumbers
}

// Snapshot encodes the state. A halted state has none: it lacks what a later
// build must replay.
func (s *State) Snapshot() ([]byte, error) {
	var b bytes.Buffer
	if err := s.WriteSnapshot(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteSnapshot writes what Snapshot returns. In memory it holds one encoded table at most.
func (s *State) WriteSnapshot(w io.Writer) error {
	if s.halted != nil {
		return s.halted
	}
	version := s.snapshotVersion()
	head := s.appendHead(nil, version)
	start := append([]byte(snapshotMagic), version)
	if version >= snapshotNumbers {
		start = binary.AppendUvarint(start, uint64(len(head)))
	}
	if _, err := w.Write(append(start, head...)); err != nil || version < snapshotNumbers {
		return err
	}
	return s.writeTables(w)
}

func (s *State) snapshotVersion() byte {
	if !s.decks.blank() {
		return snapshotDecks
	}
	if !s.numbers.blank() {
		return snapshotNumbers
	}
	for i := range s.history {
		if !s.history[i].plain() {
			return snapshotCanary
		}
	}
	return snapshotPlain
}

// appendHead adds all but the number tables to dst.
func (s *State) appendHead(dst []byte, version byte) []byte {
	dst = octets.Append(dst, s.cluster)
	dst = binary.AppendUvarint(dst, uint64(len(s.history)))
	for i := range s.history {
		if version == snapshotPlain {
			dst = s.history[i].Append(dst)
		} else {
			dst = s.history[i].append(dst)
		}
	}
	dst = appendKeys(dst, s.keys)
	if version == snapshotDecks {
		dst = appendFlag(dst, !s.numbers.blank())
	}
	if version >= snapshotNumbers && !s.numbers.blank() {
		dst = s.numbers.append(dst)
	}
	if version == snapshotDecks {
		dst = s.decks.append(dst)
	}
	return dst
}

func appendKeys(dst []byte, keys []keyed) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(keys)))
	for _, k := range keys {
		dst = octets.Append(dst, k.key)
		dst = binary.AppendUvarint(dst, k.version.Generation)
		dst = binary.AppendUvarint(dst, k.version.Revision)
	}
	return dst
}

func appendFlag(dst []byte, set bool) []byte {
	if set {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// writeTables writes what is large, each with its length before it.
func (s *State) writeTables(w io.Writer) error {
	if !s.numbers.blank() {
		if err := s.numbers.writeTables(w); err != nil {
			return err
		}
	}
	return s.decks.writeData(w)
}

// readTables reads what writeTables wrote.
func (s *State) readTables(r snapshotReader) error {
	if !s.numbers.blank() {
		if err := s.numbers.readTables(r); err != nil {
			return err
		}
	}
	return s.decks.readData(r)
}

func (r *reader) keys(cluster string) (keys []keyed) {
	for range r.Int(MaxKeys) {
		keys = append(keys, keyed{
			key:     r.Text(MaxName),
			version: trunkgroup.Version{Cluster: cluster, Generation: r.Number(), Revision: r.Number()},
		})
	}
	return keys
}

// Restore decodes a snapshot of the named cluster.
func Restore(cluster string, b []byte) (*State, error) {
	return ReadSnapshot(cluster, bytes.NewReader(b))
}

// ReadSnapshot reads what WriteSnapshot wrote, up to the end.
func ReadSnapshot(cluster string, from io.Reader) (*State, error) {
	r := snapshotReader{bufio.NewReader(from)}
	start := make([]byte, len(snapshotMagic)+1)
	if _, err := io.ReadFull(r, start); err != nil {
		return nil, r.fault(err)
	}
	if string(start[:len(snapshotMagic)]) != snapshotMagic {
		return nil, ErrMalformed
	}
	version := start[len(snapshotMagic)]
	var head []byte
	var err error
	switch version {
	case snapshotPlain, snapshotCanary:
		head, err = r.rest(MaxSnapshotHead)
	case snapshotNumbers, snapshotDecks:
		head, err = r.block(MaxSnapshotHead)
	default:
		return nil, fmt.Errorf("%w: %d", ErrUnknownSnapshot, version)
	}
	if err != nil {
		return nil, err
	}
	s, err := readHead(cluster, head, version)
	if err != nil || version < snapshotNumbers {
		return s, err
	}
	if err := s.readTables(r); err != nil {
		return nil, err
	}
	if left, err := r.rest(1); err != nil || len(left) > 0 {
		return nil, ErrMalformed
	}
	return s, nil
}

func readHead(cluster string, head []byte, version byte) (*State, error) {
	r := read(head)
	s := New(r.Text(MaxName))
	if !r.Bad() && s.cluster != cluster {
		return nil, fmt.Errorf("%w: %q, this is %q", ErrCluster, s.cluster, cluster)
	}
	if !s.readHistory(&r, version) {
		return nil, ErrMalformed
	}
	s.keys = r.keys(cluster)
	if version == snapshotNumbers || version == snapshotDecks && r.Int(1) == 1 {
		s.numbers = r.numberState(cluster)
	}
	if version == snapshotDecks {
		s.decks = r.deckState(cluster)
	}
	if !r.End() {
		return nil, ErrMalformed
	}
	return s, nil
}

// snapshotReader reads the parts of a snapshot.
type snapshotReader struct{ *bufio.Reader }

// fault tells the end of what was read from a reader that failed.
func (r snapshotReader) fault(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrMalformed
	}
	return fmt.Errorf("fsm: read snapshot: %w", err)
}

// block reads a length and so many octets.
func (r snapshotReader) block(limit int) ([]byte, error) {
	n, err := r.length()
	if err != nil {
		return nil, err
	}
	if n > uint64(limit) {
		return nil, ErrMalformed
	}
	var b bytes.Buffer
	b.Grow(int(min(n, maxTrusted)))
	if _, err := io.CopyN(&b, r, int64(n)); err != nil {
		return nil, r.fault(err)
	}
	return b.Bytes(), nil
}

// maxTrusted is how many octets are made room for because a length says so.
const maxTrusted = 16 << 20

// length reads a number in its shortest form.
func (r snapshotReader) length() (uint64, error) {
	var raw []byte
	for len(raw) < binary.MaxVarintLen64 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, r.fault(err)
		}
		if raw = append(raw, c); c < 0x80 {
			break
		}
	}
	field := read(raw)
	n := field.Number()
	if !field.End() {
		return 0, ErrMalformed
	}
	return n, nil
}

// rest reads up to limit octets, and no more memory than there are.
func (r snapshotReader) rest(limit int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)))
	if err != nil {
		return nil, r.fault(err)
	}
	return b, nil
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
	return !r.Bad() && (version >= snapshotNumbers || plain == (version == snapshotPlain))
}
