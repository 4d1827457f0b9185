package cdrindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

// pruneStep is how many records are removed in one transaction: questions and new records
// get their turn in between.
const pruneStep = 2000

func upper(s string) string { return strings.ToUpper(s) }

// pruneBefore removes up to pruneStep records of calls that began before an instant. It
// returns how many there were.
func (s *store) pruneBefore(ctx context.Context, t time.Time) (int, error) {
	return s.prune(ctx, "SELECT id, json FROM record WHERE start < ? ORDER BY start LIMIT ?", millis(t), pruneStep)
}

// pruneOldest removes the oldest n records.
func (s *store) pruneOldest(ctx context.Context, n int64) (int, error) {
	return s.prune(ctx, "SELECT id, json FROM record ORDER BY start LIMIT ?", n)
}

func (s *store) prune(ctx context.Context, query string, args ...any) (n int, err error) {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, rollback(tx))
		}
	}()
	found, err := records(ctx, tx, query, args...)
	if err != nil || len(found) == 0 {
		return 0, errors.Join(err, rollback(tx))
	}
	b, err := newBatch(ctx, tx)
	if err != nil {
		return 0, err
	}
	for id, r := range found {
		if err := b.remove(ctx, id, r); err != nil {
			return 0, err
		}
	}
	return len(found), tx.Commit()
}

func records(ctx context.Context, tx *sql.Tx, query string, args ...any) (map[int64]*cdrquery.Row, error) {
	found := map[int64]*cdrquery.Row{}
	rows, err := tx.QueryContext(ctx, query, args...)
	err = each(rows, err, func() error {
		var id int64
		var text []byte
		if err := rows.Scan(&id, &text); err != nil {
			return err
		}
		r, err := cdrquery.Parse(text)
		if err != nil {
			return fmt.Errorf("%w: record %d: %w", errDamaged, id, err)
		}
		found[id] = r
		return nil
	})
	return found, err
}

// extent is what the database holds.
type extent struct {
	bytes  int64 // in use; what was freed is used again
	oldest time.Time
}

func (s *store) extent(ctx context.Context) (e extent, err error) {
	var pages, free, size, oldest int64
	for _, q := range []struct {
		text string
		into *int64
	}{
		{"PRAGMA page_count", &pages},
		{"PRAGMA freelist_count", &free},
		{"PRAGMA page_size", &size},
		{"SELECT COALESCE(MIN(start), 0) FROM record", &oldest},
	} {
		if err := s.write.QueryRowContext(ctx, q.text).Scan(q.into); err != nil {
			return e, err
		}
	}
	e.bytes = (pages - free) * size
	if oldest > 0 {
		e.oldest = time.UnixMilli(oldest)
	}
	return e, nil
}

// count counts the records. It reads a whole index, so it is asked for once, at the start.
func (s *store) count(ctx context.Context) (n int64, err error) {
	err = s.write.QueryRowContext(ctx, "SELECT COUNT(*) FROM record").Scan(&n)
	return n, err
}
