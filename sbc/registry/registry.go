package registry

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Registry is the index of one node. It implements trunkgroup.Registry. Its
// methods may be called by several goroutines.
type Registry struct {
	self  registrar.Node
	seed  maphash.Seed
	table atomic.Pointer[table]
	peers atomic.Pointer[peers]

	mu       sync.Mutex // of writers
	aors     int
	bindings int
}

// New returns the empty index of a node.
func New(self registrar.Node) *Registry {
	r := &Registry{self: self, seed: maphash.MakeSeed()}
	r.table.Store(newTable(firstSize))
	r.peers.Store(&peers{})
	return r
}

// Self is the node of the index.
func (r *Registry) Self() registrar.Node { return r.self }

// Bindings implements trunkgroup.Registry.
func (r *Registry) Bindings(aor string) []*trunkgroup.Binding {
	if c := r.table.Load().find(hashOf(r.seed, aor), aor); c != nil {
		return c.bindings
	}
	return nil
}

// Records returns the records of an AOR, the first registered first. The slice
// must not be changed.
func (r *Registry) Records(aor string) []*registrar.Record {
	if c := r.table.Load().find(hashOf(r.seed, aor), aor); c != nil {
		return c.records
	}
	return nil
}

// Record returns one record, or nil.
func (r *Registry) Record(aor, id string) *registrar.Record {
	for _, rec := range r.Records(aor) {
		if rec.ID == id {
			return rec
		}
	}
	return nil
}

// Set enters a record in place of that of the same key.
func (r *Registry) Set(rec *registrar.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, hash := r.table.Load(), hashOf(r.seed, rec.AOR)
	var have []*registrar.Record
	if c := t.find(hash, rec.AOR); c != nil {
		have = c.records
	} else {
		r.aors++
	}
	next := make([]*registrar.Record, 0, len(have)+1)
	for _, was := range have {
		if was.ID != rec.ID {
			next = append(next, was)
		}
	}
	at, _ := slices.BinarySearchFunc(next, rec, compare)
	next = slices.Insert(next, at, rec)
	r.bindings += len(next) - len(have)
	if r.aors > len(t.buckets) {
		t = t.grown()
		t.put(hash, rec.AOR, next)
		r.table.Store(t)
		return
	}
	t.put(hash, rec.AOR, next)
}

// compare orders records by their first registration.
func compare(a, b *registrar.Record) int {
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
}

// Remove takes a record out.
func (r *Registry) Remove(aor, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, hash := r.table.Load(), hashOf(r.seed, aor)
	c := t.find(hash, aor)
	if c == nil {
		return
	}
	next := make([]*registrar.Record, 0, len(c.records))
	for _, was := range c.records {
		if was.ID != id {
			next = append(next, was)
		}
	}
	r.bindings += len(next) - len(c.records)
	if len(next) == 0 {
		r.aors--
	}
	t.put(hash, aor, next)
}

// Each calls fn with the records of every AOR until it returns false. What
// changes meanwhile may be missed.
func (r *Registry) Each(fn func(aor string, list []*registrar.Record) bool) {
	r.table.Load().each(func(c *chain) bool { return fn(c.aor, c.records) })
}

// Len returns how many addresses of record have bindings, and how many these
// are.
func (r *Registry) Len() (aors, bindings int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.aors, r.bindings
}
