package closing

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// ErrEntry is returned for octets that are no entry of a call.
var ErrEntry = errors.New("closing: malformed entry of a call")

const entryVersion = 1

// maxLead bounds the time from an answer to its entry: a year.
const maxLead = 365 * 24 * time.Hour

// AppendEntry appends the entry of an answered call: how often survivors have closed
// it, how long ago it was answered when the entry is put, and its encoded record.
func AppendEntry(dst []byte, closings int, answered time.Duration, record []byte) []byte {
	dst = append(dst, entryVersion)
	dst = binary.AppendUvarint(dst, uint64(max(closings, 0)))
	dst = binary.AppendUvarint(dst, uint64(max(answered, 0).Milliseconds()))
	return append(dst, record...)
}

// ParseEntry reads the entry of a call. The record is a part of b.
func ParseEntry(b []byte) (closings int, answered time.Duration, record []byte, err error) {
	if len(b) == 0 || b[0] != entryVersion {
		return 0, 0, nil, ErrEntry
	}
	b = b[1:]
	n, size := binary.Uvarint(b)
	if size <= 0 || n > maxClosings {
		return 0, 0, nil, ErrEntry
	}
	b = b[size:]
	ms, size := binary.Uvarint(b)
	if size <= 0 || ms > uint64(maxLead/time.Millisecond) {
		return 0, 0, nil, ErrEntry
	}
	return int(n), time.Duration(ms) * time.Millisecond, b[size:], nil
}

const maxClosings = 1 << 20

// AppendCount appends the value under which nodes count the closings of a call.
func AppendCount(dst []byte, closings int) []byte {
	return binary.AppendUvarint(append(dst, entryVersion), uint64(max(closings, 0)))
}

// ParseCount reads it; 0 for what cannot be read.
func ParseCount(b []byte) int {
	if len(b) < 2 || b[0] != entryVersion {
		return 0
	}
	n, size := binary.Uvarint(b[1:])
	if size <= 0 || n > maxClosings {
		return 0
	}
	return int(n)
}

// Key names a call of one kind over all nodes.
func Key(kind cdr.Kind, callID string) string { return string(kind) + "/" + callID }

// ParseKey reads a Key.
func ParseKey(key string) (callID string, kind cdr.Kind, ok bool) {
	k, id, ok := strings.Cut(key, "/")
	return id, cdr.Kind(k), ok && id != "" && k != ""
}
