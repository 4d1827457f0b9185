package cdrsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/monitor/cdrlog"
)

// target is the other side of a sink.
type target interface {
	// send passes a batch on. No error means that the other side has all of it.
	send(ctx context.Context, b *batch) error
	// close lets go of files and connections.
	close()
}

// errTooMuch says that the other side takes less at once.
var errTooMuch = errors.New("the batch is too large")

// refusal is an error that comes with a time before which it is of no use to try again.
type refusal struct {
	err   error
	after time.Duration
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// sink is one sink. Its goroutine owns everything but what mu guards.
type sink struct {
	cfg    *Config
	log    *slog.Logger
	target target
	where  string // what the target is, for people
	spool  *cdrlog.Log
	wake   chan struct{}
	tail   *cdrlog.Tail
	file   string // of the place
	place  place
	batch  batch
	limit  int           // of a batch now
	tries  int           // failed in a row
	least  time.Duration // how long the other side wants to be left alone
	seen   uint64        // gaps of this tail that are counted

	mu     sync.Mutex
	status Status
}

// run passes records on until stop is closed, and then what is there, as long as ctx is
// good and nothing fails.
func (s *sink) run(ctx context.Context, stop <-chan struct{}) {
	defer s.target.close()
	defer func() { s.tail.Close() }() // rewind makes another one
	stopped := false
	for {
		more, err := s.fill(s.limit, s.place.Sending)
		switch {
		case err != nil:
			s.failed(fmt.Errorf("read the spool: %w", err))
			s.rewind()
		case !more:
			s.caughtUp()
			if stopped {
				return
			}
			select {
			case <-s.wake:
			case <-stop:
				stopped = true // what came before is read once more
			}
			continue
		case s.deliver(ctx):
			continue
		}
		if !s.pause(stop) {
			return
		}
	}
}

// deliver passes the batch on and moves the place behind it.
func (s *sink) deliver(ctx context.Context) bool {
	b := &s.batch
	if b.count > 0 {
		s.waiting()
		if s.cfg.Type == HTTP && s.place.Sending != b.last {
			s.place.Sending = b.last
			s.keep() // with no place on disk the batch after a crash may be another one
		}
		ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
		err := s.target.send(ctx, b)
		cancel()
		if err != nil {
			s.failed(err)
			if errors.Is(err, errTooMuch) && b.count > 1 {
				s.limit, s.place.Sending = max(b.count/2, 1), 0
			}
			s.rewind()
			return false
		}
	}
	s.place = place{At: b.after}
	s.keep()
	s.succeeded(b.count)
	return true
}

// rewind goes back to the place that is kept.
func (s *sink) rewind() {
	s.tail.Close()
	s.tail, s.seen = s.spool.Tail(s.place.At), 0
}

// keep writes the place down. Where that fails the sink goes on: after a restart what it
// has passed on since is passed on again.
func (s *sink) keep() {
	if err := writePlace(s.file, s.place); err != nil {
		s.mu.Lock()
		s.status.Errors++
		s.mu.Unlock()
		s.log.Error("the place of a sink cannot be written down: after a restart its records come again", "error", err)
	}
}

// failed notes an error.
func (s *sink) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Errors++
	if !s.status.Failing {
		s.status.Failing, s.status.Since = true, time.Now()
	}
	s.status.Reason = err.Error()
	if s.tries++; s.tries&(s.tries-1) == 0 { // 1, 2, 4, 8 ...
		s.log.Warn("call records cannot be passed on", "error", err, "tries", s.tries)
	}
	s.least = 0
	if r, ok := errors.AsType[*refusal](err); ok {
		s.least = r.after
	}
}

// succeeded notes records that the other side has.
func (s *sink) succeeded(records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.Failing {
		s.log.Info("call records are passed on again", "failed_for", time.Since(s.status.Since).String())
	}
	s.status.Failing, s.status.Since, s.status.Reason = false, time.Time{}, ""
	s.status.Sent += uint64(records)
	s.status.Next = s.place.At.Next
	s.status.Gaps += s.tail.Gaps() - s.seen
	s.status.Unusable += s.batch.unusable
	s.seen, s.tries, s.least = s.tail.Gaps(), 0, 0
	s.limit = min(s.limit*2, s.cfg.Batch)
}

// waiting notes since when the first record of the batch waits.
func (s *sink) waiting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.Oldest = s.batch.at[0]; s.status.Oldest.IsZero() {
		s.status.Oldest = time.Now()
	}
}

func (s *sink) caughtUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Oldest = time.Time{}
	if s.tries > 0 && s.status.Failing { // it was the spool that could not be read
		s.status.Failing, s.status.Since, s.status.Reason = false, time.Time{}, ""
		s.tries = 0
	}
}

// pause waits before the next try. It is false when the sink is stopped.
func (s *sink) pause(stop <-chan struct{}) bool {
	t := time.NewTimer(s.rest())
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
		return false
	}
}

// rest is how long to wait: twice as long after each failure, spread by a fifth, so that
// nodes whose receiver comes back do not all ask at once.
func (s *sink) rest() time.Duration {
	d := min(firstPause<<min(max(s.tries-1, 0), 10), lastPause)
	return max(d-d/5+rand.N(2*d/5), s.least)
}

// snapshot is the status now.
func (s *sink) snapshot() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status
	if through := s.spool.Through(); through+1 > st.Next {
		st.Backlog = through + 1 - st.Next
	} else {
		st.Oldest = time.Time{}
	}
	return st
}
