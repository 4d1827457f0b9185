package lcr

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Defaults of a Cache.
const (
	DefaultEntries = 100_000
	DefaultBytes   = 256 << 20
)

// Entry is an answer that is kept.
type Entry struct {
	Set   *trunkgroup.RouteSet // as calls get it
	Asked time.Time            // when the server was asked
	Until time.Time            // good until then
	Names []HopName            // hosts that its hops stand for
	Size  int                  // octets of the answer
}

// cost is what an entry counts: the answer is held as it was read.
func (e *Entry) cost() int { return entryOverhead + 3*e.Size }

const entryOverhead = 512

// Cache keeps answers by key. Readers take no lock and allocate nothing; writers wait
// for each other. When there is no room, what nobody read lately goes.
type Cache struct {
	seed  maphash.Seed
	heads []atomic.Pointer[node]

	mu      sync.Mutex
	ring    []*node // in no order; hand walks over it
	hand    int
	bytes   int
	maxSize int
	most    int
	evicted uint64
}

// node is one place of a chain. Readers walk chains while writers change them.
type node struct {
	key   Key
	hash  uint64
	entry atomic.Pointer[Entry]
	next  atomic.Pointer[node]
	read  atomic.Bool // since the hand came by
	at    int         // in ring; under the lock
}

// NewCache makes a cache of at most so many answers and octets.
func NewCache(entries, octets int, seed maphash.Seed) *Cache {
	size := 1
	for size < entries {
		size *= 2
	}
	return &Cache{seed: seed, heads: make([]atomic.Pointer[node], size), most: entries, maxSize: octets}
}

func (c *Cache) find(k *Key, hash uint64) *node {
	for n := c.heads[hash&uint64(len(c.heads)-1)].Load(); n != nil; n = n.next.Load() {
		if n.hash == hash && n.key == *k {
			return n
		}
	}
	return nil
}

// Get returns the answer that is good at this time, or nil.
func (c *Cache) Get(k Key, now time.Time) *trunkgroup.RouteSet {
	n := c.find(&k, k.hash(c.seed))
	if n == nil {
		return nil
	}
	e := n.entry.Load()
	if !now.Before(e.Until) {
		return nil
	}
	if !n.read.Load() { // a word that all readers would write is left alone
		n.read.Store(true)
	}
	return e.Set
}

// Look returns an entry, whether it is good or not; it must not be changed.
func (c *Cache) Look(k Key) (*Entry, bool) {
	n := c.find(&k, k.hash(c.seed))
	if n == nil {
		return nil, false
	}
	return n.entry.Load(), true
}

// Put keeps an answer in place of the one that was there. It reports false for one that
// is older than that, or larger than all that there is room for.
func (c *Cache) Put(now time.Time, k Key, e *Entry) bool {
	if e.cost() > c.maxSize || c.most == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	hash := k.hash(c.seed)
	if n := c.find(&k, hash); n != nil {
		was := n.entry.Load()
		if e.Asked.Before(was.Asked) {
			return false
		}
		c.bytes += e.cost() - was.cost()
		n.entry.Store(e)
		n.read.Store(true)
	} else {
		n = &node{key: k, hash: hash, at: len(c.ring)}
		n.entry.Store(e)
		head := &c.heads[hash&uint64(len(c.heads)-1)]
		n.next.Store(head.Load())
		head.Store(n)
		c.ring = append(c.ring, n)
		c.bytes += e.cost()
	}
	c.shrink(now)
	return true
}

// shrink makes room: the hand takes what is over, and what was not read since it came by.
func (c *Cache) shrink(now time.Time) {
	for len(c.ring) > c.most || c.bytes > c.maxSize {
		if c.hand >= len(c.ring) {
			c.hand = 0
		}
		n := c.ring[c.hand]
		if now.Before(n.entry.Load().Until) && n.read.Swap(false) {
			c.hand++
			continue
		}
		c.drop(n)
		c.evicted++
	}
}

// drop takes a node out; the lock is held.
func (c *Cache) drop(n *node) {
	at := &c.heads[n.hash&uint64(len(c.heads)-1)]
	for at.Load() != n {
		at = &at.Load().next
	}
	at.Store(n.next.Load())
	last := c.ring[len(c.ring)-1]
	c.ring[n.at], last.at = last, n.at
	c.ring[len(c.ring)-1] = nil
	c.ring = c.ring[:len(c.ring)-1]
	c.bytes -= n.entry.Load().cost()
}

// Delete forgets one answer and reports whether there was one.
func (c *Cache) Delete(k Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.find(&k, k.hash(c.seed))
	if n != nil {
		c.drop(n)
	}
	return n != nil
}

// Sweep visits all answers: it forgets those of which keep returns nil, and puts what
// keep returns in place of the others. keep must not call the cache.
func (c *Cache) Sweep(keep func(k Key, e *Entry) *Entry) (forgotten int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range slices.Backward(c.ring) { // drop fills a place with one that was visited
		was := n.entry.Load()
		switch e := keep(n.key, was); {
		case e == nil:
			c.drop(n)
			forgotten++
		case e != was:
			c.bytes += e.cost() - was.cost()
			n.entry.Store(e)
		}
	}
	return forgotten
}

// CacheStats are counts of a cache.
type CacheStats struct {
	Entries, Bytes int    // now
	Evicted        uint64 // to make room, since the start
}

// Stats returns the counts.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheStats{Entries: len(c.ring), Bytes: c.bytes, Evicted: c.evicted}
}
