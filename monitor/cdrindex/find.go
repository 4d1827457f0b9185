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

// Cursor is a place in the order in which an index answers: the latest calls first. The
// zero value is the beginning.
type Cursor struct {
	Start int64 `json:"start,omitempty"` // milliseconds since 1970
	ID    int64 `json:"id,omitempty"`
}

// Page is a part of an answer.
type Page struct {
	// Rows are records, as they were written.
	Rows [][]byte
	// Next is where the answer goes on; zero when this was all of it.
	Next Cursor
}

// Bounds says how large a page may be: in rows, and in octets of all but its first row.
type Bounds struct{ Rows, Bytes int }

// Search answers a question, which has been checked, from a place on. Errors: ErrNotReady,
// the context's, and those of the disk.
func (i *Index) Search(ctx context.Context, q *cdrquery.Query, from Cursor, most Bounds) (Page, error) {
	text, args := statement(q, from, most.Rows)
	var page Page
	err := i.reading(ctx, func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, text, args...)
		last, size := Cursor{}, 0
		err = each(rows, err, func() error {
			var at Cursor
			var row []byte
			if err := rows.Scan(&at.Start, &at.ID, &row); err != nil {
				return err
			}
			switch {
			case at == last: // both parties have the number that was asked for
				return nil
			case len(page.Rows) == most.Rows || len(page.Rows) > 0 && size+len(row) > most.Bytes:
				page.Next = last
				return errEnough
			}
			page.Rows, last, size = append(page.Rows, row), at, size+len(row)
			return nil
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	return page, err
}

// ByID returns all records of calls, in the order of ids. It stops before a call whose
// records find no room in the bounds: done is how many ids have been answered for.
func (i *Index) ByID(ctx context.Context, ids []string, most Bounds) (rows [][]byte, done int, err error) {
	err = i.reading(ctx, func(db *sql.DB) error {
		size := 0
		for ; done < len(ids) && (len(rows) < most.Rows || len(rows) == 0); done++ {
			list, n, err := texts(ctx, db, ids[done])
			if err != nil {
				return err
			}
			if len(rows) > 0 && size+n > most.Bytes {
				return nil
			}
			rows, size = append(rows, list...), size+n
		}
		return nil
	})
	return rows, done, err
}

// texts returns the records of a call, and their size.
func texts(ctx context.Context, db *sql.DB, id string) (list [][]byte, size int, err error) {
	rows, err := db.QueryContext(ctx, "SELECT json FROM record WHERE call_id = ?", id)
	err = each(rows, err, func() error {
		var row []byte
		if err := rows.Scan(&row); err != nil {
			return err
		}
		list, size = append(list, row), size+len(row)
		return nil
	})
	return list, size, err
}

// errEnough ends the reading of an answer.
var errEnough = errors.New("enough")

// each calls fn on every row of an answer, and closes it. An error of the question, or of
// fn, ends it.
func each(rows *sql.Rows, err error, fn func() error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := fn(); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// reading runs fn on the database as long as there is one.
func (i *Index) reading(ctx context.Context, fn func(*sql.DB) error) error {
	i.mu.RLock()
	defer i.mu.RUnlock()
	if i.store == nil {
		return ErrNotReady
	}
	err := fn(i.store.read)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // SQLite says that it was interrupted
		return context.Cause(ctx)
	}
	if err = classify(err); errors.Is(err, errDamaged) {
		i.damaged.Store(true) // the loop makes it anew
	}
	return fmt.Errorf("cdrindex: %w", err)
}

// statement is the SQL of a question. It goes through what names the fewest records, in
// the order of their time, and looks the rest up for each of these.
func statement(q *cdrquery.Query, from Cursor, rows int) (string, []any) {
	var w where
	driver := w.drive(q)
	w.time(driver, q, from)
	w.parties(q)
	w.columns(q)
	text := "SELECT r.start, r.id, r.json FROM " + w.from
	if len(w.conditions) > 0 {
		text += " WHERE " + strings.Join(w.conditions, " AND ")
	}
	// One row more says whether the answer goes on; a number of both parties may come twice.
	return text + " ORDER BY " + driver + ".start DESC, " + driver + ".id DESC LIMIT ?", append(w.args, 2*rows+1)
}

// where collects the conditions of a statement.
type where struct {
	from       string
	conditions []string
	args       []any
	driven     string // the word of the question that the driver has answered
}

func (w *where) add(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.args = append(w.args, args...)
}

// drive chooses the table that is gone through, and returns its short name.
func (w *where) drive(q *cdrquery.Query) string {
	exact := func(number string) bool { return number != "" && !cdrquery.ParsePattern(number).Prefix }
	w.from = "record r"
	party := func(word, number string, roles ...any) string {
		w.from, w.driven = "party p CROSS JOIN record r ON r.id = p.id", word
		w.add("p.number = ?", cdrquery.ParsePattern(number).Digits)
		if len(roles) > 0 {
			w.add("p.role = ?", roles...)
		}
		return "p"
	}
	switch {
	case q.CallID != "":
		w.add("r.id IN (SELECT id FROM record WHERE call_id = ? UNION SELECT id FROM leg WHERE sip = ?)", q.CallID, q.CallID)
	case exact(q.Caller):
		return party("caller", q.Caller, roleCaller)
	case exact(q.Called):
		return party("called", q.Called, roleCalled)
	case exact(q.Number):
		return party("number", q.Number)
	case q.Carrier != "":
		w.from, w.driven = "carrier c CROSS JOIN record r ON r.id = c.id", "carrier"
		w.add("c.name = ?", q.Carrier)
		return "c"
	}
	return "r"
}

// time bounds the start of the call.
func (w *where) time(driver string, q *cdrquery.Query, from Cursor) {
	if !q.From.IsZero() {
		w.add(driver+".start >= ?", ceiling(q.From))
	}
	if !q.To.IsZero() {
		w.add(driver+".start < ?", ceiling(q.To))
	}
	if from != (Cursor{}) {
		w.add("("+driver+".start, "+driver+".id) < (?, ?)", from.Start, from.ID)
	}
}

// ceiling is the first millisecond that does not lie before an instant.
func ceiling(t time.Time) int64 {
	ms := t.UnixMilli()
	if time.UnixMilli(ms).Before(t) {
		ms++
	}
	return ms
}

// parties asks for numbers and carriers that the driver has not answered.
func (w *where) parties(q *cdrquery.Query) {
	for _, n := range []struct {
		word, number string
		roles        string
	}{
		{"caller", q.Caller, " AND role = 1"}, {"called", q.Called, " AND role = 2"}, {"number", q.Number, ""},
	} {
		p := cdrquery.ParsePattern(n.number)
		switch {
		case n.number == "" || n.word == w.driven:
		case p.Prefix:
			// All numbers that begin so are sorted before the prefix with the highest octet behind it.
			w.add("r.id IN (SELECT id FROM party WHERE number >= ? AND number < ?"+n.roles+")", p.Digits, p.Digits+"\U0010ffff")
		default:
			w.add("EXISTS (SELECT 1 FROM party WHERE number = ? AND start = r.start AND id = r.id"+n.roles+")", p.Digits)
		}
	}
	if q.Carrier != "" && w.driven != "carrier" {
		w.add("EXISTS (SELECT 1 FROM carrier WHERE name = ? AND start = r.start AND id = r.id)", q.Carrier)
	}
}

// columns asks for what stands in the record's own columns.
func (w *where) columns(q *cdrquery.Query) {
	if q.Customer != "" {
		w.add("r.customer = ?", q.Customer)
	}
	if q.Site != "" {
		w.add("(r.site = ? OR r.egress_site = ?)", q.Site, q.Site)
	}
	if q.Answered != nil {
		w.add("r.answered = ?", *q.Answered)
	}
	if from, to, err := q.Codes(); err == nil && from > 0 {
		w.add("r.code BETWEEN ? AND ?", from, to)
	}
	if q.Cause == "" {
		return
	}
	if n, is := q.Q850(); is {
		w.add("r.q850 = ?", n)
	} else {
		w.add("r.cause = ?", q.CauseWord())
	}
}
