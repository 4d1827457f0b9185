package gossip

import (
	"net"
	"slices"
	"strings"

	"github.com/hashicorp/memberlist"
)

// Member is a node that gossip holds to live, this one included.
type Member struct {
	Name    string
	Address string // advertised gossip address, host:port
	Meta    Meta
}

// Members returns the members by name.
func (g *Gossip) Members() []Member {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]Member, 0, len(g.members))
	for _, m := range g.members {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// setMember takes what memberlist tells of a node, which it may change later: all
// is copied.
func (g *Gossip) setMember(n *memberlist.Node) {
	meta, err := ParseMeta(n.Meta)
	if err != nil {
		g.cfg.Logger.Warn("a member's metadata cannot be read", "peer", n.Name, "error", err)
	}
	if n.Name == g.cfg.Node && meta.Boot > g.cfg.Boot {
		g.stale(meta.Boot)
		return
	}
	g.mu.Lock()
	g.members[n.Name] = Member{Name: n.Name, Address: place(n.Addr, n.Port), Meta: meta}
	g.alive.Store(int64(len(g.members)))
	g.mu.Unlock()
	g.changed()
}

func (g *Gossip) dropMember(name string) {
	g.mu.Lock()
	delete(g.members, name)
	g.alive.Store(int64(len(g.members)))
	g.mu.Unlock()
	g.changed()
}

func (g *Gossip) changed() {
	select {
	case g.membership <- struct{}{}:
	default:
	}
}

// missing returns the seeds that are no members. A seed that is a name is
// compared by the addresses that it has now.
func (g *Gossip) missing() []string {
	have := make(map[string]bool)
	for _, m := range g.Members() {
		have[m.Address] = true
	}
	var absent []string
	for _, seed := range g.cfg.Seeds {
		a, err := net.ResolveTCPAddr("tcp", seed)
		if err == nil && have[place(a.IP, uint16(a.Port))] {
			continue
		}
		absent = append(absent, seed)
	}
	return absent
}
