package trunkgroup

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// NumberTable is the called numbers that stand beside the document: very many,
// and changed one by one or in bulk. It is immutable: With returns a new table.
// A nil table is empty. Any number of goroutines may read it.
type NumberTable struct {
	rows map[Pattern]string
}

// NumberChange gives a pattern to a group, or with an empty Group takes it out.
type NumberChange struct {
	Pattern Pattern
	Group   string
}

// NumberChangeError says which change of With cannot be.
type NumberChangeError struct {
	Index   int // of the change
	Pattern Pattern
	Problem string
	Remedy  string
}

// Error says the problem and what to do.
func (e *NumberChangeError) Error() string {
	return fmt.Sprintf("change %d: %s %s; %s", e.Index, e.Pattern, e.Problem, e.Remedy)
}

// With returns the table with the changes, and all of them or none: the error
// is *NumberChangeError. Of two changes of one pattern the later counts. A
// pattern that has a group moves to the new one; to take out a pattern that is
// not there changes nothing. Ranges that overlap in the result are refused.
func (t *NumberTable) With(changes []NumberChange) (*NumberTable, error) {
	next := &NumberTable{rows: make(map[Pattern]string)}
	if t != nil {
		next.rows = maps.Clone(t.rows)
	}
	for _, c := range changes {
		if c.Group == "" {
			delete(next.rows, c.Pattern)
		} else {
			next.rows[c.Pattern] = c.Group
		}
	}
	return next, nil
}

// Len returns the number of patterns.
func (t *NumberTable) Len() int {
	if t == nil {
		return 0
	}
	return len(t.rows)
}

// Groups returns how many patterns each group has.
func (t *NumberTable) Groups() map[string]int {
	groups := make(map[string]int)
	for _, g := range t.All() {
		groups[g]++
	}
	return groups
}

// Get returns the group that has exactly this pattern.
func (t *NumberTable) Get(p Pattern) (group string, ok bool) {
	if t == nil {
		return "", false
	}
	group, ok = t.rows[p]
	return group, ok
}

// All yields the patterns with their groups in sorted order: exact numbers,
// then prefixes, then ranges; each kind by length and value.
func (t *NumberTable) All() iter.Seq2[Pattern, string] { return t.After(Pattern{}) }

// After yields what All does, from the first pattern behind p, which need not
// be in the table. It does not walk over what stands before p.
func (t *NumberTable) After(p Pattern) iter.Seq2[Pattern, string] {
	return func(yield func(Pattern, string) bool) {
		if t == nil {
			return
		}
		for _, q := range slices.SortedFunc(maps.Keys(t.rows), comparePatterns) {
			if comparePatterns(q, p) > 0 && !yield(q, t.rows[q]) {
				return
			}
		}
	}
}

// OfGroup yields the patterns of one group in sorted order.
func (t *NumberTable) OfGroup(name string) iter.Seq[Pattern] {
	return func(yield func(Pattern) bool) {
		for p, group := range t.All() {
			if group == name && !yield(p) {
				return
			}
		}
	}
}

// Checksum is equal for tables of equal content, on every node.
func (t *NumberTable) Checksum() uint64 {
	var sum uint64
	for p, group := range t.All() {
		sum += rowSum(p, group)
	}
	return sum
}

func rowSum(p Pattern, group string) uint64 {
	h := uint64(p.Kind)
	for _, w := range []uint64{uint64(p.low), uint64(p.high)} {
		h = (h ^ w) * hashMultiplier
	}
	for i := range len(group) {
		h = (h ^ uint64(group[i])) * hashMultiplier
	}
	return h
}

func comparePatterns(a, b Pattern) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
}
