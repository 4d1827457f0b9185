package cdrindex

import (
	"errors"
	"log/slog"
	"time"
)

// Config says what is indexed, and within which bounds. The zero value of each field
// means its default.
type Config struct {
	// Path is the database. Its directory is made when it is not there.
	Path string
	// Records is the file that records are appended to; those that were put aside are
	// found beside it.
	Records string
	// Keep is for how long after its start a call can be found. Default 30 days.
	Keep time.Duration
	// Size is how many octets the database may have. Default 2 GiB.
	Size int64
	// Poll is how often the file is looked at. Default 500 ms.
	Poll time.Duration
	// Retry is the longest pause after an error. Default 30 s.
	Retry time.Duration
	// OnTrouble is told why the index is not what it should be, and nil when it is again. It
	// is called from the index's own goroutine and must not block.
	OnTrouble func(error)
	// Logger gets errors. Default: nothing is logged.
	Logger *slog.Logger
}

func (c *Config) setDefaults() error {
	if c.Path == "" || c.Records == "" {
		return errors.New("cdrindex: no path of the database or of the records")
	}
	if c.Keep <= 0 {
		c.Keep = 30 * 24 * time.Hour
	}
	if c.Size <= 0 {
		c.Size = 2 << 30
	}
	if c.Poll <= 0 {
		c.Poll = 500 * time.Millisecond
	}
	if c.Retry <= 0 {
		c.Retry = 30 * time.Second
	}
	if c.OnTrouble == nil {
		c.OnTrouble = func(error) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Stats are the figures of an index.
type Stats struct {
	Rows       int64     // records in it
	Bytes      int64     // of the database
	Behind     int64     // octets of the files that are not read yet
	Oldest     time.Time // start of the oldest call in it
	Unreadable uint64    // lines that are no records, since the start
	Rebuilds   uint64    // how often it was damaged and made anew, since the start
	Failing    bool
	Since      time.Time // since when it fails
}

var (
	// ErrNotReady: the index is being opened, checked or made anew. Later it answers.
	ErrNotReady = errors.New("the index of call records is not ready yet")
	// errDamaged marks what only making the database anew can cure.
	errDamaged = errors.New("the database is damaged")
)
