package fsm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Bounds of the number table and of what the state remembers of it.
const (
	MaxNumbers        = 20_000_000
	MaxNumbersHistory = 100
	MaxImports        = 2
	// ImportPatience is how long after its last piece an import is over.
	ImportPatience = 10 * time.Minute
)

// Refusals of a change of numbers.
var (
	// ErrNoImport refuses a step of an import that is not open (any more).
	ErrNoImport = errors.New("fsm: this import is not open: it was abandoned, another one was committed first, or it had no sign of life for too long")
	// ErrTooManyNumbers refuses what would make the table too large.
	ErrTooManyNumbers = fmt.Errorf("fsm: the number table holds at most %d patterns", MaxNumbers)
	// errPiece refuses a piece of an import that comes before the one before it.
	errPiece = errors.New("fsm: a piece of the import is missing")
)

// BusyError is the refusal of one import too many.
type BusyError struct{ Imports []NumbersImport }

// Error implements error.
func (e *BusyError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "fsm: %d imports are open, and no more can be at once", len(e.Imports))
	for _, v := range e.Imports {
		fmt.Fprintf(&text, "; one of %q since %s", v.Author, v.Opened.UTC().Format(time.RFC3339))
	}
	return text.String() + "; wait until they have ended"
}

// EditionError is the refusal of a change whose author saw another edition.
type EditionError struct {
	Expected uint64
	Have     trunkgroup.Version // Revision is the edition
}

// Error implements error.
func (e *EditionError) Error() string {
	return fmt.Sprintf("fsm: edition %d of the numbers was expected, but the current one is %d", e.Expected, e.Have.Revision)
}

// NumbersRecord is one change in the history of the number table.
type NumbersRecord struct {
	Version trunkgroup.Version // Revision is the edition
	Author  string
	Reason  string
	At      time.Time // when it was proposed, UTC milliseconds
	Import  string    // its name; empty for a single change
	Set     uint64    // patterns that were added or moved
	Removed uint64
	Len     uint64 // patterns in the table after it
}

// NumbersDelta is how one edition came out of the one before.
type NumbersDelta struct {
	Before trunkgroup.Version
	// Rows are what changed; nil when an import came into force: only the table knows.
	Rows   []trunkgroup.NumberChange
	Record NumbersRecord
}

// NumbersImport is an import that is open.
type NumbersImport struct {
	Name   string
	Author string
	Reason string
	Opened time.Time
	Last   time.Time // its last piece
	Pieces uint64
	Set    uint64 // patterns that it adds or moves
	Gone   uint64 // patterns that it removes
	Fault  string // why it cannot become the table; empty: it can
}

// branch is an import with the table that it will be.
type branch struct {
	NumbersImport
	table *trunkgroup.NumberTable
}

// numbers is the number table as the state holds it.
type numbers struct {
	generation, edition uint64 // 0, 0 before the first change
	table               *trunkgroup.NumberTable
	history             []NumbersRecord // oldest first
	keys                []keyed         // oldest first
	branches            []branch        // oldest first
}

func (n *numbers) clone() numbers {
	c := *n
	c.history, c.keys, c.branches = slices.Clone(n.history), slices.Clone(n.keys), slices.Clone(n.branches)
	return c
}

// blank reports that there never was a change of the number table.
func (n *numbers) blank() bool {
	return n.edition == 0 && len(n.branches) == 0 && len(n.keys) == 0
}

func (n *numbers) version(cluster string) trunkgroup.Version {
	return trunkgroup.Version{Cluster: cluster, Generation: max(n.generation, 1), Revision: n.edition}
}

// find returns an open import by its name; nil when there is none.
func (n *numbers) find(name string) *branch {
	for i := range n.branches {
		if n.branches[i].Name == name {
			return &n.branches[i]
		}
	}
	return nil
}

// drop ends an import.
func (n *numbers) drop(name string) {
	n.branches = slices.DeleteFunc(n.branches, func(b branch) bool { return b.Name == name })
}

// expire ends the imports that had no sign of life for too long.
func (n *numbers) expire(now time.Time) {
	n.branches = slices.DeleteFunc(n.branches, func(b branch) bool { return now.Sub(b.Last) > ImportPatience })
}

// Numbers returns the number table, which is nil when it is empty, and its version: Revision
// is the edition, 0 before the first change.
func (s *State) Numbers() (*trunkgroup.NumberTable, trunkgroup.Version) {
	return s.numbers.table, s.numbers.version(s.cluster)
}

// NumbersHistory returns the remembered changes of the number table, oldest first.
func (s *State) NumbersHistory() []NumbersRecord { return slices.Clone(s.numbers.history) }

// NumbersImports returns the imports that are open, oldest first.
func (s *State) NumbersImports() []NumbersImport {
	list := make([]NumbersImport, len(s.numbers.branches))
	for i := range s.numbers.branches {
		list[i] = s.numbers.branches[i].NumbersImport
	}
	return list
}

// PutNumbers gives a state of Of the number table that runs beside its document.
func (s *State) PutNumbers(t *trunkgroup.NumberTable, v trunkgroup.Version) {
	s.numbers = numbers{generation: v.Generation, edition: v.Revision, table: t}
}
