package b2bua

import (
	"slices"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// availabilityAge is how long an answer to OPTIONS is good for without a new
	// table or view: registrations and peer sites come and go in between.
	availabilityAge = time.Second
	// unavailablePause is the Retry-After of such an answer, in seconds.
	unavailablePause = 10
)

// availability remembers what a shard found out about who takes calls now, so
// that OPTIONS do not cost a look at all groups each.
type availability struct {
	table *trunkgroup.Table
	view  *trunkgroup.View
	since time.Time
	sites []string                      // this site and the peer sites with a node that is up
	takes map[*trunkgroup.Group]bool    // groups that take calls in one of the sites
	texts map[*trunkgroup.Group]service // by the group of who asks
}

// service is what calls of a group may expect.
type service struct {
	up bool
	// why says in words what is amiss, for people; empty when nothing is.
	why string
}

// options answers an OPTIONS to us, whatever its Max-Forwards is: the SBC is its
// target (RFC 3261 11, 16.3). A trunk that we know hears whether a call of it
// could be served now, here or by the peer site; a part of that is enough (P-24).
// Everybody else hears that somebody speaks SIP here, and nothing of what or who.
func (s *Shard) options(p *Packet) {
	table, view := s.env.Routing()
	if table == nil || s.env.Isolated() || s.drain.Announce {
		s.refuse(p, 503, "", "")
		return
	}
	match, known := s.trunkOf(p, table)
	if !known {
		s.refuse(p, 200, "", "")
		return
	}
	up, why := false, ""
	for _, g := range [...]*trunkgroup.Group{match.Provider, match.Customer} {
		if g == nil {
			continue
		}
		one := s.serviceOf(table, view, g)
		up = up || one.up
		if one.why != "" {
			why += "Warning: 399 " + s.sentBy(replyTo(p)) + " \"" + one.why + "\"\r\n"
		}
	}
	if !up {
		s.refuse(p, 503, "", "Retry-After: "+strconv.Itoa(unavailablePause)+"\r\n"+why)
		return
	}
	s.refuse(p, 200, "", allowLine+acceptLine+supportedLine+why)
}

// trunkOf finds the trunk that a request outside of calls comes from.
func (s *Shard) trunkOf(p *Packet, table *trunkgroup.Table) (trunkgroup.SourceMatch, bool) {
	if p.Peer != "" {
		return trunkgroup.SourceMatch{}, false
	}
	uri, err := sip.ParseURI(p.Message.RequestURI())
	if err != nil {
		return trunkgroup.SourceMatch{}, false
	}
	return table.MatchSource(trunkgroup.SourceKey{Local: p.Local, Source: p.Source, Transport: p.Transport, User: uri.User})
}

// serviceOf tells what calls of a group may expect now.
func (s *Shard) serviceOf(table *trunkgroup.Table, view *trunkgroup.View, g *trunkgroup.Group) service {
	a := &s.available
	if a.table != table || a.view != view || s.now.Sub(a.since) >= availabilityAge {
		*a = availability{
			table: table, view: view, since: s.now, sites: s.sitesUp(table),
			takes: make(map[*trunkgroup.Group]bool), texts: make(map[*trunkgroup.Group]service),
		}
	}
	answer, ok := a.texts[g]
	if !ok {
		answer = a.judge(g)
		a.texts[g] = answer
	}
	return answer
}

// sitesUp are this site and the peer sites that could take a call over.
func (s *Shard) sitesUp(table *trunkgroup.Table) []string {
	sites := []string{s.cfg.Site}
	peers := s.env.Peers()
	for _, site := range table.PeerSites(s.cfg.Site) {
		for _, p := range peers {
			if p.Site == site && p.Fresh {
				sites = append(sites, site)
				break
			}
		}
	}
	return sites
}

func (a *availability) judge(g *trunkgroup.Group) service {
	switch g.Role {
	case trunkgroup.PSTNProvider:
		if groups := a.table.Reached(); len(groups) == 0 || a.any(groups) {
			return service{up: true} // without any numbers nobody is down
		}
		return service{why: "no called party can be reached now"}
	case trunkgroup.TerminationCustomer:
		carriers, lost := a.table.CarriersOf(g), a.ownPBXs(g)
		switch {
		case a.any(carriers):
			return service{up: true, why: lost}
		case len(carriers) > 0:
			return service{why: "no carrier takes calls now"}
		}
		return service{up: lost == "", why: lost} // it calls its own PBXs alone
	default:
		return service{up: a.any([]*trunkgroup.Group{g})}
	}
}

// ownPBXs says which of the customer's groups get no calls: that is news for it,
// and no reason to send its own calls elsewhere.
func (a *availability) ownPBXs(customer *trunkgroup.Group) (why string) {
	if customer.Customer == "" {
		return ""
	}
	for _, g := range a.table.Groups() {
		if g.Role == trunkgroup.OriginationCustomer && g.Customer == customer.Customer && !a.serves(g) {
			if why != "" {
				why += ", "
			}
			why += g.Name
		}
	}
	if why != "" {
		why = "calls to you find no PBX in: " + why
	}
	return why
}

// any tells whether one of the groups takes calls.
func (a *availability) any(groups []*trunkgroup.Group) bool {
	return slices.ContainsFunc(groups, a.serves)
}

func (a *availability) serves(g *trunkgroup.Group) bool {
	yes, known := a.takes[g]
	if !known {
		for _, site := range a.sites {
			yes = yes || a.view.Takes(g, site)
		}
		a.takes[g] = yes
	}
	return yes
}
