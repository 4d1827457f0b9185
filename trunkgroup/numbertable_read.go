package trunkgroup

import (
	"cmp"
	"iter"
)

// Len returns the number of patterns.
func (t *NumberTable) Len() int {
	if t == nil {
		return 0
	}
	return t.set.len()
}

// Groups returns how many patterns each group has.
func (t *NumberTable) Groups() map[string]int {
	groups := make(map[string]int)
	if t == nil {
		return groups
	}
	for place, name := range t.groups.names {
		if name != "" {
			groups[name] = t.groups.rows[place]
		}
	}
	return groups
}

// Get returns the group that has exactly this pattern.
func (t *NumberTable) Get(p Pattern) (group string, ok bool) {
	if t == nil {
		return "", false
	}
	owner, ok := t.set.get(p)
	if !ok {
		return "", false
	}
	return t.groups.names[owner], true
}

// All yields the patterns with their groups in sorted order: exact numbers by
// length and value, then prefixes as in a dictionary, then ranges by length and
// value.
func (t *NumberTable) All() iter.Seq2[Pattern, string] { return t.After(Pattern{}) }

// After yields what All does, from the first pattern behind p, which need not
// be in the table. It does not walk over what stands before p.
func (t *NumberTable) After(p Pattern) iter.Seq2[Pattern, string] {
	return func(yield func(Pattern, string) bool) {
		if t == nil {
			return
		}
		t.set.after(p, func(q Pattern, owner uint32) bool { return yield(q, t.groups.names[owner]) })
	}
}

// OfGroup yields the patterns of one group in sorted order. It looks at the
// whole table, up to the last pattern of the group.
func (t *NumberTable) OfGroup(name string) iter.Seq[Pattern] {
	return func(yield func(Pattern) bool) {
		if t == nil {
			return
		}
		place, ok := t.groups.places[name]
		if !ok {
			return
		}
		left := t.groups.rows[place]
		t.set.after(Pattern{}, func(p Pattern, owner uint32) bool {
			if owner != place {
				return true
			}
			left--
			return yield(p) && left > 0
		})
	}
}

// Checksum is equal for tables of equal content, on every node. It is kept by
// each change and costs nothing to ask. It finds faults, not forgers.
func (t *NumberTable) Checksum() uint64 {
	if t == nil {
		return 0
	}
	return t.sum
}

// comparePatterns is the order of All.
func comparePatterns(a, b Pattern) int {
	if a.Kind == Prefix && b.Kind == Prefix {
		return comparePrefixes(a.low, b.low)
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
}
