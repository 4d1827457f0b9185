package sbc

import (
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// maxQueue bounds what waits in each queue of a shard. Beyond it messages
	// are dropped, as a full socket buffer would: their senders repeat them.
	maxQueue = 1 << 16
	// keepQueue is the room that an empty queue keeps.
	keepQueue = 1 << 10
	// lastShare is the part of a shard's turn that the last queue has while the
	// others have more than enough: what waits there is answered, if only by a 503.
	lastShare = 4
)

// inbox is what waits for a shard. What belongs to something that exists goes
// first, and emergency calls of those we know; what would begin a call waits
// behind it, so that an overloaded node finishes calls instead of taking on more
// than it can finish; registrations and the rest wait behind the calls.
type inbox struct {
	mu      sync.Mutex
	first   queue // responses, ACKs, requests inside dialogs, our own events
	fresh   queue // requests that may begin a call, and what must stay in order with them
	last    queue // requests that begin something else
	dropped uint64
	turns   uint64 // how often the shard came for more
	// table is what emergency calls of known sources are found by: they go first
	// although they begin a call (DEC-17). nil finds none.
	table func() *trunkgroup.Table
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
	q, urgent := &b.first, false
	switch classOf(p.Message) {
	case classFresh:
		if urgent = b.table != nil && b2bua.TrunkEmergency(b.table(), &p); !urgent {
			q = &b.fresh
		}
	case classLast:
		q = &b.last
	}
	if !q.push(event{kind: evPacket, packet: p, at: now, urgent: urgent}) {
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

// take moves up to n events to dst, queue by queue. The last one gets its share
// also while there are calls enough to fill the turn.
func (b *inbox) take(dst []event, n int) []event {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns++
	end := len(dst) + n
	dst = b.first.take(dst, n)
	dst = b.fresh.take(dst, max(0, end-len(dst)-min(b.last.n, n/lastShare)))
	return b.last.take(dst, end-len(dst))
}

// turn counts how often the shard came for more.
func (b *inbox) turn() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.turns
}

func (b *inbox) lost() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

// class says in which queue a message waits.
type class uint8

const (
	classFirst class = iota
	classFresh
	classLast
)

// classOf tells what a message may begin: nothing, a call, or something else. A
// CANCEL stays behind the INVITE that it may follow closely: ahead of it, it
// would find nothing, and the call would ring for a caller who is gone. Probes
// wait with the calls: what they measure is what a call would meet.
func classOf(m *sip.Message) class {
	if !m.IsRequest() || len(m.ToTag()) > 0 {
		return classFirst
	}
	switch m.Method() {
	case sip.ACK, sip.BYE:
		return classFirst
	case sip.INVITE, sip.CANCEL, sip.OPTIONS:
		return classFresh
	}
	return classLast
}
