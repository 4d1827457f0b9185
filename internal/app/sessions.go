package app

import (
	"context"
	"encoding/binary"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sessions"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// sessionsTick is how long a change of a far end's calls waits for others to
// leave with it.
const sessionsTick = 200 * time.Millisecond

// callSessions moves the counts of calls at far ends, and to which of them
// calls of an affinity value go, between the shards and the soft state. It
// is off the path of calls: they meet the table and the memory alone.
type callSessions struct {
	*sessions.Table
	*sessions.Memory

	app    *App
	log    *slog.Logger
	soft   *cluster.Soft
	untold map[string]int // own counts that are to be told, and found no room before
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newCallSessions(a *App) *callSessions {
	c := &callSessions{
		Table: sessions.NewTable(), Memory: sessions.NewMemory(),
		app: a, log: a.log.With("component", "sessions"), soft: a.soft, untold: make(map[string]int),
	}
	a.soft.OnChange(c.changed)
	return c
}

// Enter implements b2bua.Sessions. Calls that nobody goes by are counted for the metrics alone.
func (c *callSessions) Enter(m *trunkgroup.Member, b *trunkgroup.Binding) b2bua.Seat {
	if s := c.Table.Enter(m, b); s != nil {
		return s
	}
	seat := c.app.watch.meter.handles.Load().Member(m)
	seat.Enter()
	return seat
}

func (c *callSessions) start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.done.Go(func() { c.tell(ctx) })
	c.done.Go(func() { c.share(ctx) })
}

func (c *callSessions) stop(context.Context) error {
	if c.cancel != nil {
		c.cancel()
		c.done.Wait()
	}
	return nil
}

// tell puts this node's counts into the soft state as they change: one entry for
// each far end that has calls of this node.
func (c *callSessions) tell(ctx context.Context) {
	tick := time.NewTicker(sessionsTick)
	defer tick.Stop()
	for {
		c.put()
		select {
		case <-ctx.Done():
			c.put()
			return
		case <-tick.C:
		}
	}
}

func (c *callSessions) put() {
	c.Changed(func(farEnd string, own int) { c.untold[farEnd] = own })
	if len(c.untold) == 0 {
		return
	}
	full := 0
	c.soft.Do(func(now time.Time, store *soft.Store) {
		for farEnd, own := range c.untold {
			if own == 0 {
				store.Delete(now, soft.KindSessions, farEnd)
			} else if err := store.Put(now, soft.KindSessions, farEnd, binary.AppendUvarint(nil, uint64(own)), 0); err != nil {
				full++
				continue
			}
			delete(c.untold, farEnd)
		}
	})
	if full > 0 {
		c.log.Debug("the other nodes do not know of calls at far ends: the soft state is full", "far_ends", full)
	}
}

// changed takes news of other nodes, and of what time or the bounds have taken.
func (c *callSessions) changed(changes []soft.Change) {
	affine := false
	for i := range changes {
		switch e := &changes[i]; e.Kind {
		case soft.KindSessions:
			c.heard(e)
		case soft.KindAffinity:
			affine = true
		}
	}
	if affine {
		c.recall(changes)
	}
}

// heard takes what another process counts. When the process is gone its calls
// are too.
func (c *callSessions) heard(e *soft.Change) {
	n := uint64(0)
	if e.Reason == soft.Put {
		var size int
		if n, size = binary.Uvarint(e.Value); size <= 0 || n > 1<<30 {
			c.log.Debug("a count of another node is of no use", "peer", e.Owner)
			return
		}
	}
	c.Heard(e.Owner+"/"+strconv.FormatUint(e.Boot, 10), e.Key, int(n))
}
