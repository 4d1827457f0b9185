package sbc

import "github.com/tandem-sbc/tandem/trunkgroup"

// turnsApart is the distance between the first turns of two nodes of a site: odd
// and of no common measure with the small numbers of members that groups have, so
// that nodes with the same number of calls begin and end at different members.
const turnsApart = 1_000_003

// phaseOf is where this node's round robins stand beside those of the site's other
// live nodes: each node goes round by itself, and together they go round evenly.
func (s *Server) phaseOf(list []Peer) (rank uint64) {
	for _, p := range list {
		if p.Up && !p.Witness && p.Site == s.cfg.Site && p.Name < s.cfg.Node {
			rank++
		}
	}
	return rank * turnsApart
}

// turn draws the next turn of a group.
func (r *routing) turn(g *trunkgroup.Group, phase uint64) uint64 {
	return r.turns[g.Index].Add(1) - 1 + phase
}
