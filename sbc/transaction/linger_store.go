package transaction

import (
	"math"
	"time"
)

// never is an offset that no clock reaches.
const never time.Duration = math.MaxInt64

// keepCap is how many slots an empty table keeps. Above it the memory of a busy hour is given back.
const keepCap = 1024

// dueSlot is an element of the heap: the instant sits beside the index, so that sifting stays in one
// array.
type dueSlot struct {
	due  time.Duration
	slot int32
}

func (s *slot[D]) due() time.Duration { return min(s.repeat, s.end) }

// offset turns an instant into one relative to the first instant seen.
func (l *Linger[D]) offset(now time.Time) time.Duration {
	if l.base.IsZero() {
		l.base = now
	}
	return now.Sub(l.base)
}

// add stores a new entry. A full table drops its oldest entry: it is the one whose far end has most
// likely heard what it was to hear.
func (l *Linger[D]) add(s slot[D]) {
	if i, ok := l.byKey[s.key]; ok {
		l.remove(i)
	}
	limit := l.limit
	if limit <= 0 {
		limit = DefaultLinger
	}
	if len(l.heap) >= limit {
		l.dropped++
		l.remove(l.oldest - 1)
	}
	if l.byKey == nil {
		l.byKey = make(map[uint64]int32)
	}
	i := l.take()
	s.prev, s.next = l.newest, 0
	s.heapAt = int32(len(l.heap))
	l.slots[i] = s
	if l.newest != 0 {
		l.slots[l.newest-1].next = i + 1
	} else {
		l.oldest = i + 1
	}
	l.newest = i + 1
	l.byKey[s.key] = i
	l.heap = append(l.heap, dueSlot{due: s.due(), slot: i})
	l.up(len(l.heap) - 1)
}

// take returns the index of an unused slot.
func (l *Linger[D]) take() int32 {
	if l.free != 0 {
		i := l.free - 1
		l.free = l.slots[i].next
		return i
	}
	l.slots = append(l.slots, slot[D]{})
	return int32(len(l.slots) - 1)
}

// remove forgets an entry and lets go of what it references.
func (l *Linger[D]) remove(i int32) {
	s := &l.slots[i]
	delete(l.byKey, s.key)
	l.unlink(s)
	at, last := int(s.heapAt), len(l.heap)-1
	l.swap(at, last)
	l.heap = l.heap[:last]
	if at < last {
		l.fix(at)
	}
	*s = slot[D]{next: l.free}
	l.free = i + 1
	if last == 0 && cap(l.slots) > keepCap {
		l.slots, l.byKey, l.heap, l.free = nil, nil, nil, 0
	}
}

// unlink takes an entry out of the order of arrival.
func (l *Linger[D]) unlink(s *slot[D]) {
	if s.prev != 0 {
		l.slots[s.prev-1].next = s.next
	} else {
		l.oldest = s.next
	}
	if s.next != 0 {
		l.slots[s.next-1].prev = s.prev
	} else {
		l.newest = s.prev
	}
}

// settle moves an entry to where its changed instant belongs.
func (l *Linger[D]) settle(i int32) {
	s := &l.slots[i]
	l.heap[s.heapAt].due = s.due()
	l.fix(int(s.heapAt))
}

func (l *Linger[D]) fix(at int) {
	if !l.down(at) {
		l.up(at)
	}
}

func (l *Linger[D]) up(at int) {
	for at > 0 {
		parent := (at - 1) / 2
		if l.heap[parent].due <= l.heap[at].due {
			return
		}
		l.swap(parent, at)
		at = parent
	}
}

func (l *Linger[D]) down(at int) (moved bool) {
	for {
		child := 2*at + 1
		if child >= len(l.heap) {
			return moved
		}
		if right := child + 1; right < len(l.heap) && l.heap[right].due < l.heap[child].due {
			child = right
		}
		if l.heap[at].due <= l.heap[child].due {
			return moved
		}
		l.swap(at, child)
		at, moved = child, true
	}
}

func (l *Linger[D]) swap(i, j int) {
	l.heap[i], l.heap[j] = l.heap[j], l.heap[i]
	l.slots[l.heap[i].slot].heapAt = int32(i)
	l.slots[l.heap[j].slot].heapAt = int32(j)
}
