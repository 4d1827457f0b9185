package trunkgroup

import (
	"maps"
	"slices"
)

// tableGroups are the groups of a number table. A group's place is its owner
// number in the set; a place without rows is free.
type tableGroups struct {
	names  []string
	sums   []uint64 // of the names
	rows   []int
	places map[string]uint32
	own    bool // places may be changed
}

// writable returns a copy for one change. The places are copied when a group
// comes or goes.
func (g *tableGroups) writable() tableGroups {
	return tableGroups{slices.Clip(g.names), slices.Clip(g.sums), slices.Clone(g.rows), g.places, false}
}

func (g *tableGroups) ownPlaces() {
	if g.own {
		return
	}
	places := make(map[string]uint32, len(g.places)+1)
	maps.Copy(places, g.places)
	g.places, g.own = places, true
	g.names, g.sums = slices.Clone(g.names), slices.Clone(g.sums)
}

// enter returns the place of a group, a new one when it has none.
func (g *tableGroups) enter(name string) uint32 {
	if place, ok := g.places[name]; ok {
		return place
	}
	g.ownPlaces()
	place := slices.Index(g.names, "")
	if place < 0 {
		place = len(g.names)
		g.names, g.sums, g.rows = append(g.names, ""), append(g.sums, 0), append(g.rows, 0)
	}
	g.names[place], g.sums[place] = name, groupSum(name)
	g.places[name] = uint32(place)
	return uint32(place)
}

// release frees the places of groups without rows.
func (g *tableGroups) release() {
	for place, rows := range g.rows {
		if name := g.names[place]; rows == 0 && name != "" {
			g.ownPlaces()
			delete(g.places, name)
			g.names[place] = ""
		}
	}
	g.own = false
}
