package app

import (
	"context"
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sessions"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// affinityBatch bounds the assignments that are shared in one go.
const affinityBatch = 256

// share puts new assignments of affinity values into the soft state. What finds
// no room there is not remembered here either: this node must not send calls
// elsewhere than the others do.
func (c *callSessions) share(ctx context.Context) {
	batch := make([]sessions.Assignment, 0, affinityBatch)
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-c.Queue():
			batch = append(batch[:0], a)
		}
		for len(batch) < affinityBatch && len(c.Queue()) > 0 {
			batch = append(batch, <-c.Queue())
		}
		c.soft.Do(func(now time.Time, store *soft.Store) {
			for _, a := range batch {
				if err := store.Put(now, soft.KindAffinity, a.Key, []byte(a.FarEnd), a.TTL); err != nil {
					c.Forget(a.Key)
					continue
				}
				// News of another node may have come between: the store's word counts.
				c.look(store, a.Key)
			}
		})
	}
}

// recall brings the memory to what the soft state says of assignments.
func (c *callSessions) recall(changes []soft.Change) {
	c.soft.Do(func(_ time.Time, store *soft.Store) {
		for i := range changes {
			if changes[i].Kind == soft.KindAffinity {
				c.look(store, changes[i].Key)
			}
		}
	})
}

// sticks gives the draw of a call with an affinity value, as shards do.
func (a *App) sticks(g *trunkgroup.Group, value string) (affinity uint64, remembered string) {
	key, affinity := b2bua.Affinity(a.server.Seed(), g, []byte(value))
	return affinity, a.sessions.Remembered(time.Now(), key)
}

func (c *callSessions) look(store *soft.Store, key string) {
	if e, ok := store.Get(soft.KindAffinity, key); ok {
		c.Set(key, string(e.Value), e.Expires)
		return
	}
	c.Forget(key)
}
