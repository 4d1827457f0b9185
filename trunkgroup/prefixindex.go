package trunkgroup

import "math/bits"

// prefixIndex finds the prefixes of a number: a tree with one digit per level.
// It is immutable: with makes a new one that shares all subtrees in which
// nothing changed. The zero value is empty.
type prefixIndex struct {
	roots [2]*prefixNode // E.164, local
	size  int
}

// prefixNode is one prefix and all longer ones. A node without an owner has
// children.
type prefixNode struct {
	owner    uint32 // + 1; 0 = nobody
	digits   uint16 // which digits have a child
	children []*prefixNode
}

// child returns the subtree of one more digit, or nil.
func (n *prefixNode) child(digit byte) *prefixNode {
	if n.digits>>digit&1 == 0 {
		return nil
	}
	return n.children[bits.OnesCount16(n.digits&(1<<digit-1))]
}

func side(n number) int {
	if n.local() {
		return 1
	}
	return 0
}

// get returns the owner of exactly this prefix.
func (x *prefixIndex) get(prefix number) (owner uint32, ok bool) {
	digits, length := prefix.digits()
	node := x.roots[side(prefix)]
	for i := 0; node != nil && i < length; i++ {
		node = node.child(digits[i])
	}
	if node == nil || node.owner == 0 {
		return 0, false
	}
	return node.owner - 1, true
}

// covering calls yield for each prefix of n, the shortest first, with its
// length.
func (x *prefixIndex) covering(n number, yield func(length int, owner uint32)) {
	digits, length := n.digits()
	node := x.roots[side(n)]
	for i := 0; node != nil; i++ {
		if node.owner != 0 {
			yield(i, node.owner-1)
		}
		if i == length {
			return
		}
		node = node.child(digits[i])
	}
}

// longest returns the length of the longest prefix of n whose owner counts, and
// the owner; length 0 means that there is none.
func (x *prefixIndex) longest(n number, counts owners) (length int, owner uint32) {
	node := x.roots[side(n)]
	if node == nil {
		return 0, 0
	}
	digits, all := n.digits()
	for i := 0; ; i++ {
		if node.owner != 0 && counts.has(node.owner-1) {
			length, owner = i, node.owner-1
		}
		if i == all {
			return length, owner
		}
		if node = node.child(digits[i]); node == nil {
			return length, owner
		}
	}
}

// add enters a prefix, unless it is there already.
func (x *prefixIndex) add(prefix number, owner uint32) {
	if _, ok := x.get(prefix); !ok {
		*x = x.with([]prefixEdit{{prefix: prefix, owner: owner}})
	}
}

// prefixEdit gives a prefix to an owner, or takes it out.
type prefixEdit struct {
	prefix number
	owner  uint32
	gone   bool
}

// with returns the index after the edits, which are sorted as comparePrefixes
// does and have each prefix once.
func (x *prefixIndex) with(edits []prefixEdit) prefixIndex {
	next := *x
	for len(edits) > 0 {
		s, n := side(edits[0].prefix), 1
		for n < len(edits) && side(edits[n].prefix) == s {
			n++
		}
		next.roots[s] = next.edit(next.roots[s], edits[:n], 0)
		edits = edits[n:]
	}
	return next
}

// edit returns the node after the edits, all of which agree with it in their
// first digits, or nil when nothing is left of it.
func (x *prefixIndex) edit(n *prefixNode, edits []prefixEdit, depth int) *prefixNode {
	next, children := prefixNode{}, [10]*prefixNode{}
	if n != nil {
		next.owner = n.owner
		for digit := range children {
			children[digit] = n.child(byte(digit))
		}
	}
	if e := &edits[0]; e.prefix.length() == depth { // a shorter prefix sorts before longer ones
		x.size -= min(int(next.owner), 1)
		if next.owner = 0; !e.gone {
			next.owner = e.owner + 1
			x.size++
		}
		edits = edits[1:]
	}
	for len(edits) > 0 {
		digit, same := edits[0].prefix.digit(depth), 1
		for same < len(edits) && edits[same].prefix.digit(depth) == digit {
			same++
		}
		children[digit] = x.edit(children[digit], edits[:same], depth+1)
		edits = edits[same:]
	}
	for digit, c := range children {
		if c != nil {
			next.digits |= 1 << digit
			next.children = append(next.children, c)
		}
	}
	if next.owner == 0 && next.digits == 0 {
		return nil
	}
	return &next
}
