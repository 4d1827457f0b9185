package pushlist

import "sync/atomic"

// List is such a list. Its zero value is empty.
type List[T any] struct{ head atomic.Pointer[entry[T]] }

type entry[T any] struct {
	value T
	next  *entry[T]
}

// Push adds a value. It may be called by any goroutine and never blocks.
func (l *List[T]) Push(v T) {
	e := &entry[T]{value: v}
	for {
		e.next = l.head.Load()
		if l.head.CompareAndSwap(e.next, e) {
			return
		}
	}
}

// Take appends everything that was pushed to dst, oldest first, and empties the list.
func (l *List[T]) Take(dst []T) []T {
	var oldest *entry[T]
	for e := l.head.Swap(nil); e != nil; {
		e.next, oldest, e = oldest, e, e.next
	}
	for ; oldest != nil; oldest = oldest.next {
		dst = append(dst, oldest.value)
	}
	return dst
}
