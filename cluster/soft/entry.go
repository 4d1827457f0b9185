package soft

import "time"

// Entry is one entry as readers see it. Value is shared: do not change it.
type Entry struct {
	Kind    Kind
	Key     string
	Owner   string
	Boot    uint64 // of the owner's process
	Version uint64 // of a Versioned kind
	Value   []byte
	Since   time.Time // when the owner put it, by this node's clock
	Expires time.Time // by this node's clock; zero: with its owner
}

// Reason says why an entry changed.
type Reason uint8

// The reasons.
const (
	// Put: it is new or has a new value.
	Put Reason = iota + 1
	// Deleted by an owner.
	Deleted
	// Expired: its time to live is over.
	Expired
	// OwnerLost: its owner died, or no longer has it.
	OwnerLost
	// Evicted to make room.
	Evicted
)

// Change is one change that this node's own Put and Delete did not make.
type Change struct {
	Entry
	Reason Reason
}

// ref names an entry within an origin.
type ref struct {
	kind Kind
	key  string
}

// entry is an entry or a tombstone in the store.
type entry struct {
	ref
	origin    *origin
	seq       uint64
	version   uint64
	value     []byte
	since     time.Time
	expires   time.Time // of a tombstone: when it is forgotten
	tombstone bool
	mark      uint32 // the resync that has confirmed it
	pos       int    // in the expiry heap; -1 when not there
	removed   bool   // out of the store; a list may still hold it
}

func (e *entry) size() int { return overhead + len(e.key) + len(e.value) }

func (e *entry) public() Entry {
	return Entry{
		Kind: e.kind, Key: e.key, Owner: e.origin.node, Boot: e.origin.boot, Version: e.version,
		Value: e.value, Since: e.since, Expires: e.expires,
	}
}

// beats tells whether this entry replaces the other under the same key over all
// owners (DEC-15: highest version, tie by node).
func (e *entry) beats(o *entry) bool {
	switch {
	case e.version != o.version:
		return e.version > o.version
	case e.origin.node != o.origin.node:
		return e.origin.node > o.origin.node
	case e.origin.boot != o.origin.boot:
		return e.origin.boot > o.origin.boot
	}
	return e.seq > o.seq
}

// expiry is a heap of entries by the time at which they go.
type expiry []*entry

func (h expiry) next() time.Time {
	if len(h) == 0 {
		return time.Time{}
	}
	return h[0].expires
}

func (h *expiry) add(e *entry) {
	e.pos = len(*h)
	*h = append(*h, e)
	h.up(e.pos)
}

func (h *expiry) remove(e *entry) {
	i, last := e.pos, len(*h)-1
	if i < 0 {
		return
	}
	h.swap(i, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	e.pos = -1
	if i < last {
		h.down(i)
		h.up(i)
	}
}

func (h expiry) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i, j
}

func (h expiry) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h[i].expires.Before(h[parent].expires) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h expiry) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if r := child + 1; r < len(h) && h[r].expires.Before(h[child].expires) {
			child = r
		}
		if !h[child].expires.Before(h[i].expires) {
			return
		}
		h.swap(i, child)
		i = child
	}
}
