package fsm

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Bounds of the rate decks and of what the state remembers of them.
const (
	MaxDecks        = 64
	MaxDeck         = 64 << 20  // octets of one
	MaxAllDecks     = 256 << 20 // octets of all, uploads included
	MaxDeckRows     = 8_000_000 // of all
	MaxDeckPiece    = 256 << 10 // octets of one command
	MaxDecksHistory = 100
	MaxDeckUploads  = 2
	maxCurrency     = 3
)

// Refusals of a change of rate decks.
var (
	// ErrNoUpload refuses a step of an upload that is not open (any more).
	ErrNoUpload = errors.New("fsm: this upload of a rate deck is not open: it was abandoned, or it had no sign of life for too long")
	// ErrNoDeck refuses to remove what is not there.
	ErrNoDeck = errors.New("fsm: there is no such rate deck")
	// ErrTooManyDecks refuses what would make the decks too many or too large.
	ErrTooManyDecks = fmt.Errorf("fsm: there are at most %d rate decks, of %d rows and %d octets in all", MaxDecks, MaxDeckRows, MaxAllDecks)
	// ErrDeckDamaged refuses an upload that did not come over whole.
	ErrDeckDamaged = errors.New("fsm: the rate deck is not what its upload said: begin it anew")
)

// DecksEditionError is the refusal of a change whose author saw another edition.
type DecksEditionError struct {
	Expected uint64
	Have     trunkgroup.Version // Revision is the edition
}

// Error implements error.
func (e *DecksEditionError) Error() string {
	return fmt.Sprintf("fsm: edition %d of the rate decks was expected, but the current one is %d", e.Expected, e.Have.Revision)
}

// DecksBusyError is the refusal of one upload too many.
type DecksBusyError struct{ Uploads []DeckUpload }

// Error implements error.
func (e *DecksBusyError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "fsm: %d rate decks are being uploaded, and no more can be at once", len(e.Uploads))
	for _, v := range e.Uploads {
		fmt.Fprintf(&text, "; %q by %q since %s", v.Deck, v.Author, v.Opened.UTC().Format(time.RFC3339))
	}
	return text.String() + "; wait until they have ended"
}

// DeckKind says what of a deck is known without reading it.
type DeckKind struct {
	Sells    bool // what customers pay
	Currency string
	Rows     uint64
	Size     uint64            // octets
	Sum      [sha256.Size]byte // of Data
}

// Deck is a rate deck as the state holds it: its rows are opaque here. It is immutable.
type Deck struct {
	Name    string
	Edition uint64 // in which it came
	Author  string
	Reason  string
	At      time.Time // when it was proposed, UTC milliseconds
	DeckKind
	Data []byte
}

// DecksRecord is one change in the history of the rate decks.
type DecksRecord struct {
	Version trunkgroup.Version // Revision is the edition
	Deck    string             // empty: only the generation was raised
	Removed bool
	Author  string
	Reason  string
	At      time.Time // when it was proposed, UTC milliseconds
	Rows    uint64    // of the deck after it
}

// DecksDelta is what came into force.
type DecksDelta struct{ Record DecksRecord }

// DeckUpload is a deck that is on its way.
type DeckUpload struct {
	Name   string // of the upload
	Deck   string
	Author string
	Reason string
	Opened time.Time
	Last   time.Time // its last piece
	Pieces uint64
	Have   uint64 // octets so far
	DeckKind
}

// upload is an upload with its pieces.
type upload struct {
	DeckUpload
	data [][]byte
}

// decks is the rate decks as the state holds them.
type decks struct {
	generation, edition uint64 // 0, 0 before the first change
	list                []Deck // by name
	history             []DecksRecord
	keys                []keyed
	uploads             []upload
}

func (d *decks) clone() decks {
	c := *d
	c.list, c.history, c.keys, c.uploads = slices.Clone(d.list), slices.Clone(d.history), slices.Clone(d.keys), slices.Clone(d.uploads)
	return c
}

// blank reports that there never was a change of the rate decks.
func (d *decks) blank() bool { return d.edition == 0 && len(d.uploads) == 0 && len(d.keys) == 0 }

func (d *decks) version(cluster string) trunkgroup.Version {
	return trunkgroup.Version{Cluster: cluster, Generation: max(d.generation, 1), Revision: d.edition}
}

// place is where a deck is in the list, or belongs.
func (d *decks) place(name string) (int, bool) {
	return slices.BinarySearchFunc(d.list, name, func(x Deck, name string) int { return strings.Compare(x.Name, name) })
}

// find returns an open upload by its name; nil when there is none.
func (d *decks) find(name string) *upload {
	for i := range d.uploads {
		if d.uploads[i].Name == name {
			return &d.uploads[i]
		}
	}
	return nil
}

// drop ends an upload.
func (d *decks) drop(name string) {
	d.uploads = slices.DeleteFunc(slices.Clone(d.uploads), func(u upload) bool { return u.Name == name })
}

// expire ends the uploads that had no sign of life for too long.
func (d *decks) expire(now time.Time) {
	d.uploads = slices.DeleteFunc(slices.Clone(d.uploads), func(u upload) bool { return now.Sub(u.Last) > ImportPatience })
}

// fits reports whether a deck of that kind can stand beside the others, in the place of the
// one of its name.
func (d *decks) fits(name string, k DeckKind) bool {
	count, octets, rows := 1, k.Size, k.Rows
	for i := range d.list {
		if d.list[i].Name != name {
			count, octets, rows = count+1, octets+d.list[i].Size, rows+d.list[i].Rows
		}
	}
	for i := range d.uploads {
		octets += d.uploads[i].Size
	}
	return count <= MaxDecks && octets <= MaxAllDecks && rows <= MaxDeckRows
}

// Decks returns the rate decks by name and their version: Revision is the edition, 0 before
// the first change.
func (s *State) Decks() ([]Deck, trunkgroup.Version) {
	return slices.Clone(s.decks.list), s.decks.version(s.cluster)
}

// DecksHistory returns the remembered changes of the rate decks, oldest first.
func (s *State) DecksHistory() []DecksRecord { return slices.Clone(s.decks.history) }

// DeckUploads returns the uploads that are open, oldest first.
func (s *State) DeckUploads() []DeckUpload {
	list := make([]DeckUpload, len(s.decks.uploads))
	for i := range s.decks.uploads {
		list[i] = s.decks.uploads[i].DeckUpload
	}
	return list
}

// PutDecks gives a state of Of the rate decks that run beside its document.
func (s *State) PutDecks(list []Deck, v trunkgroup.Version) {
	s.decks = decks{generation: v.Generation, edition: v.Revision, list: list}
}
