package trunkgroup

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// NumberIndex finds the owner of a number. It is immutable, takes about twelve
// bytes for an exact number, and looks up without allocation.
//
// The pattern that covers the fewest numbers wins: an exact number before any
// range or prefix; the longest prefix before shorter ones; between a range and
// a prefix the smaller one.
type NumberIndex struct {
	set  numberSet
	size int
}

// NumberConflict says that two owners claim the same numbers.
type NumberConflict struct {
	First, Second Pattern
	Owners        [2]int
}

// Error names both patterns.
func (c *NumberConflict) Error() string {
	return fmt.Sprintf("numbers %s of owner %d and %s of owner %d overlap", c.First, c.Owners[0], c.Second, c.Owners[1])
}

// BuildNumbers makes an index from patterns and their owners, which are small
// integers from 0. It fails with *NumberConflict when two exact numbers or two
// prefixes are equal and their owners differ, or two ranges overlap.
func BuildNumbers(seq iter.Seq2[Pattern, int]) (*NumberIndex, error) {
	var edits []setEdit
	for p, owner := range seq {
		edits = append(edits, setEdit{Pattern: p, owner: uint32(owner)})
	}
	x := &NumberIndex{size: len(edits)}
	slices.SortFunc(edits, func(a, b setEdit) int {
		return cmp.Or(comparePatterns(a.Pattern, b.Pattern), cmp.Compare(a.owner, b.owner))
	})
	for i := 1; i < len(edits); i++ {
		if a, b := &edits[i-1], &edits[i]; a.Pattern == b.Pattern && (a.owner != b.owner || a.Kind == Range) {
			return nil, &NumberConflict{a.Pattern, b.Pattern, [2]int{int(a.owner), int(b.owner)}}
		}
	}
	edits = slices.CompactFunc(edits, func(a, b setEdit) bool { return a.Pattern == b.Pattern })
	set, clash := x.set.with(edits)
	if clash != nil {
		return nil, &NumberConflict{clash.other, clash.edit.Pattern, [2]int{int(clash.owner), int(clash.edit.owner)}}
	}
	x.set = set
	return x, nil
}

// Len returns the number of patterns that the index was built from.
func (x *NumberIndex) Len() int { return x.size }

// Lookup returns the owner of the number, which begins with + for E.164, and
// the pattern that won.
func (x *NumberIndex) Lookup(user []byte) (owner int, by Pattern, ok bool) {
	n, ok := pack(user)
	if !ok {
		return 0, Pattern{}, false
	}
	o, by, ok := x.set.lookup(n, nil)
	return int(o), by, ok
}
