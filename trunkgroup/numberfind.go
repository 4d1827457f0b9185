package trunkgroup

import (
	"cmp"
	"slices"
)

// NumberMatch says who owns a called number, and by what.
type NumberMatch struct {
	Group   *Group
	Pattern Pattern // zero for an expression
	// Expression is the regular expression that matched, as the document writes
	// it; empty for a pattern.
	Expression string
	// InTable tells that the pattern stands in the number table, not in the
	// document.
	InTable bool
}

// By names what matched, in words.
func (m NumberMatch) By() string {
	switch {
	case m.Expression != "":
		return m.Expression
	case m.InTable:
		return m.Pattern.String() + " of the number table"
	}
	return m.Pattern.String()
}

// FindNumber returns the origination-customer group that owns the called
// number, which is E.164 with its +, and the pattern by which it does. What
// covers the fewest numbers wins, wherever it stands; expressions come last. It
// does not allocate.
func (t *Table) FindNumber(e164 []byte) (NumberMatch, bool) {
	n, ok := pack(e164)
	if !ok {
		return NumberMatch{}, false
	}
	owner, by, found := t.numbers.set.lookup(n, nil)
	if t.bulk != nil && by.Kind != Exact {
		o, p, ok := t.bulk.set.lookup(n, t.bulkGroups)
		if ok && (!found || compareCovers(p, by, n) < 0) {
			return NumberMatch{Group: t.bulkGroups[o], Pattern: p, InTable: true}, true
		}
	}
	if found {
		return NumberMatch{Group: t.groups[owner], Pattern: by}, true
	}
	for i := range t.expressions {
		if x := &t.expressions[i]; x.Matches(e164) {
			return x.match(), true
		}
	}
	return NumberMatch{}, false
}

// NumberCovers returns all that covers a called number, what owns it first, for
// those who ask why.
func (t *Table) NumberCovers(e164 []byte) []NumberMatch {
	n, ok := pack(e164)
	if !ok {
		return nil
	}
	var all []NumberMatch
	t.numbers.set.covering(n, nil, func(p Pattern, owner uint32) {
		all = append(all, NumberMatch{Group: t.groups[owner], Pattern: p})
	})
	if t.bulk != nil {
		t.bulk.set.covering(n, t.bulkGroups, func(p Pattern, owner uint32) {
			all = append(all, NumberMatch{Group: t.bulkGroups[owner], Pattern: p, InTable: true})
		})
	}
	slices.SortStableFunc(all, func(a, b NumberMatch) int { return compareCovers(a.Pattern, b.Pattern, n) })
	for i := range t.expressions {
		if x := &t.expressions[i]; x.Matches(e164) {
			all = append(all, x.match())
		}
	}
	return all
}

// compareCovers orders patterns that cover n: an exact number, then by size, a
// range before a prefix of equal size.
func compareCovers(a, b Pattern, n number) int {
	rank := [...]int{Exact: 0, Range: 1, Prefix: 2}
	return cmp.Or(cmp.Compare(a.size(n), b.size(n)), cmp.Compare(rank[a.Kind], rank[b.Kind]))
}

// MatchNumber returns the origination-customer group that owns the called
// number, which is E.164 with its +, or nil. It does not allocate.
func (t *Table) MatchNumber(e164 []byte) *Group {
	m, _ := t.FindNumber(e164)
	return m.Group
}

// WithNumbers returns the table with a number table beside its document: a
// shallow copy that costs the same however many numbers there are. Rows of a
// group that is missing, or has another role than origination-customer, own
// nothing; NumberConflicts tells of them. The version stays.
func (t *Table) WithNumbers(n *NumberTable) *Table {
	next := *t
	next.bulk, next.bulkGroups, next.reached = n, nil, nil
	rows := make([]bool, len(t.groups))
	if n != nil {
		next.bulkGroups = make(owners, len(n.groups.names))
		for place, name := range n.groups.names {
			if g := t.byName[name]; g != nil && g.Role == OriginationCustomer {
				next.bulkGroups[place], rows[g.Index] = g, true
			}
		}
	}
	next.reached = make([]*Group, 0, len(t.reached)+len(next.bulkGroups))
	for _, g := range t.groups {
		if rows[g.Index] || len(t.document.TrunkGroups[g.Index].Numbers) > 0 {
			next.reached = append(next.reached, g)
		}
	}
	return &next
}

// Numbers returns the number table beside the document, or nil.
func (t *Table) Numbers() *NumberTable { return t.bulk }
