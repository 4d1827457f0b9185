package webhook

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// line is the queue of one webhook and what became of its events.
type line struct {
	key
	sender *Sender
	queue  chan *policy.Event
	ended  chan struct{} // no event comes any more
	once   sync.Once
	// inForce: the newest table has it.
	inForce atomic.Bool

	delivered, failed, dropped atomic.Uint64
	fault                      atomic.Pointer[fault]
}

// fault is why events are not delivered, and since when.
type fault struct {
	why   string
	since time.Time
}

// put queues an event, or counts that it could not.
func (l *line) put(e *policy.Event) {
	select {
	case l.queue <- e:
	default:
		l.dropped.Add(1)
		if f := l.fault.Load(); f == nil {
			l.fault.CompareAndSwap(nil, &fault{"its queue is full", time.Now()})
		}
	}
}

// end lets the workers end once the queue is empty.
func (l *line) end() { l.once.Do(func() { close(l.ended) }) }

// work sends one event after the other.
func (l *line) work() {
	for {
		select {
		case e := <-l.queue:
			l.handle(e)
			continue
		default:
		}
		select {
		case e := <-l.queue:
			l.handle(e)
		case <-l.ended:
			select {
			case e := <-l.queue:
				l.handle(e)
			default:
				return
			}
		case <-l.sender.ctx.Done():
			return
		}
	}
}

// handle sends an event until it is taken, refused for good, or tried often enough.
func (l *line) handle(e *policy.Event) {
	s := l.sender
	body, err := json.Marshal(e)
	if err != nil {
		l.lose(e, err)
		return
	}
	pause := firstPause
	for try := 1; ; try++ {
		err = l.post(e.ID, body)
		if err == nil {
			l.delivered.Add(1)
			if f := l.fault.Swap(nil); f != nil {
				s.cfg.Logger.Info("events of a webhook are delivered again", "plan", l.plan, "host", l.host(), "after", time.Since(f.since))
			}
			return
		}
		var final *finalError
		if errors.As(err, &final) || try >= s.cfg.Tries || !l.rest(pause) {
			l.lose(e, err)
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// rest waits before the next try. It reports false when the node ends.
func (l *line) rest(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.sender.ctx.Done():
		return false
	}
}

// lose gives an event up. Only the first of a row is logged.
func (l *line) lose(e *policy.Event, err error) {
	l.failed.Add(1)
	if l.fault.CompareAndSwap(nil, &fault{err.Error(), time.Now()}) {
		l.sender.cfg.Logger.Warn("an event of a webhook was given up",
			slog.String("plan", l.plan), slog.String("host", l.host()), slog.String("event", string(e.Kind)), slog.String("id", e.ID), slog.Any("error", err))
	}
}

// host is that of the webhook, as far as variables let it be read.
func (l *line) host() string {
	text, err := trunkgroup.ExpandEnv(l.url, l.sender.cfg.lookup)
	if err != nil {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

func (l *line) stats() Stats {
	st := Stats{
		Plan: l.plan, Host: l.host(), Queued: len(l.queue),
		Delivered: l.delivered.Load(), Failed: l.failed.Load(), Dropped: l.dropped.Load(),
	}
	if f := l.fault.Load(); f != nil {
		st.Fault, st.Since = f.why, f.since
	}
	return st
}

// lookup reads a variable; without anybody to ask there is none.
func (c *Config) lookup(name string) (string, bool) {
	if c.Lookup == nil {
		return "", false
	}
	return c.Lookup(name)
}
