package cluster

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// seat is what a node remembers of another one, also when that is gone.
type seat struct {
	site     string
	protocol uint8 // 0: never told
	build    string
	witness  bool
	alive    bool      // by its heartbeats, and its raft is not at rest
	since    time.Time // when alive last became true; zero while it is not
	up       time.Time // when it was alive last, or when it was first missed
	gossiped bool      // gossip holds it to live
	blank    bool      // lost its log: it does not vote
}

// census remembers the nodes that were seen.
type census struct {
	mu    sync.Mutex
	seats map[string]seat
}

// takeCensus brings the census up to date and returns a copy of it.
func (n *Node) takeCensus(now time.Time) map[string]seat {
	c := &n.census
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seats == nil {
		c.seats = make(map[string]seat)
	}
	up := map[string]bool{n.cfg.Node: true}
	for _, p := range n.ic.Peers() {
		s := c.seats[p.Name]
		if p.Site != "" {
			s.site = p.Site
		}
		c.seats[p.Name] = s
		up[p.Name] = p.Up
	}
	members := map[string]bool{}
	for _, m := range n.gossip.Members() {
		s := c.seats[m.Name]
		s.site, s.protocol, s.build, s.witness = m.Meta.Site, m.Meta.Protocol, m.Meta.Build, m.Meta.Witness
		s.blank = m.Meta.Blank
		c.seats[m.Name] = s
		up[m.Name] = up[m.Name] && !m.Meta.Resting
		members[m.Name] = true
	}
	for name, s := range c.seats {
		s.alive, s.gossiped = up[name], members[name]
		switch {
		case !s.alive:
			s.since = time.Time{}
		case s.since.IsZero():
			s.since = now
		}
		if s.alive || s.up.IsZero() {
			s.up = now
		}
		c.seats[name] = s
	}
	return maps.Clone(c.seats)
}

// allSpeak reports every member of the cluster that does not know a protocol. A
// member that is away counts: it would halt when it came back.
func (n *Node) allSpeak(protocol uint8) error {
	seats := n.takeCensus(time.Now())
	known := map[string]bool{}
	for name := range seats {
		known[name] = seats[name].protocol > 0
	}
	servers, _ := n.servers()
	for _, s := range servers {
		known[string(s.ID)] = true
	}
	var faults []error
	for name, member := range known {
		s := seats[name]
		switch {
		case !member || s.protocol >= protocol:
		case s.protocol == 0:
			faults = append(faults, fmt.Errorf("node %s is away and its version is not known: start it, or wait until it is taken out of the consensus", name))
		default:
			faults = append(faults, fmt.Errorf("node %s runs build %q, which does not know this change: upgrade it first", name, s.build))
		}
	}
	return errors.Join(faults...)
}
