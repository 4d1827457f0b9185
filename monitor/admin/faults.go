package admin

import (
	"context"
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

// faultLog is the handler of what net/http says of connections. It passes on as much of it as a log can bear.
type faultLog struct {
	slog.Handler
	now func() time.Time

	mu     sync.Mutex
	since  time.Time
	logged int
	hushed int
}

// Handle implements slog.Handler.
func (f *faultLog) Handle(ctx context.Context, r slog.Record) error {
	f.mu.Lock()
	now, hushed := f.now(), 0
	if now.Sub(f.since) >= faultSpan {
		hushed, f.since, f.logged, f.hushed = f.hushed, now, 0, 0
	}
	f.logged++
	tell := f.logged <= maxFaults
	if !tell {
		f.hushed++
	}
	f.mu.Unlock()
	if !tell {
		return nil
	}
	if hushed > 0 {
		r.AddAttrs(slog.Int("hushed", hushed))
	}
	return f.Handler.Handle(ctx, r)
}
