package fsm

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Entry is one revision of the cluster document. It is immutable.
type Entry struct {
	Version  trunkgroup.Version
	Author   string
	Reason   string
	At       time.Time // when it was proposed, UTC milliseconds
	Document []byte
}

// Sum is the SHA-256 of the document.
func (e *Entry) Sum() [sha256.Size]byte { return sha256.Sum256(e.Document) }

// Append adds the encoded entry to dst.
func (e *Entry) Append(dst []byte) []byte {
	dst = appendOctets(dst, e.Version.Cluster)
	dst = binary.AppendUvarint(dst, e.Version.Generation)
	dst = binary.AppendUvarint(dst, e.Version.Revision)
	dst = appendOctets(dst, e.Author)
	dst = appendOctets(dst, e.Reason)
	dst = binary.AppendUvarint(dst, millis(e.At))
	return appendOctets(dst, e.Document)
}

// DecodeEntry reads an entry and nothing behind it.
func DecodeEntry(b []byte) (Entry, error) {
	r := reader{b: b}
	e := r.entry()
	if !r.end() {
		return Entry{}, ErrMalformed
	}
	return e, nil
}

func (r *reader) entry() Entry {
	return Entry{
		Version: trunkgroup.Version{Cluster: r.text(MaxName), Generation: r.number(), Revision: r.number()},
		Author:  r.text(MaxName), Reason: r.text(MaxReason), At: r.moment(),
		Document: r.octets(MaxDocument),
	}
}
