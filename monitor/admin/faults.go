package admin

import (
	"bytes"
	"log/slog"
	"sync"
	"time"
)

const (
	// maxFaults is how many faults of connections are logged within faultSpan: strangers make them at will, by a TLS
	// handshake that fails.
	maxFaults = 5
	faultSpan = time.Minute
)

// faultLog takes what net/http says of connections, and passes on as much of it as a log can bear.
type faultLog struct {
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	since  time.Time
	logged int
	hushed int
}

// Write implements io.Writer for a log.Logger, which calls it once a line.
func (f *faultLog) Write(line []byte) (int, error) {
	f.mu.Lock()
	now := f.now()
	hushed := 0
	if now.Sub(f.since) >= faultSpan {
		hushed, f.since, f.logged, f.hushed = f.hushed, now, 0, 0
	}
	f.logged++
	tell := f.logged <= maxFaults
	if !tell {
		f.hushed++
	}
	f.mu.Unlock()
	if tell {
		f.log.Warn("a connection to the admin API failed", "error", string(bytes.TrimSpace(line)), "hushed", hushed)
	}
	return len(line), nil
}
