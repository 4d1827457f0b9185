package soft

import (
	"encoding/binary"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
)

// A frame begins with the version of its form and its type. Numbers are uvarints,
// strings and values have their length before them, times are milliseconds.
//
//	Have   1 1 flags  n x (node boot tip lost silent)
//	Want   1 2        n x (node boot after base)
//	Delta  1 3 flags  node boot from to tip  n x (kind flags seq version key remaining age value)
//
// Octets behind the known fields are ignored, so fields can be added.
const frameVersion = 1

const (
	typeHave  = 1
	typeWant  = 2
	typeDelta = 3
)

// Flags of frames and of entries in them.
const (
	haveReply = 1 // of a Have: send yours

	deltaReset = 1 // of a Delta: the origin follows from its beginning
	deltaMore  = 2 // of a Delta: the window is used up, ask for more

	entryTombstone = 1
	entryExpires   = 2
)

// vector says how much of one origin a node has.
type vector struct {
	node string
	boot uint64
	tip  uint64
	// lost and silent are for how long the sender has held the process for lost
	// and not heard it; zero both when it lives. They travel plus one.
	lost, silent time.Duration
	dead         bool
}

// want asks for the changes of an origin above a number.
type want struct {
	node  string
	boot  uint64
	after uint64
	base  uint64 // while the origin is fetched anew: the tip when that began
}

// delta carries the changes of an origin above from, up to to.
type delta struct {
	node          string
	boot          uint64
	from, to, tip uint64
	reset, more   bool
	entries       []change
}

// change is one entry in a delta.
type change struct {
	kind      Kind
	tombstone bool
	seq       uint64
	version   uint64
	key       string
	expires   bool
	remaining time.Duration
	age       time.Duration
	value     []byte
}

// appendTime writes milliseconds, a started one as a whole.
func appendTime(dst []byte, d time.Duration) []byte {
	return binary.AppendUvarint(dst, uint64((max(d, 0)+time.Millisecond-1)/time.Millisecond))
}

func appendHave(dst []byte, flags byte, list []vector) []byte {
	dst = append(dst, frameVersion, typeHave, flags)
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, v := range list {
		dst = octets.Append(dst, v.node)
		dst = binary.AppendUvarint(dst, v.boot)
		dst = binary.AppendUvarint(dst, v.tip)
		if !v.dead {
			dst = append(dst, 0, 0)
			continue
		}
		dst = appendTime(dst, v.lost+time.Millisecond)
		dst = appendTime(dst, v.silent+time.Millisecond)
	}
	return dst
}

func appendWant(dst []byte, list []want) []byte {
	dst = append(dst, frameVersion, typeWant)
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, w := range list {
		dst = octets.Append(dst, w.node)
		dst = binary.AppendUvarint(dst, w.boot)
		dst = binary.AppendUvarint(dst, w.after)
		dst = binary.AppendUvarint(dst, w.base)
	}
	return dst
}

// appendDelta writes the head of a delta; its entries, encoded by appendChange,
// follow.
func appendDelta(dst []byte, d *delta, entries int) []byte {
	var flags byte
	if d.reset {
		flags |= deltaReset
	}
	if d.more {
		flags |= deltaMore
	}
	dst = append(dst, frameVersion, typeDelta, flags)
	dst = octets.Append(dst, d.node)
	for _, n := range []uint64{d.boot, d.from, d.to, d.tip, uint64(entries)} {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

func appendChange(dst []byte, e *entry, now time.Time) []byte {
	var flags byte
	if e.tombstone {
		flags |= entryTombstone
	}
	if !e.expires.IsZero() {
		flags |= entryExpires
	}
	dst = append(dst, byte(e.kind), flags)
	dst = binary.AppendUvarint(dst, e.seq)
	dst = binary.AppendUvarint(dst, e.version)
	dst = octets.Append(dst, e.key)
	if !e.expires.IsZero() {
		dst = appendTime(dst, e.expires.Sub(now))
	}
	dst = appendTime(dst, now.Sub(e.since))
	return octets.Append(dst, e.value)
}
