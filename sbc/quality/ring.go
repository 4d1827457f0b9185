package quality

import (
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// slots is into how many parts the window of a group is divided.
const slots = 20

// The counters of a slot.
const (
	attempts = iota
	answered
	delivered
	short
	ended
	seconds
	counters
)

// ring counts over a sliding time. It is safe for concurrent use.
type ring struct {
	slot  time.Duration
	words [slots][counters]atomic.Uint64 // the slot's number in the high half, its count in the low
}

func newRing(window time.Duration) *ring { return &ring{slot: window / slots} }

// at returns the number of the slot of a time.
func (r *ring) at(now time.Time) int64 { return now.UnixNano() / int64(r.slot) }

// add counts n at a time. A slot that the clock has left behind begins anew.
func (r *ring) add(now time.Time, counter int, n uint64) {
	at := r.at(now)
	w := &r.words[int(at%slots)][counter]
	tag := uint64(uint32(at)) << 32
	for {
		old := w.Load()
		count := n
		if old>>32 == tag>>32 {
			count += old & maxCount
		}
		if w.CompareAndSwap(old, tag|min(count, maxCount)) {
			return
		}
	}
}

// maxCount is where a counter of one slot stays.
const maxCount = 1<<32 - 1

// part is one slot of a ring, by when it began.
type part struct {
	began time.Time
	tally trunkgroup.CallTally
}

// each yields the slots of the window that have counted something, the oldest first.
// What a clock that was set back has left in the future is none of them.
func (r *ring) each(now time.Time, fn func(age int, p part)) {
	at := r.at(now)
	for age := slots - 1; age >= 0; age-- {
		number := at - int64(age)
		if number < 0 {
			continue
		}
		words := &r.words[int(number%slots)]
		count := func(counter int) uint64 {
			w := words[counter].Load()
			if w>>32 != uint64(uint32(number)) {
				return 0
			}
			return w & maxCount
		}
		t := trunkgroup.CallTally{
			Attempts: count(attempts), Answered: count(answered), Delivered: count(delivered),
			Short: count(short), Ended: count(ended), Seconds: count(seconds),
		}
		if t != (trunkgroup.CallTally{}) {
			fn(age, part{time.Unix(0, number*int64(r.slot)), t})
		}
	}
}

// sum is the count of the slots that began at a time or later.
func (r *ring) sum(now, from time.Time) (t trunkgroup.CallTally) {
	r.each(now, func(_ int, p part) {
		if !p.began.Before(from) {
			t.Add(p.tally)
		}
	})
	return t
}
