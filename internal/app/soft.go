package app

import (
	"github.com/tandem-sbc/tandem/internal/pushlist"
	"github.com/tandem-sbc/tandem/sbc"
)

// callQueue takes what shards tell of answered calls.
type callQueue struct {
	pushlist.List[[]sbc.CallChange]
	wake chan struct{} // one token: there is something to take
}

func newCallQueue() *callQueue { return &callQueue{wake: make(chan struct{}, 1)} }

// push takes one shard's list and never blocks.
func (q *callQueue) push(changes []sbc.CallChange) {
	q.Push(changes)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns what was pushed, oldest first.
func (q *callQueue) take() [][]sbc.CallChange { return q.Take(nil) }
