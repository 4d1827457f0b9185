package sessions

import (
	"sync"
	"sync/atomic"
	"time"
)

// queueSize is how many assignments wait to be shared at most.
const queueSize = 4096

// Memory knows to which far end calls of an affinity value go. It is safe for
// concurrent use; make one with NewMemory.
type Memory struct {
	entries sync.Map // *assignment by key
	queue   chan Assignment
	lost    atomic.Uint64
	count   atomic.Int64
}

type assignment struct {
	farEnd string
	until  time.Time
}

// Assignment is one to be shared with the other nodes.
type Assignment struct {
	Key, FarEnd string
	TTL         time.Duration
}

// NewMemory returns an empty memory.
func NewMemory() *Memory { return &Memory{queue: make(chan Assignment, queueSize)} }

// Remembered returns the far end of a key, or "".
func (m *Memory) Remembered(now time.Time, key string) string {
	v, ok := m.entries.Load(key)
	if !ok {
		return ""
	}
	if a := v.(*assignment); now.Before(a.until) {
		return a.farEnd
	}
	return ""
}

// Remember assigns a far end to a key for so long, and tells the others unless
// it is known for half of that already. What finds the queue full is not
// remembered.
func (m *Memory) Remember(now time.Time, key, farEnd string, ttl time.Duration) {
	if v, ok := m.entries.Load(key); ok {
		if a := v.(*assignment); a.farEnd == farEnd && a.until.Sub(now) >= ttl/2 {
			return
		}
	}
	select {
	case m.queue <- Assignment{key, farEnd, ttl}:
		m.Set(key, farEnd, now.Add(ttl))
	default:
		m.lost.Add(1)
	}
}

// Set takes an assignment of the shared memory.
func (m *Memory) Set(key, farEnd string, until time.Time) {
	if _, was := m.entries.Swap(key, &assignment{farEnd, until}); !was {
		m.count.Add(1)
	}
}

// Forget takes the news that the shared memory does not have a key any more.
func (m *Memory) Forget(key string) {
	if _, was := m.entries.LoadAndDelete(key); was {
		m.count.Add(-1)
	}
}

// Queue is what is to be shared, in order. One goroutine reads it.
func (m *Memory) Queue() <-chan Assignment { return m.queue }

// Stats returns how many values are assigned, and how many assignments found the
// queue full since the start.
func (m *Memory) Stats() (assigned int, lost uint64) { return int(m.count.Load()), m.lost.Load() }
