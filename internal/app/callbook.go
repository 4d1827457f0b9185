package app

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
	"github.com/tandem-sbc/tandem/monitor/closing"
)

// callBook keeps the answered calls of this node known to the others, and closes the
// records of calls whose node is gone (DEC-24). It is off the path of calls.
type callBook struct {
	app     *App
	log     *slog.Logger
	soft    *cluster.Soft
	records *cdrlog.Log
	queue   *callQueue
	closer  *closing.Closer

	// closings holds, by call key, calls of this node that survivors have closed: the
	// node was cut off from them. It is nearly always empty.
	closings sync.Map
	closed   atomic.Uint64 // records that this node has closed for others
	unknown  atomic.Uint64 // answered calls that found no room, so that nobody else knows them

	// The loop's own.
	over   []overCalls
	wrote  []wroteRecord
	taken  map[processCall]bool // calls whose record is on its way to the disk
	dead   map[process]time.Time
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// overCalls are calls that ended. Their entries stay until the records are on disk:
// if this node died before, another one would write them.
type overCalls struct {
	mark uint64
	ids  []string
}

// process is a process of a node.
type process struct {
	node string
	boot uint64
}

// processCall is an entry of a call.
type processCall struct {
	process
	id string
}

const (
	// bookTick is how often the disk is asked while something waits for it.
	bookTick = 50 * time.Millisecond
	// closeTick is how often the calls of dead nodes are looked at, or a quarter of the
	// time after which they are closed when that is shorter.
	closeTick = time.Second
)

func newCallBook(a *App, s *cluster.Soft, records *cdrlog.Log, queue *callQueue) *callBook {
	b := &callBook{
		app: a, log: a.log.With("component", "calls"), soft: s, records: records, queue: queue,
		closer: closing.New(closing.Config{Node: a.cfg.Name, Site: a.cfg.Site, After: a.cfg.CDR.CloseAfter}),
		taken:  map[processCall]bool{}, dead: map[process]time.Time{},
	}
	s.OnChange(b.changed)
	return b
}

func (b *callBook) start() {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	b.soft.Start()
	b.done.Go(func() { b.run(ctx) })
}

// stop takes the calls back that are over by now. The records are on disk before.
func (b *callBook) stop(context.Context) error {
	if b.cancel == nil {
		return nil
	}
	b.cancel()
	b.done.Wait()
	b.take()
	b.settle()
	return nil
}

func (b *callBook) run(ctx context.Context) {
	every := min(closeTick, b.app.cfg.CDR.CloseAfter/4)
	closeAt := time.Now().Add(every)
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.queue.wake:
		case <-timer.C:
		}
		b.take()
		b.settle()
		now := time.Now()
		if !now.Before(closeAt) {
			b.close(now)
			closeAt = now.Add(every)
		}
		wait := closeAt.Sub(now)
		if len(b.over)+len(b.wrote) > 0 {
			wait = min(wait, bookTick)
		}
		timer.Reset(wait)
	}
}

// take puts what shards told into the soft state.
func (b *callBook) take() {
	for _, changes := range b.queue.take() {
		var ended []string
		b.soft.Do(func(now time.Time, store *soft.Store) {
			for _, c := range changes {
				if c.Record == nil {
					ended = append(ended, c.ID)
					continue
				}
				value := closing.AppendEntry(make([]byte, 0, len(c.Record)+16), 0, now.Sub(c.Answered), c.Record)
				if err := store.Put(now, soft.KindCall, c.ID, value, 0); err != nil {
					b.unknown.Add(1)
				}
			}
		})
		if len(ended) > 0 {
			b.over = append(b.over, overCalls{b.records.Mark(), ended})
		}
	}
}

// settle takes back the calls whose records are on disk by now, and tells that those
// of dead nodes are.
func (b *callBook) settle() {
	n := 0
	for n < len(b.over) && b.records.Past(b.over[n].mark) {
		n++
	}
	m := 0
	for m < len(b.wrote) && b.records.Past(b.wrote[m].mark) {
		m++
	}
	if n+m == 0 {
		return
	}
	b.soft.Do(func(now time.Time, store *soft.Store) {
		for _, o := range b.over[:n] {
			for _, id := range o.ids {
				store.Delete(now, soft.KindCall, id)
			}
		}
		for _, w := range b.wrote[:m] {
			b.tell(now, store, w)
		}
	})
	for _, o := range b.over[:n] {
		for _, id := range o.ids {
			b.closings.Delete(id)
		}
	}
	b.over, b.wrote = append([]overCalls(nil), b.over[n:]...), append([]wroteRecord(nil), b.wrote[m:]...)
}

// changed takes news of the soft state. When survivors closed a call that is up here,
// its entry says so from now on, and its record will be above theirs.
func (b *callBook) changed(changes []soft.Change) {
	for _, c := range changes {
		if c.Kind == soft.KindClosing && c.Reason == soft.Put {
			b.cameBack(c.Key, closing.ParseCount(c.Value))
		}
	}
}

func (b *callBook) cameBack(key string, closings int) {
	id, kind, ok := closing.ParseKey(key)
	if !ok {
		return
	}
	b.soft.Do(func(now time.Time, store *soft.Store) {
		e, ok := store.Get(soft.KindCall, id)
		if !ok || e.Owner != b.app.cfg.Name || e.Boot != b.app.node.Boot() {
			return
		}
		before, answered, record, err := closing.ParseEntry(e.Value)
		if err != nil || before >= closings {
			return
		}
		r, err := cdr.ParseBinary(record)
		if err != nil || r.Kind != kind {
			return
		}
		b.closings.Store(id, closings)
		value := closing.AppendEntry(nil, closings, answered+now.Sub(e.Since), record)
		if err := store.Put(now, soft.KindCall, id, value, 0); err != nil {
			b.unknown.Add(1)
		}
	})
}

// version gives the record of an answered call a version above those that survivors
// wrote for it. It is on the path of calls: one look-up in a map that is nearly always
// empty.
func (b *callBook) version(r *cdr.Record) {
	if n, ok := b.closings.Load(r.CallID); ok && !r.Answer.IsZero() {
		r.Version = cdr.OwnerVersion(n.(int))
	}
}

// softState makes the soft state of a node.
func softState(a *App) *cluster.Soft {
	return cluster.NewSoft(a.node, cluster.SoftConfig{
		MaxEntries: a.cfg.SoftState.Entries, MaxBytes: int(a.cfg.SoftState.Size), Logger: a.log.With("component", "soft"),
	})
}

// stopSoft takes back the calls that Stop has ended, and ends the exchange.
func (a *App) stopSoft(ctx context.Context) error {
	var err error
	if a.watch != nil && a.watch.book != nil {
		err = a.watch.book.stop(ctx)
	}
	a.soft.Stop()
	return err
}
