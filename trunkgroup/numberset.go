package trunkgroup

// numberSet is patterns with their owners, immutable and found without
// allocation. Owners are small integers.
//
// The pattern that covers the fewest numbers wins: an exact number before any
// range or prefix; the longest prefix before shorter ones; between a range and
// a prefix the smaller one.
type numberSet struct {
	exact    numberMap[uint32]
	ranges   numberMap[rangeEnd] // by their low ends; disjoint
	prefixes prefixIndex
}

// rangeEnd is the high end of a range.
type rangeEnd struct {
	high  number
	owner uint32
}

// owners says which groups the owners of a set are. Owners that are no group
// own nothing. With nil all of them count.
type owners []*Group

func (o owners) has(owner uint32) bool { return o == nil || o[owner] != nil }

// len returns the number of patterns.
func (s *numberSet) len() int { return s.exact.size + s.ranges.size + s.prefixes.size }

// lookup returns the owner of a number, of those that count, and the pattern
// that won.
func (s *numberSet) lookup(n number, counts owners) (owner uint32, by Pattern, ok bool) {
	if o, ok := s.exact.get(n); ok && counts.has(o) {
		return o, Pattern{Exact, n, n}, true
	}
	length, owner := s.prefixes.longest(n, counts)
	if low, end, ok := s.ranges.floor(n); ok && n <= end.high && counts.has(end.owner) {
		if length == 0 || uint64(end.high-low) < pow10[n.length()-length] {
			return end.owner, Pattern{Range, low, end.high}, true
		}
	}
	if length == 0 {
		return 0, Pattern{}, false
	}
	prefix := n.cut(length)
	return owner, Pattern{Prefix, prefix, prefix}, true
}

// covering yields all patterns that cover a number and whose owners count, in no
// order.
func (s *numberSet) covering(n number, counts owners, yield func(p Pattern, owner uint32)) {
	if o, ok := s.exact.get(n); ok && counts.has(o) {
		yield(Pattern{Exact, n, n}, o)
	}
	if low, end, ok := s.ranges.floor(n); ok && n <= end.high && counts.has(end.owner) {
		yield(Pattern{Range, low, end.high}, end.owner)
	}
	s.prefixes.covering(n, func(length int, owner uint32) {
		if counts.has(owner) {
			prefix := n.cut(length)
			yield(Pattern{Prefix, prefix, prefix}, owner)
		}
	})
}

// get returns the owner of exactly this pattern.
func (s *numberSet) get(p Pattern) (owner uint32, ok bool) {
	switch p.Kind {
	case Exact:
		return s.exact.get(p.low)
	case Prefix:
		return s.prefixes.get(p.low)
	case Range:
		end, ok := s.ranges.get(p.low)
		return end.owner, ok && end.high == p.high
	}
	return 0, false
}

// after yields the patterns behind p in the order of comparePatterns.
func (s *numberSet) after(p Pattern, yield func(Pattern, uint32) bool) {
	if p.Kind <= Exact {
		for n, owner := range s.exact.from(p.low) {
			if q := (Pattern{Exact, n, n}); q != p && !yield(q, owner) {
				return
			}
		}
	}
	if p.Kind <= Prefix {
		var prefix number
		if p.Kind == Prefix {
			prefix = p.low
		}
		if !s.prefixes.after(prefix, func(n number, owner uint32) bool { return yield(Pattern{Prefix, n, n}, owner) }) {
			return
		}
	}
	var low number
	if p.Kind == Range {
		low = p.low
	}
	for low, end := range s.ranges.from(low) {
		if q := (Pattern{Range, low, end.high}); comparePatterns(q, p) > 0 && !yield(q, end.owner) {
			return
		}
	}
}

// size returns how many numbers of the length of n the pattern covers, given
// that it covers n.
func (p Pattern) size(n number) uint64 {
	if p.Kind == Prefix {
		return pow10[n.length()-p.low.length()]
	}
	return uint64(p.high-p.low) + 1
}
