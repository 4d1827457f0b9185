package cdrindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// schemaVersion is the form of the database. A database of another form is made anew.
const schemaVersion = 1

// schema has the records and, beside them, by which words they are found in the order of
// their time. What is found by a column of record alone is found by going through the
// records of a time.
const schema = `
CREATE TABLE record (
	id INTEGER PRIMARY KEY,
	call_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	start INTEGER NOT NULL,
	answered INTEGER NOT NULL,
	customer TEXT NOT NULL,
	site TEXT NOT NULL,
	egress_site TEXT NOT NULL,
	code INTEGER NOT NULL,
	cause TEXT NOT NULL,
	q850 INTEGER NOT NULL,
	json BLOB NOT NULL,
	UNIQUE (call_id, kind)
);
CREATE INDEX record_start ON record (start, id);
CREATE INDEX record_customer ON record (customer, start, id);
CREATE TABLE party (number TEXT, start INTEGER, id INTEGER, role INTEGER, PRIMARY KEY (number, start, id, role)) WITHOUT ROWID;
CREATE TABLE carrier (name TEXT, start INTEGER, id INTEGER, PRIMARY KEY (name, start, id)) WITHOUT ROWID;
CREATE TABLE leg (sip TEXT, id INTEGER, PRIMARY KEY (sip, id)) WITHOUT ROWID;
CREATE TABLE file (print TEXT PRIMARY KEY, name TEXT NOT NULL, done INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO state VALUES ('clean', 1);
`

// Roles of a number in a call.
const (
	roleCaller = 1
	roleCalled = 2
)

// store is the open database.
type store struct {
	write *sql.DB // one connection
	read  *sql.DB // a few, that cannot write
}

// readers is how many questions are answered at one time.
const readers = 4

// openStore opens the database and makes it when it is not there. Errors are errDamaged,
// wrapped, when only making it anew helps.
func openStore(ctx context.Context, path string) (_ *store, err error) {
	if err := prepare(path); err != nil {
		return nil, err
	}
	s := &store{}
	defer func() {
		if err != nil {
			err = errors.Join(classify(err), s.close())
		}
	}()
	// A commit is in the log at once and on disk at the next checkpoint: what a power loss
	// takes back is read again, with the position.
	if s.write, err = sql.Open("sqlite", dsn(path, "_txlock=immediate", pragma("journal_mode", "WAL"), pragma("synchronous", "NORMAL"),
		pragma("busy_timeout", "5000"), pragma("cache_size", "-8000"), pragma("journal_size_limit", "67108864"))); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = sql.Open("sqlite", dsn(path, pragma("query_only", "1"), pragma("busy_timeout", "2000"), pragma("cache_size", "-4000"))); err != nil {
		return nil, err
	}
	s.read.SetMaxOpenConns(readers)
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// prepare makes the directory and an empty file that only this user and group may read:
// SQLite gives its other files the same mode.
func prepare(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return err
	}
	return f.Close()
}

func dsn(path string, options ...string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join(options, "&")
}

func pragma(name, value string) string { return "_pragma=" + name + "(" + value + ")" }

// begin makes the schema, or checks the one that is there; a database that was not
// closed is looked through.
func (s *store) begin(ctx context.Context) error {
	var version int
	if err := s.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch version {
	case schemaVersion:
	case 0:
		return s.create(ctx)
	default:
		return fmt.Errorf("%w: it has form %d, and this program writes %d", errDamaged, version, schemaVersion)
	}
	var clean int
	if err := s.write.QueryRowContext(ctx, "SELECT value FROM state WHERE name = 'clean'").Scan(&clean); err != nil {
		return err
	}
	if clean == 0 {
		var result string
		if err := s.write.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
			return err
		}
		if result != "ok" {
			return fmt.Errorf("%w: %s", errDamaged, result)
		}
	}
	return s.mark(ctx, 0)
}

func (s *store) create(ctx context.Context) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d; UPDATE state SET value = 0;", schemaVersion))
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// mark says whether the database was closed well.
func (s *store) mark(ctx context.Context, clean int) error {
	_, err := s.write.ExecContext(ctx, "UPDATE state SET value = ? WHERE name = 'clean'", clean)
	return err
}

// close closes the database. It may be half open.
func (s *store) close() error {
	var faults []error
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			faults = append(faults, db.Close())
		}
	}
	return errors.Join(faults...)
}

// Primary result codes of SQLite that say that the file is not what it should be, and the
// extended one of a file that ends too early.
const (
	codeError     = 1 // a table or column is missing: all statements are constant
	codeCorrupt   = 11
	codeNotADB    = 26
	codeShortRead = 522
)

// classify marks errors that only making the database anew can cure.
func classify(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w: it lacks a row that is always there", errDamaged)
		}
		return err
	}
	switch code := e.Code(); {
	case code&0xff == codeCorrupt, code&0xff == codeNotADB, code == codeError, code == codeShortRead:
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}

// discard removes the database, so that it can be made anew.
func discard(path string) error {
	var faults []error
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
