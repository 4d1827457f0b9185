package guard

import (
	"net/netip"
	"sync/atomic"
	"time"
)

// knownBits makes the tick of known addresses a millisecond or so.
const knownBits = 20

// known remembers sources until a time, in a fixed table of words: a part of the
// hash, and the time. Who is remembered for the shortest time gives way.
type known struct {
	hash  hasher
	mask  uint64
	cells []atomic.Uint64
}

// newKnown makes room for at least so many sources.
func newKnown(sources int, h hasher) *known {
	sets := 1
	for sets*ways < sources {
		sets *= 2
	}
	return &known{hash: h, mask: uint64(sets - 1), cells: make([]atomic.Uint64, sets*ways)}
}

func (k *known) set(a netip.Addr) (tag uint64, set []atomic.Uint64) {
	h := k.hash.hash(a)
	return h & tagMask, k.cells[h&k.mask*ways:][:ways]
}

// has tells whether a source is remembered.
func (k *known) has(a netip.Addr, at time.Duration) bool {
	tag, set := k.set(a)
	now := uint64(at >> knownBits)
	for i := range set {
		if w := set[i].Load(); w&tagMask == tag && w&timeMask > now {
			return true
		}
	}
	return false
}

// note remembers a source until a time, or longer when it is remembered for longer.
func (k *known) note(a netip.Addr, until time.Duration) {
	tag, set := k.set(a)
	word := tag | uint64(max(until, 0)>>knownBits)&timeMask
	for {
		cell, old := &set[0], set[0].Load()
		for i := range set {
			w := set[i].Load()
			if w&tagMask == tag && w != 0 {
				cell, old = &set[i], w
				break
			}
			if w&timeMask < old&timeMask {
				cell, old = &set[i], w
			}
		}
		if old&timeMask >= word&timeMask || cell.CompareAndSwap(old, word) {
			return
		}
	}
}
