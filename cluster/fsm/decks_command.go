package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
)

// DecksStep says what a Decks command does.
type DecksStep uint8

// The steps.
const (
	// DecksOpen begins an upload, and says what the deck will be.
	DecksOpen DecksStep = 1
	// DecksPiece adds octets to an upload.
	DecksPiece DecksStep = 2
	// DecksCommit makes what was uploaded the deck of its name.
	DecksCommit DecksStep = 3
	// DecksAbandon drops an upload.
	DecksAbandon DecksStep = 4
	// DecksRemove takes a deck out.
	DecksRemove DecksStep = 5
	// DecksRaise raises the generation, and changes nothing else: for restore and recovery.
	DecksRaise DecksStep = 6
)

// Decks is a step of a change of the rate decks. A field that a step does not name is empty
// there.
type Decks struct {
	Step    DecksStep
	Cluster string // must be the state's cluster
	// Generation is that of the new edition; 0 keeps the current one. Of DecksRaise.
	Generation uint64
	// Expect, when it is set, is the edition that must be the current one. Of DecksCommit and
	// DecksRemove.
	Expect *uint64
	Upload string // unique for each upload; of the first four steps
	Deck   string // the name; of DecksOpen and DecksRemove
	Kind   DeckKind
	Piece  uint64 // counts from 0; of DecksPiece
	Author string
	Reason string
	// Key is the idempotency key of DecksCommit and DecksRemove; empty: the change may be
	// applied twice.
	Key  string
	At   time.Time // when it was proposed, by the proposer's clock; milliseconds are kept
	Data []byte    // of DecksPiece
}

// IsDecks reports whether an encoded command is a Decks.
func IsDecks(command []byte) bool { return len(command) > 1 && command[1] == kindDecks }

// Check implements Command.
func (c *Decks) Check() error {
	changes := c.Step == DecksCommit || c.Step == DecksRemove
	switch {
	case c.Step < DecksOpen || c.Step > DecksRaise:
		return fmt.Errorf("fsm: step %d of a change of rate decks is not known", c.Step)
	case c.Cluster == "":
		return errors.New("fsm: a change without a cluster id")
	case (c.Step <= DecksAbandon) != (c.Upload != ""):
		return errors.New("fsm: an upload of a rate deck has a name, and nothing else has")
	case (c.Step == DecksOpen || c.Step == DecksRemove) != (c.Deck != ""):
		return errors.New("fsm: the deck is named when its upload begins and when it is removed")
	case (c.Step == DecksRaise) != (c.Generation != 0):
		return errors.New("fsm: the generation of rate decks is raised by itself")
	case !changes && (c.Expect != nil || c.Key != ""):
		return errors.New("fsm: only a change of rate decks names edition and key")
	case c.Step != DecksPiece && (c.Piece != 0 || len(c.Data) > 0):
		return errors.New("fsm: only pieces of a rate deck are counted and have octets")
	case c.Step == DecksPiece && (len(c.Data) == 0 || len(c.Data) > MaxDeckPiece):
		return fmt.Errorf("fsm: a piece of a rate deck has %d octets, 1 to %d are possible", len(c.Data), MaxDeckPiece)
	case c.Step != DecksOpen && c.Kind != DeckKind{}:
		return errors.New("fsm: what a rate deck is, is said when its upload begins")
	case c.Step == DecksOpen && (c.Kind.Size == 0 || c.Kind.Size > MaxDeck || c.Kind.Rows > MaxDeckRows || len(c.Kind.Currency) > maxCurrency):
		return fmt.Errorf("fsm: a rate deck of %d rows and %d octets is too large, or empty", c.Kind.Rows, c.Kind.Size)
	}
	return checkTexts(c.Reason, c.Author, c.Key, c.Cluster, c.Upload, c.Deck)
}

// Append implements Command.
func (c *Decks) Append(dst []byte) []byte {
	dst = append(dst, CommandVersion, kindDecks, byte(c.Step))
	dst = octets.Append(dst, c.Cluster)
	dst = binary.AppendUvarint(dst, c.Generation)
	dst = appendExpect(dst, c.Expect)
	dst = octets.Append(octets.Append(dst, c.Upload), c.Deck)
	dst = c.Kind.append(dst)
	dst = binary.AppendUvarint(dst, c.Piece)
	for _, s := range []string{c.Author, c.Reason, c.Key} {
		dst = octets.Append(dst, s)
	}
	dst = binary.AppendUvarint(dst, millis(c.At))
	return octets.Append(dst, c.Data)
}

func (r *reader) decks() *Decks {
	c := &Decks{Step: DecksStep(r.Octet()), Cluster: r.Text(MaxName), Generation: r.Number(), Expect: r.expect()}
	c.Upload, c.Deck = r.Text(MaxName), r.Text(MaxName)
	c.Kind, c.Piece = r.deckKind(), r.Number()
	c.Author, c.Reason, c.Key = r.Text(MaxName), r.Text(MaxReason), r.Text(MaxName)
	c.At = r.moment()
	c.Data = r.Octets(MaxDeckPiece)
	return c
}

func (k *DeckKind) append(dst []byte) []byte {
	sells := uint64(0)
	if k.Sells {
		sells = 1
	}
	dst = octets.Append(binary.AppendUvarint(dst, sells), k.Currency)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, k.Rows), k.Size)
	if k.Size == 0 {
		return dst
	}
	return append(dst, k.Sum[:]...)
}

func (r *reader) deckKind() DeckKind {
	k := DeckKind{Sells: r.Int(1) == 1, Currency: r.Text(maxCurrency), Rows: r.Number(), Size: uint64(r.Int(MaxDeck))}
	if k.Size > 0 {
		for i := range k.Sum {
			k.Sum[i] = r.Octet()
		}
	}
	return k
}
