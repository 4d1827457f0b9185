package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// maxLogs bounds the log records that wait to be written.
	maxLogs = 4096
	// logPatience is how long Stop waits for what waits to be written.
	logPatience = 2 * time.Second
)

// logs is a log handler that never blocks who logs: whoever reads the log, a
// terminal that was stopped or a journal that hangs, must not stop calls,
// probes or the cluster. What finds the queue full is dropped and counted.
type logs struct {
	slog.Handler
	queue *logQueue
}

type logQueue struct {
	waiting chan logEntry
	dropped atomic.Uint64
	stop    chan struct{}
	done    chan struct{}
}

type logEntry struct {
	handler slog.Handler
	record  slog.Record
}

// newLogs puts a queue before a handler.
func newLogs(h slog.Handler) *logs {
	q := &logQueue{waiting: make(chan logEntry, maxLogs), stop: make(chan struct{}), done: make(chan struct{})}
	go q.write(h)
	return &logs{Handler: h, queue: q}
}

// Handle implements slog.Handler.
func (l *logs) Handle(_ context.Context, r slog.Record) error {
	select {
	case l.queue.waiting <- logEntry{l.Handler, r.Clone()}:
	default:
		l.queue.dropped.Add(1)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (l *logs) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logs{Handler: l.Handler.WithAttrs(attrs), queue: l.queue}
}

// WithGroup implements slog.Handler.
func (l *logs) WithGroup(name string) slog.Handler {
	return &logs{Handler: l.Handler.WithGroup(name), queue: l.queue}
}

// close writes what waits; a log that is not read is not waited for.
func (l *logs) close() {
	close(l.queue.stop)
	patience := time.NewTimer(logPatience)
	defer patience.Stop()
	select {
	case <-l.queue.done:
	case <-patience.C:
	}
}

func (q *logQueue) write(root slog.Handler) {
	defer close(q.done)
	for {
		select {
		case e := <-q.waiting:
			q.hand(root, e)
			continue
		default:
		}
		select {
		case e := <-q.waiting:
			q.hand(root, e)
		case <-q.stop:
			if len(q.waiting) == 0 {
				return
			}
		}
	}
}

func (q *logQueue) hand(root slog.Handler, e logEntry) {
	ctx := context.Background()
	_ = e.handler.Handle(ctx, e.record) // a log that cannot be written cannot be logged
	if n := q.dropped.Swap(0); n > 0 {
		r := slog.NewRecord(time.Now(), slog.LevelWarn, "log records were dropped: nobody read the log fast enough", 0)
		r.AddAttrs(slog.Uint64("dropped", n))
		_ = root.Handle(ctx, r)
	}
}
