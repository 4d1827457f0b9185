package cdrlog

import (
	"errors"
	"log/slog"
	"time"
)

// Config says where and how to write. The zero value of each field means its default.
type Config struct {
	// Path is the current file. Its directory must exist.
	Path string
	// MaxSize is the size in bytes after which the file is put aside: calls.jsonl becomes calls-<UTC time>-<number>.jsonl. Default 100 MB.
	// Files put aside are removed by Prune alone.
	MaxSize int64
	// Backlog is how many accepted records may wait for the disk. Default 1,000,000 (some hundreds of MB).
	Backlog int
	// Interval is the longest time that an accepted record waits for its write and sync while the disk works. Default 200 ms.
	Interval time.Duration
	// NoSync leaves the moment of reaching the disk to the kernel. A power loss may then cost written records.
	NoSync bool
	// Retry is the first pause after an error; it doubles up to 128 times as much. Default 100 ms.
	Retry time.Duration
	// Logger gets errors and what recovery found. Default: nothing is logged.
	Logger *slog.Logger

	fs filesystem // tests break it
}

func (c *Config) setDefaults() error {
	if c.Path == "" {
		return errors.New("cdrlog: no path")
	}
	if c.MaxSize <= 0 {
		c.MaxSize = 100 << 20
	}
	if c.Backlog <= 0 {
		c.Backlog = 1_000_000
	}
	if c.Interval <= 0 {
		c.Interval = 200 * time.Millisecond
	}
	if c.Retry <= 0 {
		c.Retry = 100 * time.Millisecond
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.fs == nil {
		c.fs = osFS{}
	}
	return nil
}

// Stats are counters since the start.
type Stats struct {
	Written  uint64    // lines on disk
	Refused  uint64    // records not accepted because the backlog was full: lost
	Unusable uint64    // records that could not be encoded: lost, a fault of the program
	Errors   uint64    // failed tries to write, sync or rotate; the records of such a try are kept
	Backlog  int64     // accepted, not yet on disk
	Bytes    uint64    // written
	Failing  bool      // the last try failed
	Since    time.Time // since when it fails
	Reason   string    // why it fails
}
