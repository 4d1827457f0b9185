package cdrindex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Index follows the files of records and answers questions. Its methods may be called
// from any goroutine.
type Index struct {
	cfg Config

	mu    sync.RWMutex // held for reading by questions, for writing while store is replaced
	store *store       // nil: not open

	damaged              atomic.Bool // a question found the database damaged
	unreadable, rebuilds atomic.Uint64
	rows, bytes, behind  atomic.Int64
	oldest, failing      atomic.Int64 // Unix milliseconds, 0 = none, works

	cancel context.CancelFunc
	done   sync.WaitGroup
	f      follower
}

// follower is the state of the loop.
type follower struct {
	buffer   []byte
	current  os.FileInfo // of the current file at the last listing
	list     []source
	places   map[string]int64 // by fingerprint
	tries    int              // failed in a row
	trouble  string           // what was told last
	pruneAt  time.Time
	listAt   time.Time
	tellRead int    // readings with unreadable lines that were logged
	steps    uint64 // that were kept
}

const (
	// pruneEvery is how often what is too old is removed, listEvery how often the directory
	// is read though the current file is the same: files may have been removed.
	pruneEvery = time.Minute
	listEvery  = time.Minute
	// fitEvery is after how many steps the size of the database is looked at.
	fitEvery = 20
	// firstRetry is the first pause after an error; it doubles.
	firstRetry = 200 * time.Millisecond
)

// New makes an index, which does nothing before Start. The database is opened by then, so
// that a node starts whatever became of it.
func New(cfg Config) (*Index, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	return &Index{cfg: cfg}, nil
}

// Start lets it follow the files.
func (i *Index) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	i.cancel = cancel
	i.done.Go(func() { i.run(ctx) })
}

// Stop ends it. It may be called without Start.
func (i *Index) Stop() {
	if i.cancel != nil {
		i.cancel()
		i.done.Wait()
	}
	i.shut(true)
}

// Stats returns the figures.
func (i *Index) Stats() Stats {
	s := Stats{
		Rows: i.rows.Load(), Bytes: i.bytes.Load(), Behind: i.behind.Load(),
		Unreadable: i.unreadable.Load(), Rebuilds: i.rebuilds.Load(),
	}
	if ms := i.oldest.Load(); ms > 0 {
		s.Oldest = time.UnixMilli(ms)
	}
	if ms := i.failing.Load(); ms > 0 {
		s.Failing, s.Since = true, time.UnixMilli(ms)
	}
	return s
}

func (i *Index) run(ctx context.Context) {
	i.f.buffer = make([]byte, chunk)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := i.round(ctx, time.Now())
		if ctx.Err() != nil {
			return
		}
		timer.Reset(i.judge(err))
	}
}

// judge tells what became of a round, and returns the pause before the next one.
func (i *Index) judge(err error) time.Duration {
	f := &i.f
	if err == nil {
		f.tries = 0
		i.tell(nil)
		return i.cfg.Poll
	}
	if errors.Is(err, errDamaged) {
		i.damaged.Store(false)
		i.rebuilds.Add(1)
		i.shut(false)
		i.cfg.Logger.Error("the index of call records is damaged and made anew", "path", i.cfg.Path, "error", err)
		err = errors.Join(fmt.Errorf("%w, and made anew from the files of records: until then not all calls are found", err), discard(i.cfg.Path))
	}
	i.tell(err)
	pause := min(firstRetry<<min(f.tries, 10), i.cfg.Retry)
	f.tries++
	return pause
}

// tell says what is wrong, once, and that nothing is any more.
func (i *Index) tell(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == i.f.trouble {
		return
	}
	i.f.trouble = text
	switch {
	case err == nil:
		i.failing.Store(0)
		i.cfg.Logger.Info("the index of call records is complete again", "path", i.cfg.Path)
	case i.failing.CompareAndSwap(0, time.Now().UnixMilli()):
		i.cfg.Logger.Error("the index of call records is not kept", "path", i.cfg.Path, "error", err)
	}
	i.cfg.OnTrouble(err)
}

// round reads all that is new.
func (i *Index) round(ctx context.Context, now time.Time) error {
	if i.damaged.Load() {
		return errDamaged
	}
	if err := i.open(ctx); err != nil {
		return err
	}
	if err := i.list(ctx, now); err != nil {
		return err
	}
	for n := range i.f.list {
		if err := i.follow(ctx, &i.f.list[n]); err != nil {
			if errors.Is(err, errMoved) || errors.Is(err, os.ErrNotExist) {
				i.f.listAt = time.Time{} // the next round looks again
				return nil
			}
			return classify(err)
		}
	}
	return classify(i.prune(ctx, now))
}

