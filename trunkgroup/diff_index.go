package trunkgroup

import (
	"maps"
	"slices"
)

// numbers compares who owns which called numbers. A document may hold a million
// of them: groups whose lists are equal are not looked into.
func (d *Diff) numbers(was, would *Document) {
	old, now := byGroup(was), byGroup(would)
	gone, come := make(map[string]string), make(map[string]string) // number: group
	for name, g := range old {
		if n := now[name]; n == nil || !slices.Equal(g.Numbers, n.Numbers) {
			enter(gone, g)
		}
	}
	for name, g := range now {
		if o := old[name]; o == nil || !slices.Equal(g.Numbers, o.Numbers) {
			enter(come, g)
		}
	}
	for number, group := range come {
		if gone[number] == group {
			delete(gone, number)
			delete(come, number)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(gone)) {
		from := gone[number]
		if to, moved := come[number]; moved {
			d.add(Difference{Op: Moved, What: "number", Name: number, Group: to, Was: from, Would: to})
			delete(come, number)
			continue
		}
		d.add(Difference{Op: Removed, What: "number", Name: number, Group: from})
	}
	for _, number := range slices.Sorted(maps.Keys(come)) {
		d.add(Difference{Op: Added, What: "number", Name: number, Group: come[number]})
	}
}

func byGroup(doc *Document) map[string]*GroupSpec {
	m := make(map[string]*GroupSpec, len(doc.TrunkGroups))
	for i := range doc.TrunkGroups {
		m[doc.TrunkGroups[i].Name] = &doc.TrunkGroups[i]
	}
	return m
}

func enter(owners map[string]string, g *GroupSpec) {
	for _, number := range g.Numbers {
		owners[number] = g.Name
	}
}

// sources compares from where groups take calls: what is listed, and the
// addresses of the members of a provider that lists nothing.
func (d *Diff) sources(was, would *Document) {
	old, now := tuplesOf(was), tuplesOf(would)
	for _, k := range sortedTuples(old) {
		if _, kept := now[k]; !kept {
			d.add(Difference{Op: Removed, What: "source", Name: k.text, Group: k.group})
		}
	}
	for _, k := range sortedTuples(now) {
		if _, known := old[k]; !known {
			d.add(Difference{Op: Added, What: "source", Name: k.text, Group: k.group})
		}
	}
}

// groupSource is a source tuple of a group, in words.
type groupSource struct{ group, text string }

func tuplesOf(doc *Document) map[groupSource]struct{} {
	m := make(map[groupSource]struct{})
	for i := range doc.TrunkGroups {
		g := &doc.TrunkGroups[i]
		for _, ref := range g.tuples() {
			t := tuple{sourceTuple: ref.tuple}
			m[groupSource{g.Name, t.describe()}] = struct{}{}
		}
	}
	return m
}

func sortedTuples(m map[groupSource]struct{}) []groupSource {
	return slices.SortedFunc(maps.Keys(m), func(a, b groupSource) int {
		if a.group != b.group {
			return compareText(a.group, b.group)
		}
		return compareText(a.text, b.text)
	})
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
