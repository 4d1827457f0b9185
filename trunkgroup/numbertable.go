package trunkgroup

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// MaxNumbers is how many patterns a number table holds at most.
const MaxNumbers = 50_000_000

// NumberTable is the called numbers that stand beside the document: very many,
// and changed one by one or in bulk. It is immutable: With returns a new table
// that shares with the old one what did not change. A nil table is empty. Any
// number of goroutines may read it.
type NumberTable struct {
	set    numberSet
	groups tableGroups
	sum    uint64
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
//
// A change of a table of ten million numbers costs about 15 kB of memory and
// eight octets for each group; changes of numbers that stand near each other
// share it.
func (t *NumberTable) With(changes []NumberChange) (*NumberTable, error) {
	if t == nil {
		t = &NumberTable{}
	}
	next := &NumberTable{groups: t.groups.writable(), sum: t.sum}
	edits, err := next.edits(changes)
	if err != nil {
		return nil, err
	}
	for i := range edits {
		e := &edits[i]
		if old, ok := t.set.get(e.Pattern); ok {
			next.count(e.Pattern, old, -1)
		}
		if !e.gone {
			next.count(e.Pattern, e.owner, 1)
		}
	}
	set, clash := t.set.with(edits)
	if clash != nil {
		return nil, &NumberChangeError{
			clash.edit.index, clash.edit.Pattern,
			fmt.Sprintf("overlaps with %s of %s", clash.other, next.groups.names[clash.owner]),
			"take out that range first, or write the part of it as exact numbers or prefixes",
		}
	}
	if n := set.len(); n > MaxNumbers {
		last := len(changes) - 1
		return nil, &NumberChangeError{last, changes[last].Pattern, fmt.Sprintf("makes %d patterns of at most %d", n, MaxNumbers), "write prefixes or ranges in place of single numbers"}
	}
	next.set = set
	next.groups.release()
	return next, nil
}

// Tally counts the changes that set a pattern, or move it, and those that take one
// out; the others say what is so already.
func (t *NumberTable) Tally(changes []NumberChange) (set, removed int) {
	for _, c := range changes {
		switch group, ok := t.Get(c.Pattern); {
		case c.Group == "" && ok:
			removed++
		case c.Group != "" && group != c.Group:
			set++
		}
	}
	return set, removed
}

// edits checks the changes and returns the last one of each pattern, sorted.
func (t *NumberTable) edits(changes []NumberChange) ([]setEdit, error) {
	edits := make([]setEdit, len(changes))
	for i, c := range changes {
		if problem, remedy := c.fault(); problem != "" {
			return nil, &NumberChangeError{i, c.Pattern, problem, remedy}
		}
		edits[i] = setEdit{Pattern: c.Pattern, gone: c.Group == "", index: i}
		if c.Group != "" {
			edits[i].owner = t.groups.enter(c.Group)
		}
	}
	slices.SortFunc(edits, func(a, b setEdit) int {
		return cmp.Or(comparePatterns(a.Pattern, b.Pattern), cmp.Compare(b.index, a.index)) // the last one first
	})
	return slices.CompactFunc(edits, func(a, b setEdit) bool { return a.Pattern == b.Pattern }), nil
}

// fault says what is wrong with a change by itself.
func (c NumberChange) fault() (problem, remedy string) {
	switch {
	case c.Pattern.Kind < Exact || c.Pattern.Kind > Range:
		return "is no pattern", "write a number, a prefix or a range"
	case c.Pattern.low.local():
		return "does not begin with +", "write the number as E.164"
	case c.Group != "" && !isGroupName(c.Group):
		return fmt.Sprintf("is for %.70q, which is no name", c.Group), "name a trunk group of role origination-customer"
	}
	return "", ""
}

// count enters a row into the counts and the checksum, or takes it out with -1.
func (t *NumberTable) count(p Pattern, owner uint32, by int) {
	t.groups.rows[owner] += by
	t.sum += uint64(by) * rowSum(p, t.groups.sums[owner])
}

// rowSum mixes a row. The sum over all rows does not depend on their order, so
// that a change costs one addition.
func rowSum(p Pattern, group uint64) uint64 {
	h := group ^ uint64(p.Kind)*hashMultiplier
	for _, w := range [...]uint64{uint64(p.low), uint64(p.high)} {
		h = (h ^ w) * 0xff51afd7ed558ccd // the multipliers of MurmurHash3's finalizer
		h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
		h ^= h >> 33
	}
	return h
}

// hashMultiplier is 2^64 divided by the golden ratio (Knuth, TAOCP vol. 3,
// section 6.4).
const hashMultiplier = 0x9E3779B97F4A7C15

func groupSum(name string) uint64 { return xxhash.Sum64String(name) }
