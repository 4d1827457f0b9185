package trunkgroup

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// NumberIndex finds the owner of a called number. It is immutable, takes about
// six bytes for an exact number, and looks up without allocation.
//
// The pattern that covers the fewest numbers wins: an exact number before any
// range or prefix; the longest prefix before shorter ones; between a range and
// a prefix the smaller one.
type NumberIndex struct {
	exact    blocks
	ranges   []span // sorted, disjoint
	prefixes prefixIndex
	size     int
}

// span is a range of numbers of one length.
type span struct {
	low, high number
	owner     uint32
}

// entry is one exact number.
type entry struct {
	number number
	owner  uint32
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
	x := &NumberIndex{}
	var exact []entry
	for p, owner := range seq {
		x.size++
		s := span{p.low, p.high, uint32(owner)}
		switch p.Kind {
		case Exact:
			exact = append(exact, entry{p.low, s.owner})
		case Range:
			x.ranges = append(x.ranges, s)
		case Prefix:
			if old, ok := x.prefixes.add(p.low, s.owner); !ok {
				return nil, &NumberConflict{p, p, [2]int{int(old), owner}}
			}
		}
	}
	slices.SortFunc(x.ranges, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	for i := 1; i < len(x.ranges); i++ {
		if a, b := x.ranges[i-1], x.ranges[i]; b.low <= a.high {
			return nil, &NumberConflict{Pattern{Range, a.low, a.high}, Pattern{Range, b.low, b.high}, [2]int{int(a.owner), int(b.owner)}}
		}
	}
	slices.SortFunc(exact, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.owner, b.owner))
	})
	exact = slices.Compact(exact)
	for i := 1; i < len(exact); i++ {
		if a, b := exact[i-1], exact[i]; a.number == b.number {
			p := Pattern{Exact, a.number, a.number}
			return nil, &NumberConflict{p, p, [2]int{int(a.owner), int(b.owner)}}
		}
	}
	x.exact = buildBlocks(exact)
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
	if o, ok := x.exact.find(n); ok {
		return int(o), Pattern{Exact, n, n}, true
	}
	prefix, owned, okPrefix := x.prefixes.longest(n)
	if s, ok := x.inRange(n); ok {
		if !okPrefix || uint64(s.high-s.low) < pow10[n.length()-prefix.length()] {
			return int(s.owner), Pattern{Range, s.low, s.high}, true
		}
	}
	if okPrefix {
		return int(owned), Pattern{Prefix, prefix, prefix}, true
	}
	return 0, Pattern{}, false
}

func (x *NumberIndex) inRange(n number) (span, bool) {
	i, found := slices.BinarySearchFunc(x.ranges, n, func(s span, n number) int { return cmp.Compare(s.low, n) })
	if !found {
		i--
	}
	if i < 0 || x.ranges[i].high < n {
		return span{}, false
	}
	return x.ranges[i], true
}

var pow10 = [...]uint64{
	1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
}
