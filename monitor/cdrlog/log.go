package cdrlog

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Log is the sink. Write may be called from any goroutine.
type Log struct {
	cfg   Config
	queue queue
	wake  chan struct{} // capacity 1: there is something to write

	closed  atomic.Bool
	closing chan struct{} // closed by Stop: write the rest and end
	abort   chan struct{} // closed when Stop gives up
	done    chan struct{}
	stop    sync.Once
	giveUp  sync.Once

	accepted, written, refused, unusable, errors, bytes atomic.Uint64

	failingSince atomic.Int64 // Unix milliseconds, 0 = works
	left         atomic.Int64 // records that Stop gave up

	through atomic.Uint64          // the highest number that is on disk
	why     atomic.Pointer[string] // the last error

	mu       sync.Mutex
	watchers []chan<- struct{}
	heads    map[string]uint64 // the first number in each file that was put aside
}

// Open opens the file, repairs its end and starts the writer.
func Open(cfg Config) (*Log, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	o, err := openOut(&cfg)
	if err != nil {
		return nil, fmt.Errorf("cdrlog: %w", err)
	}
	l := &Log{
		cfg:     cfg,
		wake:    make(chan struct{}, 1),
		closing: make(chan struct{}),
		abort:   make(chan struct{}),
		done:    make(chan struct{}),
	}
	o.cfg = &l.cfg
	w := &writer{log: l, out: o}
	if err := w.resume(); err != nil {
		return nil, fmt.Errorf("cdrlog: %w", err)
	}
	go w.run()
	return l, nil
}

// Write hands a record over. It never blocks. It is false when the backlog is full or the log is stopped; such a record is counted and lost.
func (l *Log) Write(r Record) bool {
	// The count goes up before closed is read, so that Stop either is seen here or waits for this record.
	if l.queue.size.Add(1) > int64(l.cfg.Backlog) || l.closed.Load() {
		l.queue.size.Add(-1)
		l.refused.Add(1)
		return false
	}
	l.accepted.Add(1) // before the push: see Mark
	l.queue.Push(r)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return true
}

// Stats returns the counters.
func (l *Log) Stats() Stats {
	s := Stats{
		Written:  l.written.Load(),
		Refused:  l.refused.Load(),
		Unusable: l.unusable.Load(),
		Errors:   l.errors.Load(),
		Backlog:  l.queue.size.Load(),
		Bytes:    l.bytes.Load(),
	}
	if ms := l.failingSince.Load(); ms != 0 {
		s.Failing, s.Since = true, time.UnixMilli(ms)
		if why := l.why.Load(); why != nil {
			s.Reason = *why
		}
	}
	return s
}

// Stop accepts no more records, writes those that were accepted and closes the file. When ctx ends before the disk took them all, the rest
// is lost and the error says how many.
func (l *Log) Stop(ctx context.Context) error {
	l.stop.Do(func() {
		l.closed.Store(true)
		close(l.closing)
	})
	select {
	case <-l.done:
	case <-ctx.Done():
		l.giveUp.Do(func() { close(l.abort) })
		<-l.done
	}
	if left := l.left.Load(); left > 0 {
		return fmt.Errorf("cdrlog: %d records could not be written: %w", left, context.Cause(ctx))
	}
	return nil
}
