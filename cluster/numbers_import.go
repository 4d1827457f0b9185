package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// NumbersImport is what many numbers are to be.
type NumbersImport struct {
	// Rows are to be in the table, whatever else is there.
	Rows *trunkgroup.NumberTable
	// Remove are not to be in the table.
	Remove []trunkgroup.Pattern
	// Replace is a group that is to have no other patterns in the table than those of Rows;
	// empty: none.
	Replace string
	Author  string
	Reason  string
	Key     string // makes the import idempotent, as that of Change
	DryRun  bool   // only check and count

	exactly    bool   // the table is to be Rows: for restore and recovery
	generation uint64 // of the new edition; 0: the current one
}

// NumbersReport says what an import found and did.
type NumbersReport struct {
	Version trunkgroup.Version // in force after it; Revision is the edition
	Set     int                // patterns that were added or moved
	Removed int
	Same    int // rows that were so already
	Pieces  int // commands that carried them
	Changed bool
}

// importTries bounds how often an import begins anew because somebody else's came first.
const importTries = 5

// ImportNumbers makes the table what an import wants, in one step that all nodes take at the same
// place of the log, and waits until this node runs it. Only what differs is sent. Changes that
// others make meanwhile are kept but for the patterns that the import names. On an error nothing
// has changed, but for ErrNoLeader, after which it may have: repeat it. Errors are those of
// ChangeNumbers.
func (n *Node) ImportNumbers(ctx context.Context, i NumbersImport) (NumbersReport, error) {
	if i.Key == "" {
		i.Key = rand.Text()
	}
	w := &wish{rows: i.Rows, replace: i.Replace, exactly: i.exactly, remove: make(map[trunkgroup.Pattern]bool, len(i.Remove))}
	for _, p := range i.Remove {
		w.remove[p] = true
	}
	if t := n.Table(); t != nil && !i.exactly {
		if faults := t.NumberConflicts(i.Rows); len(faults) > 0 {
			return NumbersReport{}, faults
		}
	}
	var report NumbersReport
	var err error
	for range importTries {
		if report, err = n.tryImport(ctx, &i, w); err == nil || !overtaken(err) {
			break
		}
		n.log.Info("an import of numbers begins anew", "reason", err)
	}
	if err == nil && !i.DryRun {
		n.awaitNumbers(ctx, report.Version)
	}
	return report, err
}

// overtaken reports that somebody else's change is why an import did not come into force.
func overtaken(err error) bool {
	refused, ok := errors.AsType[*RefusedError](err)
	_, edition := errors.AsType[*fsm.EditionError](err)
	return edition || ok && refused.Message == fsm.ErrNoImport.Error()
}

func (n *Node) tryImport(ctx context.Context, i *NumbersImport, w *wish) (NumbersReport, error) {
	base, version := n.machine.numberTable()
	r := NumbersReport{Version: version}
	// All is applied here first: what cannot be is found before anything is sent, and a dry run
	// says what would be.
	after := base
	var first []trunkgroup.NumberChange
	for rows := range pieces(w.changes(base)) {
		next, err := after.With(rows)
		if err == nil && next.Len() > fsm.MaxNumbers {
			err = fsm.ErrTooManyNumbers
		}
		if err != nil {
			return r, &RefusedError{Message: err.Error()}
		}
		after, first = next, rows
		r.count(rows)
	}
	r.Same = i.Rows.Len() - r.Set
	r.Changed = r.Set+r.Removed > 0
	switch {
	case i.DryRun, !r.Changed && i.generation == 0:
		return r, nil
	case r.Pieces <= 1:
		v, err := n.commitNumbers(ctx, &fsm.Numbers{
			Step: fsm.NumbersChange, Cluster: n.cfg.Cluster, Generation: i.generation, Expect: &version.Revision,
			Author: i.Author, Reason: i.Reason, Key: i.Key, At: time.Now(), Rows: first,
		})
		return n.concluded(ctx, r, v, err)
	}
	return n.sendImport(ctx, i, w, r, base)
}

func (r *NumbersReport) count(rows []trunkgroup.NumberChange) {
	r.Pieces++
	for _, c := range rows {
		if c.Group == "" {
			r.Removed++
		} else {
			r.Set++
		}
	}
}

