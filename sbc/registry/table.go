package registry

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// firstSize is the number of buckets of an empty table; a power of two.
const firstSize = 64

// table is a hash table whose buckets are immutable chains. Readers follow it
// while the one writer replaces chains.
type table struct {
	buckets []atomic.Pointer[chain]
}

// chain is one address of record with its bindings, and those behind it in its
// bucket. Both lists have the same order and never change.
type chain struct {
	hash     uint64
	aor      string
	records  []*registrar.Record
	bindings []*trunkgroup.Binding
	next     *chain
}

func newTable(size int) *table { return &table{buckets: make([]atomic.Pointer[chain], size)} }

func (t *table) bucket(hash uint64) *atomic.Pointer[chain] {
	return &t.buckets[hash&uint64(len(t.buckets)-1)]
}

// find returns the entry of an AOR, nil when it has none.
func (t *table) find(hash uint64, aor string) *chain {
	for c := t.bucket(hash).Load(); c != nil; c = c.next {
		if c.hash == hash && c.aor == aor {
			return c
		}
	}
	return nil
}

// put replaces the bindings of an AOR; none removes it. The chain is copied up
// to the entry, for a reader may be in it.
func (t *table) put(hash uint64, aor string, records []*registrar.Record) {
	b := t.bucket(hash)
	head := without(b.Load(), hash, aor)
	if len(records) > 0 {
		c := &chain{hash: hash, aor: aor, records: records, next: head, bindings: make([]*trunkgroup.Binding, len(records))}
		for i, r := range records {
			c.bindings[i] = &r.Binding
		}
		head = c
	}
	b.Store(head)
}

func without(c *chain, hash uint64, aor string) *chain {
	switch {
	case c == nil:
		return nil
	case c.hash == hash && c.aor == aor:
		return c.next
	}
	rest := without(c.next, hash, aor)
	if rest == c.next {
		return c
	}
	copied := *c
	copied.next = rest
	return &copied
}

// grown returns a table of twice the size with the same entries.
func (t *table) grown() *table {
	next := newTable(2 * len(t.buckets))
	t.each(func(c *chain) bool {
		b := next.bucket(c.hash)
		moved := *c
		moved.next = b.Load()
		b.Store(&moved)
		return true
	})
	return next
}

func (t *table) each(fn func(*chain) bool) {
	for i := range t.buckets {
		for c := t.buckets[i].Load(); c != nil; c = c.next {
			if !fn(c) {
				return
			}
		}
	}
}

func hashOf(seed maphash.Seed, aor string) uint64 { return maphash.String(seed, aor) }
