package geo

import (
	"cmp"
	"slices"
	"time"
)

// PeerNode is a node of another site as this node sees it now.
type PeerNode struct {
	// Name and Site are its names in the cluster.
	Name, Site string
	// RTT is the smoothed round trip over the interconnect; 0 = unknown.
	RTT time.Duration
	// Fresh: its heartbeat is alive (DEC-21).
	Fresh bool
	// Draining: it takes calls, but would rather not (DEC-19).
	Draining bool
	// Load is what it says of itself, in any unit that all nodes share: lower is better.
	Load int
}

// Nodes returns the peers of these sites in the order in which a hand-off asks them: those with a fresh
// heartbeat first, then by the order of the sites, those that are not draining, by load, by round trip
// and by name. A stale node comes last and is not left out: heartbeats are a hint. Peers of other sites
// are left out: that is configuration.
func Nodes(peers []PeerNode, sites []string) []PeerNode {
	nodes := make([]PeerNode, 0, len(peers))
	for _, p := range peers {
		if slices.Contains(sites, p.Site) {
			nodes = append(nodes, p)
		}
	}
	slices.SortFunc(nodes, func(a, b PeerNode) int {
		return cmp.Or(
			falseFirst(!a.Fresh, !b.Fresh),
			cmp.Compare(slices.Index(sites, a.Site), slices.Index(sites, b.Site)),
			falseFirst(a.Draining, b.Draining),
			cmp.Compare(a.Load, b.Load),
			cmp.Compare(a.RTT, b.RTT),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return nodes
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