// concluded puts the version into a report. A change that came in between must reach this node
// before it looks again.
func (n *Node) concluded(ctx context.Context, r NumbersReport, v trunkgroup.Version, err error) (NumbersReport, error) {
	if e, ok := errors.AsType[*fsm.EditionError](err); ok {
		n.awaitLog(ctx, func() bool { return !e.Have.Newer(n.newestApplied()) })
	}
	if err == nil {
		r.Version = v
	}
	return r, err
}

// newestApplied is the version of the number table in the log as far as it has come here.
func (n *Node) newestApplied() trunkgroup.Version {
	_, v := n.machine.numberTable()
	return v
}

// sender brings the pieces of one import into the log.
type sender struct {
	n    *Node
	i    *NumbersImport
	name string
	next uint64 // piece
}

func (s *sender) step(ctx context.Context, step fsm.NumbersStep, adjust func(*fsm.Numbers)) (trunkgroup.Version, error) {
	c := &fsm.Numbers{
		Step: step, Cluster: s.n.cfg.Cluster, Import: s.name, Author: s.i.Author, Reason: s.i.Reason, At: time.Now(),
	}
	if adjust != nil {
		adjust(c)
	}
	return s.n.commitNumbers(ctx, c)
}

func (s *sender) piece(ctx context.Context, rows []trunkgroup.NumberChange) error {
	_, err := s.step(ctx, fsm.NumbersRows, func(c *fsm.Numbers) { c.Piece, c.Rows = s.next, rows })
	s.next++
	return err
}

// sendImport sends an import of several pieces. One that fails is abandoned.
func (n *Node) sendImport(ctx context.Context, i *NumbersImport, w *wish, r NumbersReport, base *trunkgroup.NumberTable) (NumbersReport, error) {
	s := &sender{n: n, i: i, name: n.cfg.Node + "/" + rand.Text()}
	v, err := s.send(ctx, w, base, r.Version)
	if err != nil && !n.isStopping() {
		n.wg.Go(func() { n.abandonImport(s.name, i.Author, err.Error()) })
	}
	return n.concluded(ctx, r, v, err)
}

func (s *sender) send(ctx context.Context, w *wish, base *trunkgroup.NumberTable, seen trunkgroup.Version) (trunkgroup.Version, error) {
	if _, err := s.step(ctx, fsm.NumbersOpen, nil); err != nil {
		return seen, err
	}
	for rows := range pieces(w.changes(base)) {
		if err := s.piece(ctx, rows); err != nil {
			return seen, err
		}
	}
	for {
		table, now, patterns, ok := s.n.machine.changedSince(seen)
		if !ok {
			return seen, &RefusedError{Message: fsm.ErrNoImport.Error()}
		}
		last, err := s.correct(ctx, w.correct(table, patterns))
		if err != nil {
			return seen, err
		}
		v, err := s.step(ctx, fsm.NumbersCommit, func(c *fsm.Numbers) {
			c.Expect, c.Generation, c.Key, c.Rows = &now.Revision, s.i.generation, s.i.Key, last
		})
		e, moved := errors.AsType[*fsm.EditionError](err)
		if !moved {
			return v, err
		}
		// Somebody changed a number meanwhile: look at what, and put what is wanted over it.
		if _, err := s.n.concluded(ctx, NumbersReport{}, v, e); ctx.Err() != nil {
			return seen, fmt.Errorf("cluster: import numbers: %w: %w", ErrNoLeader, err)
		}
		seen = now
	}
}

// correct sends all corrections but the last piece, which goes with the end of the import: one
// round trip less in which somebody can change another number.
func (s *sender) correct(ctx context.Context, rows []trunkgroup.NumberChange) (last []trunkgroup.NumberChange, err error) {
	for part := range pieces(slices.Values(rows)) {
		if last != nil {
			if err := s.piece(ctx, last); err != nil {
				return nil, err
			}
		}
		last = part
	}
	return last, nil
}

// isStopping reports that the node ends.
func (n *Node) isStopping() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stopping
}

// raiseNumbers puts the newest number table that is known into force again, above every version
// that may run elsewhere (DEC-14).
func (n *Node) raiseNumbers(ctx context.Context, author, reason string) error {
	table, v := n.machine.numberTable()
	running, of := n.publisher.numbersNow()
	if v.Revision == 0 && of.Revision == 0 {
		return nil
	}
	i := NumbersImport{Rows: table, Author: author, Reason: reason, exactly: true, generation: max(v.Generation, of.Generation) + 1}
	if of.Newer(v) {
		i.Rows = running // the log that knew it is lost
	}
	_, err := n.ImportNumbers(ctx, i)
	return err
}
