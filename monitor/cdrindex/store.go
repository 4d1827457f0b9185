package cdrindex

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

// position is how far a file has been read.
type position struct {
	print string // of the file, see fingerprint
	name  string
	done  int64
}

// positions returns how far each file has been read.
func (s *store) positions(ctx context.Context) (map[string]int64, error) {
	done := map[string]int64{}
	rows, err := s.write.QueryContext(ctx, "SELECT print, done FROM file")
	err = each(rows, err, func() error {
		var print string
		var n int64
		if err := rows.Scan(&print, &n); err != nil {
			return err
		}
		done[print] = n
		return nil
	})
	return done, err
}

// forget drops the positions of files that are gone.
func (s *store) forget(ctx context.Context, prints []string) error {
	for _, p := range prints {
		if _, err := s.write.ExecContext(ctx, "DELETE FROM file WHERE print = ?", p); err != nil {
			return err
		}
	}
	return nil
}

// add takes records and how far their file has been read by then, in one step. It returns
// how many more records there are.
func (s *store) add(ctx context.Context, list []*cdrquery.Row, p position) (more int, err error) {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, rollback(tx))
		}
	}()
	b, err := newBatch(ctx, tx)
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		if err := b.add(ctx, r); err != nil {
			return 0, err
		}
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO file VALUES (?, ?, ?) ON CONFLICT (print) DO UPDATE SET name = excluded.name, done = excluded.done",
		p.print, p.name, p.done); err != nil {
		return 0, err
	}
	return b.more, tx.Commit()
}

// rollback undoes a transaction; one that a full disk ended is undone already.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

// Statements of a batch.
const (
	sqlFind = iota
	sqlInsert
	sqlParty
	sqlCarrier
	sqlLeg
	sqlRemove
	sqlRemoveParty
	sqlRemoveCarrier
	sqlRemoveLeg
	statements
)

func sqlTexts() [statements]string {
	return [statements]string{
		sqlFind: "SELECT id, json FROM record WHERE call_id = ? AND kind = ?",
		sqlInsert: "INSERT INTO record (call_id, kind, start, answered, customer, site, egress_site, code, cause, q850, json) " +
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		sqlParty:         "INSERT OR IGNORE INTO party VALUES (?, ?, ?, ?)",
		sqlCarrier:       "INSERT OR IGNORE INTO carrier VALUES (?, ?, ?)",
		sqlLeg:           "INSERT OR IGNORE INTO leg VALUES (?, ?)",
		sqlRemove:        "DELETE FROM record WHERE id = ?",
		sqlRemoveParty:   "DELETE FROM party WHERE number = ? AND start = ? AND id = ? AND role = ?",
		sqlRemoveCarrier: "DELETE FROM carrier WHERE name = ? AND start = ? AND id = ?",
		sqlRemoveLeg:     "DELETE FROM leg WHERE sip = ? AND id = ?",
	}
}

// batch adds and removes records inside one transaction. The statements end with it.
type batch struct {
	prepared [statements]*sql.Stmt
	more     int // records that were added, less those that were removed
}

func newBatch(ctx context.Context, tx *sql.Tx) (*batch, error) {
	b := &batch{}
	for i, text := range sqlTexts() {
		var err error
		if b.prepared[i], err = tx.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// add takes a record unless one is there that counts in its place (DEC-24). The record of
// a call's end takes the place of those that said that it is up.
func (b *batch) add(ctx context.Context, r *cdrquery.Row) error {
	id, old, err := b.find(ctx, r.CallID, r.Kind)
	if err != nil || old != nil && !r.Supersedes(old) {
		return err
	}
	if old != nil {
		if err := b.remove(ctx, id, old); err != nil {
			return err
		}
	}
	switch r.Kind {
	case cdr.KindInterim:
		if _, ended, err := b.find(ctx, r.CallID, cdr.KindCall); err != nil || ended != nil {
			return err
		}
	case cdr.KindCall:
		id, up, err := b.find(ctx, r.CallID, cdr.KindInterim)
		if err != nil {
			return err
		}
		if up != nil {
			if err := b.remove(ctx, id, up); err != nil {
				return err
			}
		}
	}
	return b.insert(ctx, r)
}

// find returns a record that is there, or nil.
func (b *batch) find(ctx context.Context, callID string, kind cdr.Kind) (int64, *cdrquery.Row, error) {
	var id int64
	var text []byte
	switch err := b.prepared[sqlFind].QueryRowContext(ctx, callID, string(kind)).Scan(&id, &text); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil, nil
	case err != nil:
		return 0, nil, err
	}
	r, err := cdrquery.Parse(text)
	if err != nil {
		return 0, nil, errors.Join(errDamaged, err)
	}
	return id, r, nil
}

func (b *batch) insert(ctx context.Context, r *cdrquery.Row) error {
	start := millis(r.Start)
	result, err := b.prepared[sqlInsert].ExecContext(ctx, r.CallID, string(r.Kind), start, r.Answered(), r.Customer,
		r.Site, r.EgressSite, r.Code, upper(r.Cause), r.Q850, r.Raw)
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return err
	}
	b.more++
	return b.words(ctx, id, r, sqlParty, sqlCarrier, sqlLeg)
}

func (b *batch) remove(ctx context.Context, id int64, r *cdrquery.Row) error {
	if _, err := b.prepared[sqlRemove].ExecContext(ctx, id); err != nil {
		return err
	}
	b.more--
	return b.words(ctx, id, r, sqlRemoveParty, sqlRemoveCarrier, sqlRemoveLeg)
}

// words runs statements for each word by which a record is found.
func (b *batch) words(ctx context.Context, id int64, r *cdrquery.Row, party, carrier, leg int) error {
	start := millis(r.Start)
	for role, numbers := range map[int][]string{roleCaller: r.Callers(), roleCalled: r.CalledNumbers()} {
		for _, n := range numbers {
			if _, err := b.prepared[party].ExecContext(ctx, n, start, id, role); err != nil {
				return err
			}
		}
	}
	for _, name := range r.Carriers() {
		if _, err := b.prepared[carrier].ExecContext(ctx, name, start, id); err != nil {
			return err
		}
	}
	for _, sip := range r.Legs() {
		if _, err := b.prepared[leg].ExecContext(ctx, sip, id); err != nil {
			return err
		}
	}
	return nil
}

// millis is how times stand in the database.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
