package app

import (
	"sync/atomic"

	"github.com/tandem-sbc/tandem/sbc"
)

// callQueue takes what shards tell of answered calls: a list that many push to and
// one takes from, without a lock.
type callQueue struct {
	head atomic.Pointer[callBatch]
	wake chan struct{} // one token: there is something to take
}

type callBatch struct {
	changes []sbc.CallChange
	next    *callBatch
}

func newCallQueue() *callQueue { return &callQueue{wake: make(chan struct{}, 1)} }

// push takes one shard's list and never blocks.
func (q *callQueue) push(changes []sbc.CallChange) {
	b := &callBatch{changes: changes}
	for {
		b.next = q.head.Load()
		if q.head.CompareAndSwap(b.next, b) {
			break
		}
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns what was pushed, oldest first.
func (q *callQueue) take() (list [][]sbc.CallChange) {
	var oldest *callBatch
	for b := q.head.Swap(nil); b != nil; {
		b.next, oldest, b = oldest, b, b.next
	}
	for ; oldest != nil; oldest = oldest.next {
		list = append(list, oldest.changes)
	}
	return list
}
