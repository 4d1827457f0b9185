package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/hello"
)

// reachTimeout bounds a fresh connect to a voter that is said to be dead.
const reachTimeout = 3 * time.Second

// Reach is how a node can be reached from here, by three paths.
type Reach struct {
	Name         string
	Voter        bool
	Interconnect bool // its heartbeats come
	Gossip       bool // gossip holds it to live
	Dial         bool // a fresh connect to one of its addresses succeeded
	Blank        bool // it lost its log: it cannot help to elect a leader
}

// any reports whether the node gave a sign of life.
func (r Reach) any() bool { return r.Interconnect || r.Gossip || r.Dial }

// String says which paths lead to the node.
func (r Reach) String() string {
	var by []string
	for path, ok := range map[string]bool{"interconnect": r.Interconnect, "gossip": r.Gossip, "a fresh connect": r.Dial} {
		if ok {
			by = append(by, path)
		}
	}
	if len(by) == 0 {
		return r.Name + ": no sign of life"
	}
	slices.Sort(by)
	return r.Name + " answers by " + strings.Join(by, " and ")
}

// reach looks for every other node of the consensus, by name.
func (n *Node) reach(ctx context.Context, servers []raft.Server) []Reach {
	var list []Reach
	for _, s := range servers {
		if string(s.ID) != n.cfg.Node {
			list = append(list, Reach{Name: string(s.ID), Voter: s.Suffrage == raft.Voter})
		}
	}
	slices.SortFunc(list, func(a, b Reach) int { return strings.Compare(a.Name, b.Name) })
	gossiped, blank := map[string]bool{}, map[string]bool{}
	for _, m := range n.gossip.Members() {
		gossiped[m.Name], blank[m.Name] = true, m.Meta.Blank
	}
	var wg sync.WaitGroup
	for i := range list {
		r := &list[i]
		p, ok := n.ic.Peer(r.Name)
		r.Interconnect, r.Gossip = ok && p.Up, gossiped[r.Name]
		r.Blank = blank[r.Name]
		if !r.Interconnect {
			wg.Go(func() { r.Dial = n.answers(ctx, r.Name, servers) })
		}
	}
	wg.Wait()
	return list
}

// answers connects anew to every address that is known of a node.
func (n *Node) answers(ctx context.Context, name string, servers []raft.Server) bool {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	found := make(chan bool, 4)
	tries := 0
	try := func(connect func() error) {
		tries++
		go func() { found <- connect() == nil }()
	}
	streams := func(address string) func() error {
		return func() error {
			conn, _, err := n.ic.Dial(ctx, address, hello.Inquire, name)
			if err != nil {
				return err
			}
			return conn.Close()
		}
	}
	for _, s := range servers {
		if string(s.ID) == name {
			try(streams(string(s.Address)))
		}
	}
	for _, p := range n.cfg.Peers {
		if p.Name != name {
			continue
		}
		if p.Interconnect != "" {
			try(streams(p.Interconnect))
		}
		// A relay takes a connect for a node that is dead.
		if p.Gossip != "" && n.via.Via(p.Gossip) == p.Gossip {
			try(func() error {
				conn, err := n.cfg.Network.Dial(ctx, p.Gossip)
				if err != nil {
					return err
				}
				return conn.Close()
			})
		}
	}
	yes := false
	for range tries {
		yes = <-found || yes
	}
	return yes
}

// dead returns the voters without a sign of life and the other nodes, or why a
// recovery would be wrong. self is this node.
func dead(self Reach, reached []Reach) (gone, here []string, err error) {
	voters, living := 0, 0
	if self.Voter {
		voters = 1
	}
	if self.Voter && !self.Blank {
		living = 1
	}
	var half []string
	for _, r := range reached {
		if r.Voter {
			voters++
		}
		switch {
		case r.Interconnect:
			here = append(here, r.Name)
			if r.Voter && !r.Blank {
				living++
			}
		case r.Voter && r.any():
			half = append(half, r.String())
		case r.Voter:
			gone = append(gone, r.Name)
		}
	}
	switch need := voters/2 + 1; {
	case len(half) > 0:
		return nil, nil, fmt.Errorf("not all of the missing voters are gone: %s. Stop them, or mend what is between", strings.Join(half, "; "))
	case living >= need:
		return nil, nil, fmt.Errorf("%d of %d voters are reachable, which is enough to elect a leader: look at their alarms with 'tandem node list'", living, voters)
	}
	return gone, here, nil
}
