package fraud

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
)

// ring counts over a sliding time, in slots.
type ring struct {
	slot  time.Duration
	words []atomic.Uint64 // the slot's number in the high half, its count in the low
}

func newRing(span, slot time.Duration) *ring {
	return &ring{slot: slot, words: make([]atomic.Uint64, int(span/slot))}
}

func (r *ring) at(now time.Time) uint32 { return uint32(now.UnixNano() / int64(r.slot)) }

// age is how many slots before this one a word's is; a slot after this one, of before
// the clock was set back, counts as one before it. What was counted is not forgotten
// for that, and not kept for longer than twice the span.
func age(at, slot uint32) uint32 {
	if d := int32(at - slot); d < 0 {
		return uint32(-d)
	}
	return at - slot
}

// add counts n at a time.
func (r *ring) add(now time.Time, n uint32) {
	at := r.at(now)
	w := &r.words[int(at)%len(r.words)]
	for {
		old := w.Load()
		next := uint64(at)<<32 | uint64(n)
		if uint32(old>>32) == at { // another one is over, or of before the clock was set back by the span at least
			next = old&^0xffffffff | min(uint64(uint32(old))+uint64(n), 0xffffffff)
		}
		if w.CompareAndSwap(old, next) {
			return
		}
	}
}

// sum is the count of the slots that are within the span, the running one too.
func (r *ring) sum(now time.Time) (n uint64) {
	at := r.at(now)
	for i := range r.words {
		if w := r.words[i].Load(); age(at, uint32(w>>32)) < uint32(len(r.words)) {
			n += w & 0xffffffff
		}
	}
	return n
}

// appendTo writes the slots that count.
func (r *ring) appendTo(dst []byte, now time.Time) []byte {
	at, n := r.at(now), 0
	start := len(dst)
	dst = append(dst, 0)
	for i := range r.words {
		w := r.words[i].Load()
		if age(at, uint32(w>>32)) < uint32(len(r.words)) && w&0xffffffff > 0 {
			dst = binary.AppendUvarint(dst, w>>32)
			dst = binary.AppendUvarint(dst, w&0xffffffff)
			n++
		}
	}
	dst[start] = byte(n)
	return dst
}

var errCounts = errors.New("fraud: malformed counts")

// readSum reads slots and returns the count of those that are within the span.
func (r *ring) readSum(from *octets.Reader, now time.Time) (n uint64) {
	at := r.at(now)
	for range from.Octet() {
		slot, v := from.Number(), from.Number()
		// A clock that is ahead of ours may be in a later slot.
		if slot <= 0xffffffff && age(at, uint32(slot)) < uint32(len(r.words)) {
			n += min(v, 0xffffffff)
		}
	}
	return n
}
