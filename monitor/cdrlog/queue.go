package cdrlog

import "sync/atomic"

// Record is what the log needs of a call detail record. The log owns a record from Write on: nobody may change it any more.
type Record interface {
	// AppendJSON appends the record as one JSON object without line breaks.
	AppendJSON(dst []byte) ([]byte, error)
}

// queue is a list that many goroutines push to and one takes from, without a lock.
type queue struct {
	head atomic.Pointer[entry]
	size atomic.Int64
}

type entry struct {
	record Record
	next   *entry
}

func (q *queue) push(r Record) {
	e := &entry{record: r}
	for {
		e.next = q.head.Load()
		if q.head.CompareAndSwap(e.next, e) {
			return
		}
	}
}

// take appends everything that was pushed to dst, oldest first.
func (q *queue) take(dst []Record) []Record {
	var oldest *entry
	for e := q.head.Swap(nil); e != nil; {
		e.next, oldest, e = oldest, e, e.next
	}
	for ; oldest != nil; oldest = oldest.next {
		dst = append(dst, oldest.record)
	}
	return dst
}
