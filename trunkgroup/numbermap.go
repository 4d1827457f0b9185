package trunkgroup

import "iter"

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
	leaves []numberLeaf[V]
}

// numberLeaf is a run of entries in two arrays, so that a search touches keys
// alone.
type numberLeaf[V any] struct {
	keys   []number
	values []V
}

const (
	leafMax   = 256 // entries of a leaf
	branchMax = 128 // leaves of a branch
)

// numberEdit puts a value under a key, or takes the key out.
type numberEdit[V any] struct {
	key   number
	value V
	gone  bool
}

// lastAtMost returns the index of the last of the sorted keys that is not above
// n, or -1.
func lastAtMost(keys []number, n number) int {
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

// floor returns the last entry whose key is not above n.
func (m *numberMap[V]) floor(n number) (key number, value V, ok bool) {
	i := lastAtMost(m.firsts, n)
	if i < 0 {
		return 0, value, false
	}
	b := m.branches[i]
	leaf := &b.leaves[lastAtMost(b.firsts, n)]
	i = lastAtMost(leaf.keys, n)
	return leaf.keys[i], leaf.values[i], true
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
				if !b.leaves[j].yieldFrom(n, yield) {
					return
				}
			}
		}
	}
}

func (l *numberLeaf[V]) yieldFrom(n number, yield func(number, V) bool) bool {
	i := max(lastAtMost(l.keys, n), 0)
	if l.keys[i] < n {
		i++
	}
	for ; i < len(l.keys); i++ {
		if !yield(l.keys[i], l.values[i]) {
			return false
		}
	}
	return true
}
