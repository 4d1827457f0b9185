package audit

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Config says where entries are kept. The zero value of a field but Path means its default.
type Config struct {
	Path    string // of the newest file; older ones are Path.1, Path.2 and so on
	Node    string
	MaxSize int64 // of a file in bytes; default 16 MiB
	Keep    int   // older files; default 7
	// OnFailing is told when entries cannot be written, and with nil when they are again. Optional.
	OnFailing func(error)
	Logger    *slog.Logger
}

const (
	queueSize = 1024
	// retryEvery is the pause after a failed write.
	retryEvery = time.Second
)

// Log is the audit trail of a node. Its methods may be called from any goroutine.
type Log struct {
	cfg   Config
	queue chan Entry
	lost  atomic.Uint64
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once

	mu    sync.Mutex // the files
	files files

	failing bool // of the writer alone
}

// Open begins with the file that is there.
func Open(cfg Config) (*Log, error) {
	if cfg.MaxSize <= 0 {
		cfg.MaxSize = 16 << 20
	}
	if cfg.Keep <= 0 {
		cfg.Keep = 7
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.OnFailing == nil {
		cfg.OnFailing = func(error) {}
	}
	l := &Log{cfg: cfg, queue: make(chan Entry, queueSize), stop: make(chan struct{}), done: make(chan struct{}), files: files{path: cfg.Path, max: cfg.MaxSize, keep: cfg.Keep}}
	if err := l.files.open(); err != nil {
		return nil, err
	}
	go l.run()
	return l, nil
}

// Add writes an entry down soon, with the time unless that is there. A nil Log keeps nothing.
func (l *Log) Add(e Entry) {
	if l == nil {
		return
	}
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	e.Node = l.cfg.Node
	e.bound()
	select {
	case l.queue <- e:
	default:
		l.lost.Add(1)
	}
}

// Lost counts the entries that found no room.
func (l *Log) Lost() uint64 { return l.lost.Load() }

// Stop writes what is left, as far as ctx allows, and closes the file.
func (l *Log) Stop(ctx context.Context) error {
	l.once.Do(func() { close(l.stop) })
	select {
	case <-l.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files.close()
}

// run writes entries, many at once when many are there.
func (l *Log) run() {
	defer close(l.done)
	told := uint64(0)
	for {
		var batch []Entry
		select {
		case e := <-l.queue:
			batch = l.more(append(batch, e))
		case <-l.stop:
			if batch = l.more(nil); len(batch) == 0 {
				return
			}
		}
		if lost := l.lost.Load(); lost > told {
			batch[0].Lost, told = lost-told, lost
		}
		if !l.write(batch) {
			return
		}
	}
}

// more adds what else waits.
func (l *Log) more(batch []Entry) []Entry {
	for len(batch) < queueSize {
		select {
		case e := <-l.queue:
			batch = append(batch, e)
		default:
			return batch
		}
	}
	return batch
}

// write repeats until the batch is on disk; it is false when the node stops and it is not.
func (l *Log) write(batch []Entry) bool {
	var text []byte
	for i := range batch {
		line, err := json.Marshal(&batch[i])
		if err != nil {
			l.cfg.Logger.Error("an audit entry cannot be written", "verb", batch[i].Verb, "error", err)
			continue
		}
		text = append(append(text, line...), '\n')
	}
	for {
		l.mu.Lock()
		err := l.files.append(text)
		l.mu.Unlock()
		l.tell(err)
		if err == nil {
			return true
		}
		select {
		case <-time.After(retryEvery):
		case <-l.stop:
			l.cfg.Logger.Error("audit entries are lost", "entries", len(batch), "error", err)
			return false
		}
	}
}

// tell reports the first failure and the end of failures.
func (l *Log) tell(err error) {
	if failing := err != nil; failing != l.failing {
		l.failing = failing
		if failing {
			l.cfg.Logger.Error("the audit trail cannot be written", "file", l.cfg.Path, "error", err)
		}
		l.cfg.OnFailing(err)
	}
}

// List returns the newest entries that a query wants, oldest first. Lines that a crash has torn are left out.
func (l *Log) List(q Query) ([]Entry, error) {
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	l.mu.Lock()
	readers, err := l.files.readers()
	l.mu.Unlock()
	var list []Entry
	for _, r := range readers {
		var more []Entry
		more, readErr := scan(r, &q)
		err = errors.Join(err, readErr, r.Close())
		list = append(list, more...)
		list = list[max(0, len(list)-q.Limit):]
	}
	return list, err
}
