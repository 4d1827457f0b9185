package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
)

// importTurn is how long the leader lets single changes wait for an import that came too late
// because of one: whoever changes numbers without a pause would otherwise keep it out for ever.
const importTurn = 500 * time.Millisecond

// turn is the leader's. Nothing depends on it but who is first.
type turn struct{ until atomic.Int64 } // Unix nanoseconds; 0: nobody waits

// wait lets an import go first.
func (t *turn) wait(ctx context.Context, c fsm.Command) {
	if n, ok := c.(*fsm.Numbers); !ok || n.Step != fsm.NumbersChange || t.until.Load() == 0 {
		return
	}
	tick := time.NewTicker(logPause)
	defer tick.Stop()
	for time.Now().UnixNano() < t.until.Load() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// note takes what came of a command.
func (t *turn) note(c fsm.Command, err error) {
	n, ok := c.(*fsm.Numbers)
	if !ok || n.Step != fsm.NumbersCommit && n.Step != fsm.NumbersAbandon {
		return
	}
	if _, late := errors.AsType[*fsm.EditionError](err); late {
		t.until.Store(time.Now().Add(importTurn).UnixNano())
		return
	}
	t.until.Store(0)
}
