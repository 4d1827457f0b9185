package fsm

import (
	"fmt"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func (c *Numbers) apply(s *State) Result {
	n := &s.numbers
	now := n.version(s.cluster)
	if c.Cluster != s.cluster {
		return Result{Version: now, Err: fmt.Errorf("%w: %q, this is %q", ErrCluster, c.Cluster, s.cluster)}
	}
	if v, ok := seen(n.keys, c.Key); ok {
		return Result{Version: v}
	}
	var err error
	switch c.Step {
	case NumbersChange:
		return c.change(s)
	case NumbersCommit:
		return c.commit(s)
	case NumbersOpen:
		err = c.open(n)
	case NumbersRows:
		err = c.piece(n)
	case NumbersAbandon:
		n.drop(c.Import)
	default:
		err = fmt.Errorf("fsm: step %d of a change of numbers is not known", c.Step)
	}
	return Result{Version: now, Err: err}
}

// next returns the version that the change makes, or why it must not.
func (c *Numbers) next(s *State) (trunkgroup.Version, error) {
	v := s.numbers.version(s.cluster)
	if c.Expect != nil && *c.Expect != v.Revision {
		return v, &EditionError{Expected: *c.Expect, Have: v}
	}
	if c.Generation != 0 {
		if c.Generation < v.Generation {
			return v, fmt.Errorf("%w: %d < %d", ErrGeneration, c.Generation, v.Generation)
		}
		v.Generation = c.Generation
	}
	v.Revision++
	return v, nil
}

func (c *Numbers) change(s *State) Result {
	n := &s.numbers
	next, err := c.next(s)
	if err != nil {
		return Result{Version: n.version(s.cluster), Err: err}
	}
	set, removed := n.table.Tally(c.Rows)
	if set+removed == 0 && next.Generation == n.version(s.cluster).Generation {
		n.keys = remembered(n.keys, c.Key, n.version(s.cluster))
		return Result{Version: n.version(s.cluster)}
	}
	table, err := with(n.table, c.Rows)
	if err != nil {
		return Result{Version: n.version(s.cluster), Err: err}
	}
	for i := range n.branches {
		n.branches[i].follow(c.Rows)
	}
	return c.put(s, next, table, NumbersRecord{Set: uint64(set), Removed: uint64(removed)})
}

func (c *Numbers) commit(s *State) Result {
	n := &s.numbers
	now := n.version(s.cluster)
	b := n.find(c.Import)
	if b == nil {
		return Result{Version: now, Err: ErrNoImport}
	}
	next, err := c.next(s)
	if err == nil && b.Fault != "" {
		err = fmt.Errorf("fsm: the import cannot come into force: %s", b.Fault)
	}
	if err == nil {
		err = b.add(c.Rows)
	}
	if err != nil {
		return Result{Version: now, Err: err}
	}
	r := c.put(s, next, b.table, NumbersRecord{Import: b.Name, Set: b.Set, Removed: b.Gone})
	r.Numbers.Rows = nil // they are but the last ones
	n.branches = nil
	return r
}

// put makes a table the one in force.
func (c *Numbers) put(s *State, v trunkgroup.Version, t *trunkgroup.NumberTable, r NumbersRecord) Result {
	n := &s.numbers
	before := n.version(s.cluster)
	n.generation, n.edition, n.table = v.Generation, v.Revision, t
	n.keys = remembered(n.keys, c.Key, v)
	r.Version, r.Author, r.Reason, r.At, r.Len = v, c.Author, c.Reason, c.At, uint64(t.Len())
	n.history = append(n.history, r)
	if over := len(n.history) - MaxNumbersHistory; over > 0 {
		n.history = append([]NumbersRecord(nil), n.history[over:]...)
	}
	return Result{Version: v, Changed: true, Numbers: &NumbersDelta{Before: before, Rows: c.Rows, Record: r}}
}

func (c *Numbers) open(n *numbers) error {
	if n.find(c.Import) != nil {
		return nil
	}
	n.expire(c.At)
	if len(n.branches) >= MaxImports {
		busy := &BusyError{}
		for i := range n.branches {
			busy.Imports = append(busy.Imports, n.branches[i].NumbersImport)
		}
		return busy
	}
	n.branches = append(n.branches, branch{
		NumbersImport: NumbersImport{Name: c.Import, Author: c.Author, Reason: c.Reason, Opened: c.At, Last: c.At},
		table:         n.table,
	})
	return nil
}

func (c *Numbers) piece(n *numbers) error {
	b := n.find(c.Import)
	switch {
	case b == nil:
		return ErrNoImport
	case c.Piece < b.Pieces:
		return nil // it came again
	case c.Piece > b.Pieces:
		return errPiece
	}
	if err := b.add(c.Rows); err != nil {
		return err
	}
	b.Last = c.At
	b.Pieces++
	return nil
}

// add changes what the import will be, by all of the rows or none.
func (b *branch) add(rows []trunkgroup.NumberChange) error {
	set, removed := b.table.Tally(rows)
	table, err := with(b.table, rows)
	if err != nil {
		return err
	}
	b.table = table
	b.Set += uint64(set)
	b.Gone += uint64(removed)
	return nil
}

// follow takes a change of the table into a branch of it.
func (b *branch) follow(rows []trunkgroup.NumberChange) {
	if b.Fault != "" {
		return
	}
	table, err := with(b.table, rows)
	if err != nil {
		b.Fault = err.Error()
		return
	}
	b.table = table
}

// with returns the table with the changes.
func with(t *trunkgroup.NumberTable, rows []trunkgroup.NumberChange) (*trunkgroup.NumberTable, error) {
	next, err := t.With(rows)
	switch {
	case err != nil:
		return nil, fmt.Errorf("fsm: numbers: %w", err)
	case next.Len() > MaxNumbers:
		return nil, ErrTooManyNumbers
	}
	return next, nil
}
