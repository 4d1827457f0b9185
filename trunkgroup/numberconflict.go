package trunkgroup

import (
	"fmt"
	"maps"
	"slices"
)

// maxNumberConflicts is how many conflicts are told one by one.
const maxNumberConflicts = 100

// NumberConflicts returns what is wrong between the document and a number
// table: rows whose group is missing or no origination-customer; a pattern that
// both give to different groups; and ranges of both that overlap without one
// being inside the other. At most about a hundred faults are told.
//
// It reads all numbers of the document. Where there is a compiled Table, its
// method of the same name costs less.
func (d *Document) NumberConflicts(n *NumberTable) Faults {
	index, err := BuildNumbers(d.patterns())
	if err != nil {
		index = &NumberIndex{} // Validate tells what is wrong
	}
	return numberConflicts(d, &index.set, n)
}

// NumberConflicts is Document.NumberConflicts of the table's document. Its cost
// grows with the smaller of both: few changes are checked against many numbers
// of a document at once.
func (t *Table) NumberConflicts(n *NumberTable) Faults {
	return numberConflicts(t.document, &t.numbers.set, n)
}

func numberConflicts(d *Document, set *numberSet, n *NumberTable) Faults {
	c := conflicts{document: d, table: n}
	c.groups()
	switch {
	case n == nil:
	case set.len() <= n.set.len():
		eachOverlap(set, &n.set, c.overlap)
	default:
		eachOverlap(&n.set, set, func(p Pattern, a uint32, q Pattern, b uint32) bool { return c.overlap(q, b, p, a) })
	}
	return c.faults
}

// conflicts gathers what is wrong between a document and a number table.
type conflicts struct {
	faults   Faults
	document *Document
	table    *NumberTable
}

// groups looks for rows that own nothing.
func (c *conflicts) groups() {
	roles := make(map[string]Role, len(c.document.TrunkGroups))
	for i := range c.document.TrunkGroups {
		roles[c.document.TrunkGroups[i].Name] = c.document.TrunkGroups[i].Role
	}
	rows := c.table.Groups()
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		role, ok := roles[name]
		if ok && role == OriginationCustomer {
			continue
		}
		if len(c.faults) == maxNumberConflicts {
			c.faults.add("number table", "more groups cannot have the numbers that they have", "see tandem number list")
			return
		}
		what := "is not in the document"
		if ok {
			what = fmt.Sprintf("has role %s", role)
		}
		c.faults.addf("number table", fmt.Sprintf("give them to a group of role %s or take them out first, or keep this group as it is", OriginationCustomer),
			"%d patterns belong to group %q, which %s", rows[name], name, what)
	}
}

// overlap tells of a pattern of the document and one of the table.
func (c *conflicts) overlap(p Pattern, owner uint32, q Pattern, row uint32) bool {
	group, other := &c.document.TrunkGroups[owner], c.table.groups.names[row]
	if group.Name == other {
		return true
	}
	path := index("trunk_groups", int(owner)) + ".numbers"
	if len(c.faults) >= 2*maxNumberConflicts {
		c.faults.add(path, "there are more conflicts with the number table", "see tandem number list")
		return false
	}
	for i, text := range group.Numbers {
		if r, err := ParsePattern(text); err == nil && r == p {
			path = index(path, i)
			break
		}
	}
	if p == q {
		c.faults.addf(path, "keep the number in one place", "%s of %s belongs to %s in the number table", p, group.Name, other)
	} else {
		c.faults.addf(path, "part the ranges where they overlap", "%s of %s overlaps with %s of %s in the number table", p, group.Name, q, other)
	}
	return true
}

// eachOverlap yields the patterns of a and b that are equal, and ranges of both
// that overlap without one being inside the other. Its cost grows with a.
func eachOverlap(a, b *numberSet, yield func(p Pattern, ownerA uint32, q Pattern, ownerB uint32) bool) {
	a.after(Pattern{}, func(p Pattern, owner uint32) bool {
		if other, ok := b.get(p); ok {
			return yield(p, owner, p, other)
		}
		if p.Kind != Range {
			return true
		}
		low, end, ok := b.ranges.floor(p.low)
		if !ok || end.high < p.low {
			low = p.low
		}
		for low, end := range b.ranges.from(low) {
			if low > p.high {
				break
			}
			inside := low >= p.low && end.high <= p.high || p.low >= low && p.high <= end.high
			if !inside && !yield(p, owner, Pattern{Range, low, end.high}, end.owner) {
				return false
			}
		}
		return true
	})
}
