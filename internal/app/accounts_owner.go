package app

import (
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// accountsWarmUp is how long a node that has just started takes no account: it has
	// to see the other nodes first, or it would take all of them for a moment.
	accountsWarmUp = 3 * time.Second
	// siteLostAfter is how long no node of a member's site must have been seen before
	// the peer site registers its account: the registrations of a cut link are not
	// moved to and fro.
	siteLostAfter = 10 * time.Second
)

// accountOwners tells which node registers an account: one of the member's own site
// by rendezvous, as for probes; when that site has been without a node for a while,
// one of its peer sites, so that the carrier's calls still reach the customer.
type accountOwners struct {
	nodes []verdict.Node
	lost  map[string]time.Time // sites without a node, since when
}

// see takes the live nodes, itself included. Nodes that drain are not among them, as
// long as there are others.
func (o *accountOwners) see(now time.Time, nodes []verdict.Node, sites []string) {
	o.nodes = nodes
	alive := make(map[string]bool, len(sites))
	for _, n := range nodes {
		alive[n.Site] = true
	}
	lost := make(map[string]time.Time)
	for _, site := range sites {
		if alive[site] {
			continue
		}
		since, was := o.lost[site]
		if !was {
			since = now
		}
		lost[site] = since
	}
	o.lost = lost
}

// of returns the owner of a member's account; empty for none now.
func (o *accountOwners) of(now time.Time, t *trunkgroup.Table, m *trunkgroup.Member) string {
	since, lost := o.lost[m.Site]
	if !lost {
		return verdict.Owner(o.nodes, m.Site, m.Key)
	}
	if now.Sub(since) < siteLostAfter {
		return ""
	}
	for _, site := range t.PeerSites(m.Site) {
		if owner := verdict.Owner(o.nodes, site, m.Key); owner != "" {
			return owner
		}
	}
	return ""
}

// deadline is when time alone makes another node the owner; zero for never.
func (o *accountOwners) deadline(now time.Time) (next time.Time) {
	for _, since := range o.lost {
		if at := since.Add(siteLostAfter); at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}
