package trunkgroup

import (
	"iter"
	"math"
)

// numberMap is a sorted map from numbers to values, for very many numbers. It
// is immutable: with makes a new one that shares all leaves and branches in
// which nothing changed. It has three levels, of which the upper two are small:
// a change of one number copies about 15 kB of a map of ten million.
type numberMap[V any] struct {
	firsts   []number // first key of each branch
	branches []*numberBranch[V]
	size     int
}

// numberBranch is a run of leaves, none of them empty.
type numberBranch[V any] struct {
	firsts []number // first key of each leaf
	leaves []*numberLeaf[V]
}

// numberLeaf is a run of entries. A lookup in a large map waits for memory and
// for nothing else: keys are in the 32 bits by which they differ from the first
// one, and apart from the values, so that a search sees few cache lines.
type numberLeaf[V any] struct {
	keys   [leafMax]uint32 // beyond the first key; unused ones are noKey
	values [leafMax]V
	size   uint32
}

const (
	leafMax   = 63  // entries of a leaf: 508 octets with values of four
	branchMax = 256 // leaves of a branch
	// leafSpan is how far the keys of a leaf are apart at most.
	leafSpan = math.MaxUint32 - 1
	noKey    = math.MaxUint32
)

// lastAtMost returns the index of the last of the sorted keys that is not above
// n, or -1.
func lastAtMost[K number | uint32](keys []K, n K) int {
	low, high := 0, len(keys)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if keys[middle] <= n {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low - 1
}

// last returns the index of the last entry whose key is not above n, which is
// not below the first key.
func (l *numberLeaf[V]) last(first, n number) int {
	return lastAtMost(l.keys[:], uint32(min(n-first, leafSpan)))
}

// floor returns the last entry whose key is not above n.
func (m *numberMap[V]) floor(n number) (key number, value V, ok bool) {
	i := lastAtMost(m.firsts, n)
	if i < 0 {
		return 0, value, false
	}
	b := m.branches[i]
	i = lastAtMost(b.firsts, n)
	first, leaf := b.firsts[i], b.leaves[i]
	i = leaf.last(first, n)
	return first + number(leaf.keys[i]), leaf.values[i], true
}

// get returns the value of a key.
func (m *numberMap[V]) get(n number) (value V, ok bool) {
	key, value, ok := m.floor(n)
	return value, ok && key == n
}

// from yields the entries whose keys are not below n, in order.
func (m *numberMap[V]) from(n number) iter.Seq2[number, V] {
	return func(yield func(number, V) bool) {
		for i := max(lastAtMost(m.firsts, n), 0); i < len(m.branches); i++ {
			b := m.branches[i]
			for j := max(lastAtMost(b.firsts, n), 0); j < len(b.leaves); j++ {
				first, leaf := b.firsts[j], b.leaves[j]
				at := 0
				if first < n {
					at = leaf.last(first, n-1) + 1
				}
				for ; at < int(leaf.size); at++ {
					if !yield(first+number(leaf.keys[at]), leaf.values[at]) {
						return
					}
				}
			}
		}
	}
}
