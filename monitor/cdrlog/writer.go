package cdrlog

import (
	"errors"
	"strconv"
	"time"
)

// batchBytes is about how much is written and synced at once.
const batchBytes = 1 << 20

// reopenAfter is how many failed tries in a row make the writer open the file anew: the handle may be of a disk that is gone.
const reopenAfter = 3

// writer is the background goroutine's state.
type writer struct {
	log     *Log
	out     *out // nil when the file must be opened first
	tries   int  // failed in a row
	pending []Record
	lines   []byte
	noted   uint64 // refusals already logged
	next    uint64 // number of the first pending record
	skipped uint64 // refusals that were given numbers, which nothing has
}

// run writes until the log is stopped and everything is on disk.
func (w *writer) run() {
	l := w.log
	defer close(l.done)
	defer w.close()
	for {
		if len(w.pending) == 0 {
			select {
			case <-l.wake:
			case <-l.closing:
			}
		}
		begun := time.Now()
		if !w.drain() {
			l.left.Store(int64(len(l.queue.Take(w.pending))))
			return
		}
		if l.closed.Load() && l.queue.size.Load() == 0 {
			return
		}
		// Group commit: what comes during the pause shares one sync.
		w.stage(l.cfg.Interval - time.Since(begun))
	}
}

// drain writes everything that is queued, trying again for as long as it takes. It is false when Stop gave up.
func (w *writer) drain() bool {
	for {
		w.take()
		if len(w.pending) == 0 {
			return true
		}
		n, records := w.encode(0)
		if err := w.write(); err == nil {
			w.succeeded(n, records)
		} else if !w.pause(w.failed(err)) {
			return false
		}
	}
}

// take takes what was accepted. A record that was refused, and so is lost, has a number
// like any other: who reads the spool sees by the hole that something is missing.
func (w *writer) take() {
	if len(w.pending) == 0 {
		if n := w.log.refused.Load(); n > w.skipped {
			w.next += n - w.skipped
			w.skipped = n
		}
	}
	w.pending = w.log.queue.Take(w.pending)
}

// encode fills lines from pending, beginning at index from. n is the index behind the last record looked at, records of them are in lines.
func (w *writer) encode(from int) (n, records int) {
	w.lines = w.lines[:0]
	limit := min(batchBytes, int(w.log.cfg.MaxSize))
	for n = from; n < len(w.pending) && len(w.lines) < limit; {
		before := len(w.lines)
		lines, err := appendLine(w.lines, w.next+uint64(n), w.pending[n])
		n++
		if err != nil {
			w.lines = w.lines[:before]
			continue
		}
		w.lines = append(lines, '\n')
		records++
	}
	return n, records
}

// seqKey begins every line. The number behind it is the record's own in the spool of
// this node: one more than that of the record before it.
const seqKey = `{"seq":`

// appendLine appends a record with its number as its first member.
func appendLine(dst []byte, seq uint64, r Record) ([]byte, error) {
	dst = append(dst, seqKey...)
	dst = strconv.AppendUint(dst, seq, 10)
	brace := len(dst)
	dst, err := r.AppendJSON(dst)
	if err == nil {
		dst[brace] = ','
	}
	return dst, err
}

// write puts lines on disk, in a fresh file when the old one is full.
func (w *writer) write() error {
	cfg := &w.log.cfg
	if w.out != nil && w.out.size > 0 && w.out.size+int64(len(w.lines)) > cfg.MaxSize {
		if err := w.out.rotate(time.Now()); err != nil {
			return err
		}
		w.out = nil
	}
	if w.out == nil {
		o, err := openOut(cfg)
		if err != nil {
			return err
		}
		w.out = o
	}
	return w.out.append(w.lines)
}

// succeeded forgets n records that are on disk.
func (w *writer) succeeded(n, records int) {
	l := w.log
	l.written.Add(uint64(records))
	l.bytes.Add(uint64(len(w.lines)))
	if bad := n - records; bad > 0 {
		l.unusable.Add(uint64(bad))
		l.cfg.Logger.Error("call records could not be encoded", "records", bad)
	}
	clear(w.pending[:n])
	if w.pending = w.pending[n:]; len(w.pending) == 0 {
		w.pending = nil
	}
	w.tries = 0
	w.next += uint64(n)
	l.through.Store(w.next - 1)
	l.tell()
	l.queue.size.Add(-int64(n))
	if since := l.failingSince.Swap(0); since != 0 {
		l.cfg.Logger.Info("call records are written again", "path", l.cfg.Path, "failed_for", time.Since(time.UnixMilli(since)).String())
	}
	w.noteRefused()
}

// failed counts an error, says so, and returns the pause before the next try.
func (w *writer) failed(err error) time.Duration {
	l := w.log
	retry := l.cfg.Retry << min(w.tries, 7)
	if w.tries++; w.tries%reopenAfter == 0 {
		w.close()
		w.out = nil
	}
	l.errors.Add(1)
	reason := err.Error()
	l.why.Store(&reason)
	l.failingSince.CompareAndSwap(0, time.Now().UnixMilli())
	l.cfg.Logger.Error("call records cannot be written", "error", err, "backlog", l.queue.size.Load(), "retry_in", retry.String())
	w.noteRefused()
	if l.closed.Load() {
		return l.cfg.Retry // Stop has little time
	}
	return retry
}

// noteRefused logs records that were lost because the backlog was full.
func (w *writer) noteRefused() {
	if n := w.log.refused.Load(); n > w.noted && !w.log.closed.Load() {
		w.log.cfg.Logger.Error("call records lost: the backlog is full", "records", n-w.noted)
		w.noted = n
	}
}

// pause waits before another try; Stop cuts it short. It is false when Stop gave up.
func (w *writer) pause(d time.Duration) bool {
	closing := w.log.closing
	if w.log.closed.Load() {
		closing = nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-closing:
		return true
	case <-w.log.abort:
		return false
	}
}

// stagePause is how long a record may wait for its first write: what a process
// that is killed loses.
const stagePause = 5 * time.Millisecond

// stage waits for d unless the log is being stopped. What comes meanwhile is written at once, though not synced: a process that is killed
// loses nothing that the kernel has. The records stay pending; drain writes the same bytes again with the next sync, and a failure here is
// left to it.
func (w *writer) stage(d time.Duration) {
	l := w.log
	if d <= 0 {
		return
	}
	end := time.NewTimer(d)
	defer end.Stop()
	pause := time.NewTimer(0) // until the next write
	defer pause.Stop()
	staged, bytes := 0, int64(0)
	for {
		select {
		case <-pause.C:
		case <-end.C:
			return
		case <-l.closing:
			return
		}
		select {
		case <-l.wake:
			w.take()
			staged, _ = w.encode(staged)
			if w.out == nil {
				continue
			}
			if _, err := w.out.f.WriteAt(w.lines, w.out.size+bytes); err != nil {
				continue // pause stays stopped: drain reports what is wrong
			}
			bytes += int64(len(w.lines))
			pause.Reset(stagePause)
		case <-end.C:
			return
		case <-l.closing:
			return
		}
	}
}

func (w *writer) close() {
	if w.out == nil {
		return
	}
	if err := errors.Join(w.out.finish(), w.out.f.Close()); err != nil {
		w.log.cfg.Logger.Error("closing the call record file", "error", err)
	}
}
