package sbc

import (
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

const (
	// maxQueue bounds what waits in each queue of a shard. Beyond it messages
	// are dropped, as a full socket buffer would: their senders repeat them.
	maxQueue = 1 << 16
	// keepQueue is the room that an empty queue keeps.
	keepQueue = 1 << 10
	// lateAfter is how long an INVITE may have waited for its shard. With
	// latePatience it stays below T1, so that a sender that is refused hears
	// of it before it repeats.
	lateAfter = 100 * time.Millisecond
	// latePatience is for how long a shard works on INVITEs that are late
	// before it refuses them: what piled up during a pause of the machine is
	// gone by then, an overload is not.
	latePatience = 200 * time.Millisecond
)

// inbox is what waits for a shard. What belongs to something that exists goes
// first; what would begin a call waits behind it, so that an overloaded node
// finishes calls instead of taking on more than it can finish.
type inbox struct {
	mu      sync.Mutex
	first   queue // responses, ACKs, requests inside dialogs, our own events
	fresh   queue // requests that may begin something
	dropped uint64
}

// queue is a ring of events in the order of their arrival.
type queue struct {
	ring []event // its length is a power of two
	head int
	n    int
}

func (q *queue) push(e event) bool {
	if q.n == len(q.ring) {
		if q.n == maxQueue {
			return false
		}
		grown := make([]event, max(64, 2*q.n))
		for i := range q.n {
			grown[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
		}
		q.ring, q.head = grown, 0
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = e
	q.n++
	return true
}

// take moves up to n events to the end of dst.
func (q *queue) take(dst []event, n int) []event {
	for range min(n, q.n) {
		e := &q.ring[q.head]
		dst = append(dst, *e)
		*e = event{}
		q.head = (q.head + 1) & (len(q.ring) - 1)
		q.n--
	}
	if q.n == 0 && len(q.ring) > keepQueue {
		q.ring, q.head = nil, 0
	}
	return dst
}

// packets takes received messages, in order.
func (b *inbox) packets(now time.Time, batch []transport.Packet) {
	b.mu.Lock()
	for i := range batch {
		b.add(now, b2bua.Packet{Packet: batch[i]})
	}
	b.mu.Unlock()
}

// packet takes one message.
func (b *inbox) packet(now time.Time, p b2bua.Packet) {
	b.mu.Lock()
	b.add(now, p)
	b.mu.Unlock()
}

func (b *inbox) add(now time.Time, p b2bua.Packet) {
	q := &b.first
	if begins(p.Message) {
		q = &b.fresh
	}
	if !q.push(event{kind: evPacket, packet: p, at: now}) {
		b.dropped++
	}
}

// event takes anything else. It reports false when there was no room.
func (b *inbox) event(e event) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.first.push(e) {
		b.dropped++
		return false
	}
	return true
}

// take moves up to n events to dst, the fresh ones last.
func (b *inbox) take(dst []event, n int) []event {
	b.mu.Lock()
	dst = b.first.take(dst, n)
	dst = b.fresh.take(dst, n-len(dst))
	b.mu.Unlock()
	return dst
}

func (b *inbox) lost() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

// begins tells whether a message may begin something: a request without To tag,
// but for those that end or confirm what there is. A CANCEL stays behind the
// INVITE that it may follow closely: ahead of it, it would find nothing, and the
// call would ring for a caller who is gone.
func begins(m *sip.Message) bool {
	if !m.IsRequest() || len(m.ToTag()) > 0 {
		return false
	}
	switch m.Method() {
	case sip.ACK, sip.BYE:
		return false
	}
	return true
}

// overload decides which INVITEs a shard refuses.
type overload struct {
	since time.Time // the shard has met nothing but late ones since then; zero = it is in time
}

// refuses takes the next event of the fresh queue and tells whether to refuse
// it: when it is a late INVITE and lateness is no passing thing.
func (o *overload) refuses(now time.Time, e *event) bool {
	switch {
	case !begins(e.packet.Message):
		return false
	case now.Sub(e.at) <= lateAfter:
		o.since = time.Time{}
		return false
	case o.since.IsZero():
		o.since = now
	}
	return now.Sub(o.since) > latePatience && e.packet.Message.Method() == sip.INVITE
}
