package trunkgroup

import "math/bits"

// prefixIndex finds the longest prefix of a number. The zero value is empty.
type prefixIndex struct {
	owners  map[number]uint32
	lengths [2]uint16 // which prefix lengths exist: E.164, local
}

// add enters a prefix. It returns false, and the other owner, when the prefix
// has one already.
func (x *prefixIndex) add(prefix number, owner uint32) (uint32, bool) {
	if x.owners == nil {
		x.owners = make(map[number]uint32)
	}
	if old, ok := x.owners[prefix]; ok {
		return old, old == owner
	}
	x.owners[prefix] = owner
	x.lengths[side(prefix)] |= 1 << prefix.length()
	return owner, true
}

func side(n number) int {
	if n.local() {
		return 1
	}
	return 0
}

// longest returns the longest prefix of n, its owner, and whether there is one.
func (x *prefixIndex) longest(n number) (number, uint32, bool) {
	lengths := x.lengths[side(n)] & (1<<(n.length()+1) - 1)
	for lengths != 0 {
		length := bits.Len16(lengths) - 1
		for n.length() > length {
			n = n.shorten()
		}
		if owner, ok := x.owners[n]; ok {
			return n, owner, true
		}
		lengths &^= 1 << length
	}
	return 0, 0, false
}
