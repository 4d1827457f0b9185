package registry

import "github.com/tandem-sbc/tandem/trunkgroup"

// Node is what the index needs to know of another node.
type Node struct {
	Name, Site string
	Boot       uint32
	Up         bool
	Witness    bool // takes no calls
}

// peers is a snapshot of the other nodes.
type peers struct {
	byName map[string]Node
	sites  map[string]bool // those with a node that is up
}

// SetPeers takes what is known of the other nodes now.
func (r *Registry) SetPeers(list []Node) {
	next := &peers{byName: make(map[string]Node, len(list)), sites: make(map[string]bool)}
	for _, n := range list {
		next.byName[n.Name] = n
		if n.Up && !n.Witness {
			next.sites[n.Site] = true
		}
	}
	r.peers.Store(next)
}

// Reach implements trunkgroup.Registry (DEC-15): a binding takes calls of the
// site of its node. When no node of that site is up, it is this site's, and
// what any node can reach is called from here.
func (r *Registry) Reach(b *trunkgroup.Binding) (site, cause string) {
	p := r.peers.Load()
	site = b.Site
	if site != r.self.Site && !p.sites[site] {
		site = r.self.Site
	}
	if b.Reach == trunkgroup.ReachAny {
		return site, ""
	}
	up, boot := b.Node == r.self.Name, r.self.Boot
	if !up {
		n := p.byName[b.Node]
		up, boot = n.Up, n.Boot
	}
	switch {
	case b.Reach == trunkgroup.ReachFlow && (b.Flow == 0 || up && boot != b.Boot):
		return site, trunkgroup.CauseFlowGone
	case !up:
		return site, trunkgroup.CauseNodeDown
	}
	return site, ""
}