// open opens the database unless it is.
func (i *Index) open(ctx context.Context) error {
	if i.store != nil { // only this goroutine changes it
		return nil
	}
	s, err := openStore(ctx, i.cfg.Path)
	if err != nil {
		return err
	}
	places, err := s.positions(ctx)
	if err != nil {
		return errors.Join(classify(err), s.close())
	}
	rows, err := s.count(ctx)
	if err != nil {
		return errors.Join(classify(err), s.close())
	}
	i.rows.Store(rows)
	i.f.places, i.f.listAt, i.f.pruneAt = places, time.Time{}, time.Time{}
	i.mu.Lock()
	i.store = s
	i.mu.Unlock()
	return nil
}

// shut closes the database; well says that nothing is wrong with it.
func (i *Index) shut(well bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.store == nil {
		return
	}
	var err error
	if well {
		err = i.store.mark(context.Background(), 1)
	}
	if err = errors.Join(err, i.store.close()); err != nil {
		i.cfg.Logger.Warn("closing the index of call records", "path", i.cfg.Path, "error", err)
	}
	i.store = nil
}

// list looks for files when the current one is another than before.
func (i *Index) list(ctx context.Context, now time.Time) error {
	f := &i.f
	info, err := os.Stat(i.cfg.Records)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if now.Before(f.listAt) && info != nil && f.current != nil && os.SameFile(info, f.current) {
		f.list[len(f.list)-1].info = info
		return nil
	}
	list, err := sources(i.cfg.Records)
	if err != nil {
		return err
	}
	f.list, f.current = list, nil
	if n := len(list); n > 0 && list[n-1].path == i.cfg.Records {
		f.current = list[n-1].info
	}
	f.listAt = now.Add(listEvery)
	there := map[string]bool{}
	for n := range list {
		there[list[n].print] = true
	}
	var gone []string
	for print := range f.places {
		if !there[print] {
			gone = append(gone, print)
			delete(f.places, print)
		}
	}
	return classify(i.store.forget(ctx, gone))
}

// follow reads a file to its end.
func (i *Index) follow(ctx context.Context, s *source) error {
	f := &i.f
	for f.places[s.print] < s.info.Size() {
		i.measure()
		got, err := s.read(f.places[s.print], f.buffer)
		if err != nil {
			return err
		}
		if got.done == f.places[s.print] && !got.reset {
			return nil // part of a line
		}
		if got.unreadable > 0 {
			i.unreadable.Add(uint64(got.unreadable))
			if f.tellRead++; f.tellRead <= 10 {
				i.cfg.Logger.Warn("lines of a file of call records are no records and are skipped", "path", s.path, "before", got.done, "lines", got.unreadable)
			}
		}
		if err := i.keep(ctx, s, &got); err != nil {
			return err
		}
		if f.places[s.print] = got.done; got.reset {
			return nil // the next round begins at its start
		}
	}
	i.measure()
	// What was written and not synced can be cut off again.
	f.places[s.print] = min(f.places[s.print], s.info.Size())
	return nil
}

// keep puts what was read into the database, without what is too old for it.
func (i *Index) keep(ctx context.Context, s *source, got *step) error {
	oldest := time.Now().Add(-i.cfg.Keep)
	rows := got.rows[:0]
	for _, r := range got.rows {
		if !r.Start.Before(oldest) {
			rows = append(rows, r)
		}
	}
	more, err := i.store.add(ctx, rows, position{s.print, s.path, got.done})
	if err != nil {
		return err
	}
	i.rows.Add(int64(more))
	if i.f.steps++; i.f.steps%fitEvery != 0 {
		return nil
	}
	return i.fit(ctx)
}

// measure counts what is not read yet.
func (i *Index) measure() {
	var behind int64
	for n := range i.f.list {
		s := &i.f.list[n]
		behind += max(s.info.Size()-i.f.places[s.print], 0)
	}
	i.behind.Store(behind)
}

// prune removes what is too old, from time to time.
func (i *Index) prune(ctx context.Context, now time.Time) error {
	if now.Before(i.f.pruneAt) {
		return nil
	}
	for {
		n, err := i.store.pruneBefore(ctx, now.Add(-i.cfg.Keep))
		if err != nil {
			return err
		}
		i.rows.Add(int64(-n))
		if n < pruneStep {
			break
		}
	}
	i.f.pruneAt = now.Add(pruneEvery)
	return i.fit(ctx)
}

// fit removes the oldest records until the database is as small as it must be.
func (i *Index) fit(ctx context.Context) error {
	for {
		e, err := i.store.extent(ctx)
		if err != nil {
			return err
		}
		i.bytes.Store(e.bytes)
		i.oldest.Store(millis(e.oldest))
		if e.bytes <= i.cfg.Size {
			return nil
		}
		n, err := i.store.pruneOldest(ctx, min(i.rows.Load()/20+1, pruneStep))
		if err != nil || n == 0 {
			return err
		}
		i.rows.Add(int64(-n))
	}
}
