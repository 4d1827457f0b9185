package sbc

import (
	"net/netip"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// This file is for those who ask what would become of a call. Nothing here changes
// anything.

// Foreign reports whether a call to a host that is received at local is refused, of a
// digest user or of somebody who is known by his address.
func (s *Server) Foreign(t *trunkgroup.Table, local netip.AddrPort, digest bool, host []byte) bool {
	return s.shards[0].core.Foreign(t, local, digest, host)
}

// Takers returns the nodes of other sites that could take a hand-off, as they were
// last seen.
func (s *Server) Takers() []geo.PeerNode { return s.peers.Load().nodes }

// NextTurn returns the turn that the next call in a group of this name will have here.
func (s *Server) NextTurn(group string) uint64 {
	r := s.routing.Load()
	if r == nil {
		return 0
	}
	g := r.table.Group(group)
	if g == nil {
		return 0
	}
	return r.turns[g.Index].Load() + s.phase.Load()
}
