package app

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/monitor/calllog"
)

// maxLines bounds the calls that wait for their log line. The log is for
// people: under a flood lines are dropped and counted, records never.
const maxLines = 8192

// lines writes the one log line of each call, off the call path.
type lines struct {
	queue   chan *cdr.Record
	dropped atomic.Uint64
	done    sync.WaitGroup
}

func newLines(log *slog.Logger) *lines {
	l := &lines{queue: make(chan *cdr.Record, maxLines)}
	l.done.Go(func() {
		for r := range l.queue {
			calllog.Line(context.Background(), log, r)
		}
	})
	return l
}

// add never blocks.
func (l *lines) add(r *cdr.Record) {
	select {
	case l.queue <- r:
	default:
		l.dropped.Add(1)
	}
}

// stop writes what waits. Nothing may be added after it.
func (l *lines) stop() {
	close(l.queue)
	l.done.Wait()
}
