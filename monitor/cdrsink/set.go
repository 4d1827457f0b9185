package cdrsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Set is the sinks of a node.
type Set struct {
	cfg   SetConfig
	sinks []*sink
	stop  chan struct{}
	ctx   context.Context //nolint:containedctx // ends what is in flight when Stop gives up
	abort context.CancelFunc
	once  sync.Once
	done  sync.WaitGroup
}

// Open reads the places of all sinks, and writes down that of a new one at once: it begins
// with the next record. Nothing is passed on before Start.
func Open(cfg SetConfig) (*Set, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("cdrsink: %w", err)
	}
	s := &Set{cfg: cfg, stop: make(chan struct{})}
	s.ctx, s.abort = context.WithCancel(context.Background())
	for i := range cfg.Sinks {
		one, err := s.open(&cfg.Sinks[i])
		if err != nil {
			s.abort()
			return nil, fmt.Errorf("cdrsink: %s: %w", cfg.Sinks[i].Name, err)
		}
		s.sinks = append(s.sinks, one)
	}
	return s, nil
}

func (s *Set) open(cfg *Config) (*sink, error) {
	one := &sink{
		cfg: cfg, log: s.cfg.Logger.With("sink", cfg.Name), spool: s.cfg.Log, wake: make(chan struct{}, 1),
		file: filepath.Join(s.cfg.Dir, cfg.Name+".json"), limit: cfg.Batch,
	}
	p, ok, err := readPlace(one.file)
	switch {
	case errors.Is(err, errPlace):
		// Once more is better than never.
		one.log.Error("the place of a sink is lost: it begins with the oldest record there is", "error", err)
	case err != nil:
		return nil, err
	case !ok && !cfg.Oldest:
		p.At = s.cfg.Log.End()
	}
	one.place = p
	if err := writePlace(one.file, p); err != nil {
		return nil, err
	}
	switch cfg.Type {
	case HTTP:
		one.target, one.where = newHTTPTarget(cfg, s.cfg.Node), shownURL(cfg.URL)
	case Syslog:
		one.target, one.where = newSyslogTarget(cfg, s.cfg.Node), cfg.Transport+" "+cfg.Address
	case File:
		one.target, one.where = newFileTarget(cfg), cfg.Path
	default:
		return nil, fmt.Errorf("%q is not a type", cfg.Type)
	}
	one.tail = s.cfg.Log.Tail(p.At)
	one.status = Status{Name: cfg.Name, Type: cfg.Type, Target: one.where, Next: one.tail.Position().Next}
	s.cfg.Log.Notify(one.wake)
	return one, nil
}

// Start begins to pass records on.
func (s *Set) Start() {
	for _, one := range s.sinks {
		s.done.Go(func() { one.run(s.ctx, s.stop) })
	}
	if s.cfg.Keep > 0 {
		s.done.Go(s.prune)
	}
}

// Stop passes on what is on disk, as long as nothing fails, for at most two seconds or
// until ctx ends. What is left is passed on after the next start.
func (s *Set) Stop(ctx context.Context) error {
	s.once.Do(func() { close(s.stop) })
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	defer context.AfterFunc(ctx, s.abort)()
	s.done.Wait()
	return nil
}

// Status tells how each sink does, in the order of the configuration.
func (s *Set) Status() []Status {
	list := make([]Status, 0, len(s.sinks))
	for _, one := range s.sinks {
		list = append(list, one.snapshot())
	}
	return list
}

// Passed is the number below which all sinks have all records.
func (s *Set) Passed() uint64 {
	next := s.cfg.Log.Through() + 1
	for _, one := range s.sinks {
		next = min(next, one.snapshot().Next)
	}
	return next
}

// prune removes files of the spool that all sinks have when their time is over.
func (s *Set) prune() {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		if _, err := s.cfg.Log.Prune(time.Now().Add(-s.cfg.Keep), s.Passed()); err != nil {
			s.cfg.Logger.Error("a file of call records cannot be removed", "error", err)
		}
	}
}
