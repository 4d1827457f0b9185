package importer

import (
	"net/netip"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// addGroup appends a group, made fit for its role.
func (r *Result) addGroup(g trunkgroup.GroupSpec) {
	switch g.Role {
	case trunkgroup.PSTNProvider:
		if len(g.Sources) == 0 {
			r.identify(&g)
		}
	case trunkgroup.TerminationCustomer:
		r.callers(&g)
	}
	r.Document.TrunkGroups = append(r.Document.TrunkGroups, g)
}

// identify leaves each address with one carrier: calls from there are known by
// it, and in another group it is called only.
func (r *Result) identify(g *trunkgroup.GroupSpec) {
	for i := range g.Members {
		m := &g.Members[i]
		if m.Address == "" {
			continue
		}
		if r.known[far(m)] {
			m.Direction = trunkgroup.DirectionOut
			key := g.Name + "/" + m.ID
			r.Report.adapted(r.from[key], m.Address, key+": direction out", "another group has the same far end; calls from there are known by that one")
		}
		r.known[far(m)] = true
	}
}

// callers turns the far ends of a group of callers into its sources: such a group
// has no members.
func (r *Result) callers(g *trunkgroup.GroupSpec) {
	for i := range g.Members {
		m := &g.Members[i]
		key := g.Name + "/" + m.ID
		at, err := netip.ParseAddrPort(m.Address)
		if err != nil {
			r.Report.lost(r.from[key], m.FQDN, "callers are known by addresses, not by names", "add its addresses to the sources of "+g.Name)
			continue
		}
		g.Sources = append(g.Sources, trunkgroup.SourceSpec{IP: at.Addr().String(), Transport: m.Transport})
		r.Report.adapted(r.from[key], m.Address, g.Name+": sources", "callers come from any port")
	}
	g.Members, g.Distribution, g.Monitoring, g.MaxAttempts, g.AdvanceOn = nil, trunkgroup.DistributionSpec{}, trunkgroup.MonitoringSpec{}, 0, nil
}
