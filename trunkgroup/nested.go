package trunkgroup

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// standing is where a member stands in its site: the number of its tier, and its place
// there among all members of it, whatever their states.
type standing struct{ tier, place int32 }

// Nests returns the places in the group that other groups take, in document order. They
// are members with Nested set, which stand nowhere else: not in Members, not in
// Table.Members, and at no Index. Candidates are the members of the other group.
func (g *Group) Nests() []*Member { return g.nests }

// Serves tells whether the group has far ends in a site, of its own or of groups that
// stand in it.
func (g *Group) Serves(site string) bool { return g.sites[site] != nil }

// holds tells whether a member is one of the group, or of a group that stands in it.
func (g *Group) holds(m *Member) bool {
	return m.Group == g || slices.ContainsFunc(g.nests, func(n *Member) bool { return n.Nested == m.Group })
}

// nest gives groups their places in other groups, and ranks what stands in each site.
func (t *Table) nest(d *Document) {
	for i, g := range t.groups {
		for j := range d.TrunkGroups[i].Members {
			if s := &d.TrunkGroups[i].Members[j]; s.Group != "" {
				t.addNested(g, s)
			}
		}
		g.counts = g.counts || g.Method.CountsSessions() || g.AffinityHeader != ""
		g.needsTraits = g.needsTraits || g.Key != KeyNone
	}
	for i, g := range t.groups {
		for _, n := range g.nests {
			n.Nested.counts = n.Nested.counts || g.counts
			g.needsTraits = g.needsTraits || n.Nested.Key != KeyNone
		}
		for site, at := range g.sites {
			at.rank(&d.TrunkGroups[i], g, site)
		}
	}
}

func (t *Table) addNested(g *Group, s *MemberSpec) {
	key := g.Name + "/" + s.ID
	g.nests = append(g.nests, &Member{
		Index: -1, ID: s.ID, Key: key, hash: xxhash.Sum64String(key), Group: g, Nested: t.byName[s.Group],
		Weight: cmp.Or(s.Weight, 1), Priority: s.Priority, LastResort: s.LastResort, Disabled: s.Disabled,
	})
	for _, site := range t.sites {
		if t.byName[s.Group].sites[site] != nil && g.sites[site] == nil {
			g.sites[site] = &siteMembers{}
		}
	}
}

// rank orders what stands in a site: those of last resort behind all others, then by
// priority, then in document order.
func (at *siteMembers) rank(s *GroupSpec, g *Group, site string) {
	at.ranked = slices.Clone(at.members)
	for _, n := range g.nests {
		if n.Nested.sites[site] != nil {
			at.ranked = append(at.ranked, n)
		}
	}
	if len(g.nests) > 0 {
		line := make(map[string]int, len(s.Members))
		for i := range s.Members {
			line[s.Members[i].ID] = i
		}
		slices.SortStableFunc(at.ranked, func(a, b *Member) int { return cmp.Compare(line[a.ID], line[b.ID]) })
	}
	slices.SortStableFunc(at.ranked, func(a, b *Member) int { return a.tier(b) })
	at.places = make([]standing, len(at.ranked))
	for begin := 0; begin < len(at.ranked); {
		end := begin + 1
		for end < len(at.ranked) && at.ranked[end].tier(at.ranked[begin]) == 0 {
			end++
		}
		for i := begin; i < end; i++ {
			at.places[i] = standing{int32(len(at.tiers)), int32(i - begin)}
		}
		at.tiers = append(at.tiers, end-begin)
		begin = end
	}
}

// tier compares where two members of a group stand before any method: last resorts
// come last, then the priority says.
func (m *Member) tier(o *Member) int {
	switch {
	case m.LastResort != o.LastResort && o.LastResort:
		return -1
	case m.LastResort != o.LastResort:
		return 1
	}
	return cmp.Compare(m.Priority, o.Priority)
}
