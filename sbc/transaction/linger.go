package transaction

import (
	"time"
)

// DefaultLinger is the number of entries that a Linger of limit 0 keeps.
const DefaultLinger = 1 << 18

// Linger keeps what must stay of finished transactions: bytes that may have to be sent again, where
// they go, and until when. It holds no machine and no parsed message. Entries are found by a key that
// the caller derives from the transaction (branch, method, side). The zero value is ready, with
// DefaultLinger as its limit. It is not safe for concurrent use: each shard has its own.
type Linger[D any] struct {
	limit   int
	dropped uint64
	base    time.Time
	slots   []slot[D]
	byKey   map[uint64]int32
	heap    []dueSlot
	free    int32 // first free slot + 1, chained by slot.next
	oldest  int32 // first in order of arrival + 1
	newest  int32
}

// slot is one entry. Instants are offsets from Linger.base.
type slot[D any] struct {
	key        uint64
	bytes      []byte
	dest       D
	end        time.Duration
	repeat     time.Duration // next repetition, off as duration when none
	interval   time.Duration
	t2         time.Duration
	heapAt     int32
	prev, next int32 // order of arrival, slot + 1
	invite     bool
	reliable   bool
}

// NewLinger returns a table of at most limit entries; 0 means DefaultLinger.
func NewLinger[D any](limit int) *Linger[D] { return &Linger[D]{limit: limit} }

// AddFinal keeps the final response b of a server transaction for 64*T1. A repeated request is answered
// with it (Hit). For an INVITE over an unreliable transport it is also repeated by timer G until the
// ACK (RFC 3261 section 17.2.1). Without bytes repeats are only absorbed: a 2xx is repeated by its
// core (RFC 6026). Nothing is kept for a reliable non-INVITE: timer J is zero. An entry of the same
// key is replaced.
func (l *Linger[D]) AddFinal(key uint64, b []byte, dest D, invite, reliable bool, t *Timers, now time.Time) {
	if !invite && reliable {
		return
	}
	s := slot[D]{key: key, bytes: b, dest: dest, invite: invite, reliable: reliable, t2: t.T2, repeat: never}
	at := l.offset(now)
	s.end = at + t.Life()
	if invite && !reliable && len(b) > 0 {
		s.interval = t.T1
		s.repeat = at + t.T1
	}
	l.add(s)
}

// Hit looks for the entry of a message that arrived again. When ok, the caller sends b to dest, or
// nothing when b is empty: the message is absorbed.
func (l *Linger[D]) Hit(key uint64, now time.Time) (b []byte, dest D, ok bool) {
	i, found := l.byKey[key]
	if !found || l.slots[i].end <= l.offset(now) {
		return nil, dest, false
	}
	return l.slots[i].bytes, l.slots[i].dest, true
}

// Ack takes the ACK to a failure: its repetition ends, its bytes are let go, and repeats of INVITE and
// ACK are absorbed for the rest of the entry's life, which is longer than timer I and costs nothing. It
// reports whether the key was known.
func (l *Linger[D]) Ack(key uint64) bool {
	i, found := l.byKey[key]
	if !found {
		return false
	}
	s := &l.slots[i]
	switch {
	case !s.invite || len(s.bytes) == 0:
	case s.reliable: // timer I is zero
		l.remove(i)
	default:
		s.bytes, s.repeat = nil, never
		l.settle(i)
	}
	return true
}

// Silence ends the repetition of what goes to some destinations: nobody there wants it any more. Repeats of
// the request are absorbed. It looks at every entry.
func (l *Linger[D]) Silence(match func(dest D) bool) {
	for n := l.oldest; n != 0; n = l.slots[n-1].next {
		s := &l.slots[n-1]
		if len(s.bytes) > 0 && match(s.dest) {
			s.bytes, s.repeat = nil, never
			l.settle(n - 1)
		}
	}
}

// Expire sends what is due by timer G through send, and forgets what has ended.
func (l *Linger[D]) Expire(now time.Time, send func(b []byte, dest D)) {
	at := l.offset(now)
	for len(l.heap) > 0 && l.heap[0].due <= at {
		i := l.heap[0].slot
		s := &l.slots[i]
		if s.end <= at {
			l.remove(i)
			continue
		}
		s.interval = min(2*s.interval, s.t2)
		s.repeat = at + s.interval
		b, dest := s.bytes, s.dest
		l.settle(i)
		send(b, dest)
	}
}

// Deadline is when Expire must be called next, zero for never.
func (l *Linger[D]) Deadline() time.Time {
	if len(l.heap) == 0 {
		return time.Time{}
	}
	return l.base.Add(l.heap[0].due)
}

// Len is the number of entries.
func (l *Linger[D]) Len() int { return len(l.heap) }

// Dropped counts the entries that were pushed out by newer ones because the table was full.
func (l *Linger[D]) Dropped() uint64 { return l.dropped }
