package guard

import (
	"math"
	"net/netip"
	"sync/atomic"
	"time"
)

// Rate is a token bucket: so many messages per second on average, and so many at
// once. A PerSecond of 0 is no bucket: everything passes.
type Rate struct {
	PerSecond int
	Burst     int
}

const (
	// ways is how many sources may share one set of a table.
	ways = 8
	// tickBits makes a tick 16.4 µs: 42 bits of it last two years, and 50,000
	// messages per second are still more than a tick apart.
	tickBits = 14
	timeBits = 42
	timeMask = 1<<timeBits - 1
	tagMask  = ^uint64(timeMask)
)

// buckets are the token buckets of many sources in a fixed table. A bucket is one
// word: a part of the source's hash, and the time at which the bucket will be full
// again (GCRA, ITU-T I.371). Who came last is forgotten first only when all of its
// set are in debt.
//
// A source has one for its datagrams and one for its connections: what anybody may
// forge in its name must not close a connection of it.
type buckets struct {
	hash     hasher
	mask     uint64
	cells    []atomic.Uint64
	interval int64 // ticks that one message costs
	depth    int64 // ticks that a bucket may be in debt
	fined    int64 // ticks of a fine
}

// newBuckets makes room for at least so many sources; nil when the rate is no bucket.
func newBuckets(r Rate, sources int, h hasher) *buckets {
	if r.PerSecond <= 0 {
		return nil
	}
	sets := 1
	for sets*ways < sources {
		sets *= 2
	}
	interval := max(1, int64(time.Second>>tickBits)/int64(r.PerSecond))
	return &buckets{
		hash: h, mask: uint64(sets - 1), cells: make([]atomic.Uint64, sets*ways),
		interval: interval, depth: interval * int64(max(r.Burst, 1)), fined: int64(time.Second >> tickBits / 2),
	}
}

// take takes so many tokens from the source's bucket; false when it has not that many.
func (b *buckets) take(a netip.Addr, stream bool, at time.Duration, tokens int64) bool {
	return b.draw(a, stream, at, tokens, false)
}

// fine takes half a second's worth of tokens from both buckets of a source, whether
// they are there or not.
func (b *buckets) fine(a netip.Addr, at time.Duration) {
	for _, stream := range [...]bool{false, true} {
		b.draw(a, stream, at, b.fined/b.interval, true)
	}
}

func (b *buckets) draw(a netip.Addr, stream bool, at time.Duration, tokens int64, owe bool) bool {
	h := b.hash.hash(a)
	if stream {
		h = mix(h)
	}
	tag := h & tagMask
	set := b.cells[h&b.mask*ways:][:ways]
	now := uint64(at>>tickBits) & timeMask
	for {
		cell, word := b.find(set, tag, now)
		debt := int64(0)
		if word&tagMask == tag {
			debt = b.debt(word, now)
		}
		debt += b.interval * tokens
		if debt > b.depth {
			if !owe {
				return false
			}
			debt = min(debt, b.depth+b.fined)
		}
		if cell.CompareAndSwap(word, tag|(now+uint64(debt))&timeMask) {
			return true
		}
	}
}

// find returns the cell of a source, or the one that it may take: the cell with the
// least debt, which is none where a bucket is full.
func (b *buckets) find(set []atomic.Uint64, tag, now uint64) (cell *atomic.Uint64, word uint64) {
	least := int64(math.MaxInt64)
	for i := range set {
		w := set[i].Load()
		if w&tagMask == tag && w != 0 {
			return &set[i], w
		}
		if debt := b.debt(w, now); debt < least {
			cell, word, least = &set[i], w, debt
		}
	}
	return cell, word
}

// debt is how long a bucket needs until it is full, in ticks. Times are compared
// modulo the width of the field; a debt that no bucket can have is left over from
// before the time wrapped.
func (b *buckets) debt(word, now uint64) int64 {
	d := int64((word - now) & timeMask)
	if d > b.depth+b.fined {
		return 0
	}
	return d
}
