package trunkgroup

import "cmp"

// comparePrefixes orders prefixes as a dictionary does: +1, +12, +2.
func comparePrefixes(a, b number) int {
	return cmp.Or(cmp.Compare(side(a), side(b)), cmp.Compare(a.aligned(), b.aligned()), cmp.Compare(a.length(), b.length()))
}

// after yields the prefixes behind a given one in the order of comparePrefixes;
// all with 0.
func (x *prefixIndex) after(prefix number, yield func(prefix number, owner uint32) bool) bool {
	for s, root := range x.roots {
		var flag number
		if s == 1 {
			flag = localBit
		}
		if root == nil || prefix != 0 && s < side(prefix) {
			continue
		}
		behind := prefix
		if side(prefix) != s {
			behind = 0
		}
		if !root.after(flag, behind, yield) {
			return false
		}
	}
	return true
}

// after yields the prefixes of the subtree, which stands at path, that come
// after a given one; all with 0.
func (n *prefixNode) after(path, prefix number, yield func(number, uint32) bool) bool {
	if n.owner != 0 && prefix == 0 && !yield(path, n.owner-1) {
		return false
	}
	first := byte(0)
	if depth := path.length(); prefix.length() > depth {
		first = prefix.digit(depth)
	} else {
		prefix = 0 // what is below the given prefix comes after it
	}
	for digit := first; digit <= 9; digit++ {
		c := n.child(digit)
		if c == nil {
			continue
		}
		behind := prefix
		if digit != first {
			behind = 0
		}
		if !c.after(path.extend(digit), behind, yield) {
			return false
		}
	}
	return true
}
