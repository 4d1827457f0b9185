package trunkgroup

import (
	"fmt"
	"maps"
	"slices"
)

// maxNumberConflicts is how many conflicts are told one by one.
const maxNumberConflicts = 100

// NumberConflicts returns what is wrong between the table's document and a number
// table: rows whose group is missing or no origination-customer; a pattern that
// both give to different groups; and ranges of both that overlap without one
// being inside the other. At most about a hundred faults are told. Its cost
// grows with the smaller of both: few changes are checked against many numbers
// of a document at once.
func (t *Table) NumberConflicts(n *NumberTable) Faults {
	c := newConflicts(t.document, n)
	if set := &t.numbers.set; n != nil && set.len() <= n.set.len() {
		set.after(Pattern{}, func(p Pattern, owner uint32) bool { return eachOverlap(p, owner, &n.set, c.overlap) })
	} else if n != nil {
		n.set.after(Pattern{}, func(p Pattern, owner uint32) bool {
			return eachOverlap(p, owner, set, func(row Pattern, rowOwner uint32, p Pattern, owner uint32) bool {
				return c.overlap(p, owner, row, rowOwner)
			})
		})
	}
	return c.faults
}

// conflicts gathers what is wrong between a document and a number table.
type conflicts struct {
	faults   Faults
	document *Document
	table    *NumberTable
}

// newConflicts has the faults of groups already.
func newConflicts(d *Document, n *NumberTable) *conflicts {
	c := &conflicts{document: d, table: n}
	c.groups()
	return c
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
		many := "1 pattern belongs"
		if rows[name] != 1 {
			many = fmt.Sprintf("%d patterns belong", rows[name])
		}
		c.faults.addf("number table", fmt.Sprintf("give them to a group of role %s or take them out first, or keep this group as it is", OriginationCustomer),
			"%s to group %q, which %s", many, name, what)
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

// eachOverlap yields the patterns of a set that are equal to p, or a range that
// overlaps with it without one being inside the other. It returns false when
// yield does.
func eachOverlap(p Pattern, owner uint32, set *numberSet, yield func(p Pattern, owner uint32, q Pattern, other uint32) bool) bool {
	if other, ok := set.get(p); ok {
		return yield(p, owner, p, other)
	}
	if p.Kind != Range {
		return true
	}
	from, end, ok := set.ranges.floor(p.low)
	if !ok || end.high < p.low {
		from = p.low
	}
	for low, end := range set.ranges.from(from) {
		if low > p.high {
			break
		}
		inside := low >= p.low && end.high <= p.high || p.low >= low && p.high <= end.high
		if !inside && !yield(p, owner, Pattern{Range, low, end.high}, end.owner) {
			return false
		}
	}
	return true
}
