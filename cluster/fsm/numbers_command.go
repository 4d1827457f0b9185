package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// NumbersStep says what a Numbers command does.
type NumbersStep uint8

// The steps.
const (
	// NumbersChange changes the table by what is in the command.
	NumbersChange NumbersStep = 1
	// NumbersOpen begins an import: a branch of the table.
	NumbersOpen NumbersStep = 2
	// NumbersRows adds a piece to an import.
	NumbersRows NumbersStep = 3
	// NumbersCommit makes an import the table.
	NumbersCommit NumbersStep = 4
	// NumbersAbandon drops an import.
	NumbersAbandon NumbersStep = 5
)

// Numbers is a step of a change of the number table. A field that a step does not name is
// empty there.
type Numbers struct {
	Step    NumbersStep
	Cluster string // must be the state's cluster
	// Generation is that of the new edition; 0 keeps the current one. Of NumbersChange and
	// NumbersCommit.
	Generation uint64
	// Expect, when it is set, is the edition that must be the current one. Of NumbersChange
	// and NumbersCommit.
	Expect *uint64
	// Import names the import; unique for each. Of all but NumbersChange.
	Import string
	// Piece counts the pieces of an import from 0. Of NumbersRows.
	Piece  uint64
	Author string
	Reason string
	// Key is the idempotency key of NumbersChange and NumbersCommit; empty: the change may
	// be applied twice.
	Key string
	At  time.Time // when it was proposed, by the proposer's clock; milliseconds are kept
	// Rows are what NumbersChange and NumbersRows change; of NumbersCommit, the last that
	// changes in the import.
	Rows []trunkgroup.NumberChange
}

// IsNumbers reports whether an encoded command is a Numbers.
func IsNumbers(command []byte) bool { return len(command) > 1 && command[1] == kindNumbers }

// Check implements Command.
func (c *Numbers) Check() error {
	changes := c.Step == NumbersChange || c.Step == NumbersCommit
	switch {
	case c.Step < NumbersChange || c.Step > NumbersAbandon:
		return fmt.Errorf("fsm: step %d of a change of numbers is not known", c.Step)
	case c.Cluster == "":
		return errors.New("fsm: a change without a cluster id")
	case (c.Step == NumbersChange) == (c.Import != ""):
		return errors.New("fsm: an import has a name, and a change of numbers has none")
	case !changes && (c.Generation != 0 || c.Expect != nil || c.Key != ""):
		return errors.New("fsm: only a change or the end of an import names generation, edition and key")
	case c.Step != NumbersRows && c.Piece != 0:
		return errors.New("fsm: only pieces of an import are counted")
	case !changes && c.Step != NumbersRows && len(c.Rows) > 0:
		return errors.New("fsm: numbers where there are none")
	case c.Step == NumbersRows && len(c.Rows) == 0:
		return errors.New("fsm: a piece of an import without numbers")
	}
	if n := len(AppendNumberRows(nil, c.Rows)); n > MaxNumberRows {
		return fmt.Errorf("fsm: the numbers of one command have %d octets, at most %d are possible", n, MaxNumberRows)
	}
	for i := range c.Rows {
		if len(c.Rows[i].Group) > MaxName {
			return fmt.Errorf("fsm: a group has a name of at most %d octets", MaxName)
		}
	}
	return checkTexts(c.Reason, c.Author, c.Key, c.Cluster, c.Import)
}

// Append implements Command.
func (c *Numbers) Append(dst []byte) []byte {
	dst = append(dst, CommandVersion, kindNumbers, byte(c.Step))
	dst = octets.Append(dst, c.Cluster)
	dst = binary.AppendUvarint(dst, c.Generation)
	dst = appendExpect(dst, c.Expect)
	dst = octets.Append(dst, c.Import)
	dst = binary.AppendUvarint(dst, c.Piece)
	for _, s := range []string{c.Author, c.Reason, c.Key} {
		dst = octets.Append(dst, s)
	}
	dst = binary.AppendUvarint(dst, millis(c.At))
	return AppendNumberRows(dst, c.Rows)
}

func (r *reader) numbers() *Numbers {
	c := &Numbers{Step: NumbersStep(r.Octet()), Cluster: r.Text(MaxName), Generation: r.Number(), Expect: r.expect()}
	c.Import, c.Piece = r.Text(MaxName), r.Number()
	c.Author, c.Reason, c.Key = r.Text(MaxName), r.Text(MaxReason), r.Text(MaxName)
	c.At = r.moment()
	c.Rows = r.numberRows()
	return c
}
