package auth

import (
	"sync"
	"time"
)

// The counts of a nonce are kept while it lives, in windows by the second of the nonce: a window is dropped whole when its last nonce died.
const (
	windowSeconds = 60
	// windows covers everything alive at one time (Skew ahead, Lifetime and Skew behind) and the two windows that are half entered, so
	// that two nonces which are alive together never share a slot.
	windows     = int((Lifetime+2*Skew)/time.Second)/windowSeconds + 2
	countShards = 16
)

// counts remembers the highest nonce count per nonce. Memory is bounded: when a shard is full it forgets its oldest window and from then
// on refuses every nonce of that window, so that forgetting never opens the door to a replay. Only right digests get in, so a stranger
// cannot fill it.
type counts struct {
	limit  int // entries per shard
	shards [countShards]countShard
}

type countShard struct {
	mu      sync.Mutex
	floor   int64 // windows below this number were forgotten for want of room: their nonces are stale
	swept   int64 // the oldest window that can hold a live nonce, at the last sweep
	entries int
	slots   [windows]countWindow
}

// countWindow holds the counts of the nonces of one span of seconds.
type countWindow struct {
	number int64
	counts map[uint64]uint32
}

func newCounts(limit int) *counts {
	return &counts{limit: max(1, limit/countShards)}
}

// use records nc for a nonce that is alive. It is false when nc does not rise (RFC 7616 section 3.4: the server checks it for replay) or
// when the nonce's window is no longer remembered.
func (c *counts) use(mark uint64, second, nc uint32, now time.Time) bool {
	number := int64(second) / windowSeconds
	s := &c.shards[mark%countShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	if number < s.floor {
		return false
	}
	i := int(number % int64(windows))
	if s.slots[i].number != number {
		s.drop(i) // whoever sits here is dead, or the clock was set back
	}
	slot := &s.slots[i]
	if slot.counts == nil {
		slot.number, slot.counts = number, make(map[uint64]uint32)
	}
	highest, known := slot.counts[mark]
	if known && nc <= highest {
		return false
	}
	if !known {
		s.entries++
	}
	slot.counts[mark] = nc
	for s.entries > c.limit {
		s.dropOldest()
	}
	return true
}

// sweep drops the windows whose nonces are all dead.
func (s *countShard) sweep(now time.Time) {
	oldest := (now.Unix() - int64((Lifetime+Skew)/time.Second)) / windowSeconds
	if oldest == s.swept {
		return
	}
	s.swept = oldest
	if newest := (now.Unix() + int64(Skew/time.Second)) / windowSeconds; s.floor > newest+1 {
		s.floor = 0 // the clock was set back: the floor stands for nonces that are not alive
	}
	for i := range s.slots {
		if s.slots[i].number < oldest {
			s.drop(i)
		}
	}
}

// dropOldest forgets the oldest window and raises the floor above it.
func (s *countShard) dropOldest() {
	oldest := -1
	for i := range s.slots {
		if s.slots[i].counts != nil && (oldest < 0 || s.slots[i].number < s.slots[oldest].number) {
			oldest = i
		}
	}
	s.floor = max(s.floor, s.slots[oldest].number+1)
	s.drop(oldest)
}

func (s *countShard) drop(i int) {
	s.entries -= len(s.slots[i].counts)
	s.slots[i].counts = nil
}
