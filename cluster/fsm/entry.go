package fsm

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
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
	dst = octets.Append(dst, e.Version.Cluster)
	dst = binary.AppendUvarint(dst, e.Version.Generation)
	dst = binary.AppendUvarint(dst, e.Version.Revision)
	dst = octets.Append(dst, e.Author)
	dst = octets.Append(dst, e.Reason)
	dst = binary.AppendUvarint(dst, millis(e.At))
	return octets.Append(dst, e.Document)
}

// DecodeEntry reads an entry and nothing behind it.
func DecodeEntry(b []byte) (Entry, error) {
	r := read(b)
	e := r.entry()
	if !r.End() {
		return Entry{}, ErrMalformed
	}
	return e, nil
}

func (r *reader) entry() Entry {
	return Entry{
		Version: trunkgroup.Version{Cluster: r.Text(MaxName), Generation: r.Number(), Revision: r.Number()},
		Author:  r.Text(MaxName), Reason: r.Text(MaxReason), At: r.moment(),
		Document: r.Octets(MaxDocument),
	}
}

// RevisionState says what became of a revision.
type RevisionState uint8

// States of a revision.
const (
	// Applied became the cluster's at once.
	Applied RevisionState = 0
	// Staged is a canary: the document of one site.
	Staged RevisionState = 1
	// Promoted was a canary and became the cluster's.
	Promoted RevisionState = 2
	// Abandoned was a canary and never became the cluster's.
	Abandoned RevisionState = 3
)

// String names the state as operators read it.
func (s RevisionState) String() string {
	switch s {
	case Applied:
		return "applied"
	case Staged:
		return "canary"
	case Promoted:
		return "promoted"
	case Abandoned:
		return "abandoned"
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

func (s RevisionState) known() bool { return s <= Abandoned }

// Revision is an entry of the history with what became of it.
type Revision struct {
	Entry
	State RevisionState
	Site  string // where it was a canary; empty when it was none
	// Who promoted or abandoned the canary, why and when.
	DecidedBy  string
	DecidedFor string
	DecidedAt  time.Time
}

// plain reports a revision that was never a canary: all that protocol 1 knows.
func (v *Revision) plain() bool {
	return v.State == Applied && v.Site == "" && v.DecidedBy == "" && v.DecidedFor == "" && v.DecidedAt.IsZero()
}

func (v *Revision) append(dst []byte) []byte {
	dst = append(v.Append(dst), byte(v.State))
	for _, s := range []string{v.Site, v.DecidedBy, v.DecidedFor} {
		dst = octets.Append(dst, s)
	}
	return binary.AppendUvarint(dst, millis(v.DecidedAt))
}

func (r *reader) revision() Revision {
	v := Revision{
		Entry: r.entry(), State: RevisionState(r.Octet()), Site: r.Text(MaxName),
		DecidedBy: r.Text(MaxName), DecidedFor: r.Text(MaxReason), DecidedAt: r.moment(),
	}
	if !v.State.known() {
		r.Fail()
	}
	return v
}
