package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
)

// CommandVersion is the version of commands that this build writes and the
// highest that it applies.
const CommandVersion = 1

// Kinds of commands. A kind is never used for another end. A build of protocol 1
// knows kindSet only, one of protocol 2 those up to kindRecall, one of protocol 3 those up to
// kindNumbers; they halt at the others, so none may be proposed while such a build is a member.
const (
	kindSet     = 1
	kindStage   = 2
	kindPromote = 3
	kindAbandon = 4
	kindRecall  = 5
	kindNumbers = 6
	kindDecks   = 7
)

// Bounds of a command's fields in octets.
const (
	MaxDocument = 16 << 20
	MaxReason   = 4096
	MaxName     = 256 // cluster, site, author and key
)

// ErrUnknownCommand is wrapped when a command comes from a later build.
var ErrUnknownCommand = errors.New("fsm: unknown command")

// Command is one change of the state: *Set, *Stage, *Decide, *Recall, *Numbers or *Decks.
type Command interface {
	// Check reports a command that is outside the bounds.
	Check() error
	// Append adds the encoded command to dst.
	Append(dst []byte) []byte
	apply(s *State) Result
}

// Set replaces the cluster document.
type Set struct {
	Cluster string // must be the state's cluster
	// Generation is the generation of the new revision; 0 keeps the current one.
	Generation uint64
	// Expect, when it is set, is the revision that must be the current one.
	Expect   *uint64
	Author   string
	Reason   string
	Key      string    // idempotency key; empty means that the change may be applied twice
	At       time.Time // when it was proposed, by the proposer's clock; milliseconds are kept
	Document []byte
}

// Check implements Command.
func (c *Set) Check() error {
	switch {
	case c.Cluster == "":
		return errors.New("fsm: a change without a cluster id")
	case len(c.Document) == 0:
		return errors.New("fsm: a change without a document")
	case len(c.Document) > MaxDocument:
		return fmt.Errorf("fsm: the document has %d octets, at most %d are possible", len(c.Document), MaxDocument)
	}
	return checkTexts(c.Reason, c.Author, c.Key, c.Cluster)
}

// checkTexts bounds the texts of a command.
func checkTexts(reason string, names ...string) error {
	if len(reason) > MaxReason {
		return fmt.Errorf("fsm: the reason has %d octets, at most %d are possible", len(reason), MaxReason)
	}
	for _, name := range names {
		if len(name) > MaxName {
			return fmt.Errorf("fsm: author, key, site and cluster have at most %d octets each", MaxName)
		}
	}
	return nil
}

// Append implements Command.
func (c *Set) Append(dst []byte) []byte { return c.fields(append(dst, CommandVersion, kindSet)) }

func (c *Set) fields(dst []byte) []byte {
	dst = octets.Append(dst, c.Cluster)
	dst = binary.AppendUvarint(dst, c.Generation)
	dst = appendExpect(dst, c.Expect)
	dst = octets.Append(dst, c.Author)
	dst = octets.Append(dst, c.Reason)
	dst = octets.Append(dst, c.Key)
	dst = binary.AppendUvarint(dst, millis(c.At))
	return octets.Append(dst, c.Document)
}

func (r *reader) set() Set {
	c := Set{Cluster: r.Text(MaxName), Generation: r.Number(), Expect: r.expect()}
	c.Author, c.Reason, c.Key = r.Text(MaxName), r.Text(MaxReason), r.Text(MaxName)
	c.At = r.moment()
	c.Document = r.Octets(MaxDocument)
	return c
}

// appendExpect writes what expect reads.
func appendExpect(dst []byte, expect *uint64) []byte {
	if expect == nil {
		return append(dst, 0)
	}
	return binary.AppendUvarint(append(dst, 1), *expect)
}

// expect reads the revision or edition that an author saw; nil when he names none.
func (r *reader) expect() *uint64 {
	switch r.Octet() {
	case 0:
	case 1:
		n := r.Number()
		return &n
	default:
		r.Fail()
	}
	return nil
}

// Decode reads a command. An error wraps ErrUnknownCommand when a later build
// wrote it and ErrMalformed otherwise. The document shares b's memory.
func Decode(b []byte) (Command, error) {
	r := read(b)
	version, kind := r.Octet(), r.Octet()
	if r.Bad() || version == 0 || kind == 0 {
		return nil, ErrMalformed
	}
	if version > CommandVersion || kind > kindDecks {
		return nil, fmt.Errorf("%w: version %d, kind %d; this build knows version %d", ErrUnknownCommand, version, kind, CommandVersion)
	}
	var c Command
	switch kind {
	case kindSet:
		set := r.set()
		c = &set
	case kindStage:
		c = &Stage{Site: r.Text(MaxName), Set: r.set()}
	case kindPromote, kindAbandon:
		c = r.decide(kind == kindPromote)
	case kindRecall:
		c = &Recall{Revision: r.revision()}
	case kindNumbers:
		c = r.numbers()
	case kindDecks:
		c = r.decks()
	}
	if !r.End() {
		return nil, ErrMalformed
	}
	return c, nil
}

// maxMillis is the end of the year 9999, the last one that RFC 3339 can write.
const maxMillis = 253402300799999

// millis carries a time as Unix milliseconds; the zero time and all before 1970 are 0.
func millis(t time.Time) uint64 {
	if t.IsZero() || t.Before(time.Unix(0, 0)) {
		return 0
	}
	return min(uint64(t.UnixMilli()), maxMillis)
}

// moment reads what millis wrote.
func (r *reader) moment() time.Time {
	ms := r.Number()
	if ms > maxMillis {
		r.Fail()
	}
	if ms == 0 || r.Bad() {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}
