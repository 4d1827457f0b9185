package monitor

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// testCluster is a set of monitors in virtual time with a bus between them.
type testCluster struct {
	t     *testing.T
	start time.Time
	nodes []*testNode

	mu   sync.Mutex
	dead map[netip.AddrPort]bool   // far ends that say nothing
	code map[netip.AddrPort]int    // what the others answer; default 200
	sent map[string]map[string]int // node -> member -> probes
	deaf map[string]netip.AddrPort // a far end that one node cannot reach
	cut  map[string]bool           // nodes that are off the network: no probe is answered, nothing is carried
}

type testNode struct {
	*Monitor
	name, site string
	c          *testCluster
	mu         sync.Mutex
	boards     []*verdict.Board
	published  int
	isolated   []bool
	addrs      []netip.AddrPort // of members by name
}

const delay = 30 * time.Millisecond

var errUnreachable = errors.New("unreachable")

// newCluster makes nodes named like "dallas-1" with one table.
func newCluster(t *testing.T, table *trunkgroup.Table, names ...string) *testCluster {
	t.Helper()
	c := &testCluster{
		t: t, start: time.Now(), dead: make(map[netip.AddrPort]bool), code: make(map[netip.AddrPort]int),
		sent: make(map[string]map[string]int), cut: make(map[string]bool), deaf: make(map[string]netip.AddrPort),
	}
	for _, name := range names {
		c.nodes = append(c.nodes, c.newNode(name, nil))
	}
	c.setLive(names...)
	for _, n := range c.nodes {
		n.SetPeers(len(names) > 1)
		n.Start()
		n.SetTable(table)
		t.Cleanup(n.Stop)
	}
	return c
}

func (c *testCluster) newNode(name string, edit func(*Config)) *testNode {
	n := &testNode{name: name, site: name[:len(name)-2], c: c}
	cfg := Config{
		Node: name, Site: n.site, Boot: 1, Pinger: n, Spread: -1, KnobLife: 10 * time.Minute,
		Publish: func(key string, payload []byte) {
			n.mu.Lock()
			n.published++
			n.mu.Unlock()
			at := time.Now()
			for _, other := range c.nodes {
				if other != n {
					c.carry(name, other.name, func() { other.Receive(name, key, payload, at) })
				}
			}
		},
		Forward: func(node string, payload []byte) bool {
			for _, other := range c.nodes {
				if other.name == node {
					c.carry(name, node, func() { other.Frame(name, payload) })
				}
			}
			return true
		},
		OnBoard: func(b *verdict.Board) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.boards = append(n.boards, b)
		},
		OnIsolated: func(is bool) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.isolated = append(n.isolated, is)
		},
		Resolve: func(*trunkgroup.Member) []netip.AddrPort {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.addrs
		},
	}
	if edit != nil {
		edit(&cfg)
	}
	m, err := New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	n.Monitor = m
	return n
}

// carry delivers something between two nodes after a delay, unless one of them is off the network.
func (c *testCluster) carry(from, to string, deliver func()) {
	time.AfterFunc(delay, func() {
		c.mu.Lock()
		lost := c.cut[from] || c.cut[to]
		c.mu.Unlock()
		if !lost {
			deliver()
		}
	})
}

// setLive tells all nodes who lives.
func (c *testCluster) setLive(names ...string) {
	var list []verdict.Node
	for _, name := range names {
		list = append(list, verdict.Node{Name: name, Site: name[:len(name)-2]})
	}
	for _, n := range c.nodes {
		if slices.Contains(names, n.name) {
			n.SetNodes(list)
		}
	}
}

func (n *testNode) Ping(ctx context.Context, t prober.Target) (int, time.Duration, time.Duration, error) {
	c := n.c
	c.mu.Lock()
	if c.sent[n.name] == nil {
		c.sent[n.name] = make(map[string]int)
	}
	c.sent[n.name][t.Member.Key]++
	silent, code := c.dead[t.Addr] || c.cut[n.name] || c.deaf[n.name] == t.Addr, c.code[t.Addr]
	c.mu.Unlock()
	if silent {
		<-ctx.Done()
		return 0, 0, 0, ctx.Err()
	}
	select {
	case <-ctx.Done():
		return 0, 0, 0, ctx.Err()
	case <-time.After(delay):
	}
	switch code {
	case 0:
		return 200, delay, 0, nil
	case -1:
		return 0, 0, 0, errUnreachable
	}
	return code, delay, 0, nil
}

func (c *testCluster) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// probes returns and forgets how often a node probed each member.
func (c *testCluster) probes(node string) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.sent[node]
	delete(c.sent, node)
	return m
}

// view is the newest published view.
func (n *testNode) view() *trunkgroup.View {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.boards[len(n.boards)-1].View
}

// state is a member's state in the newest published view.
func (n *testNode) state(member string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.boards[len(n.boards)-1]
	return b.View.States[b.Table.Member(member).Index].String()
}

// history is how a member's state went in the views that were published, without repetitions.
func (n *testNode) history(member string) (list []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, b := range n.boards {
		s := b.View.States[b.Table.Member(member).Index].String()
		if len(list) == 0 || list[len(list)-1] != s {
			list = append(list, s)
		}
	}
	return list
}

// wait lets virtual time pass.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func addr(site string, group, i int) netip.AddrPort {
	third := byte(group)
	if site == "ashburn" {
		third += 100
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, third, byte(i)}), 5060)
}

// tableOf has groups of the same shape: members per site in both sites; group 0 is a provider, the others are customers.
func tableOf(t *testing.T, groups, members int, edit func(*trunkgroup.Document)) *trunkgroup.Table {
	t.Helper()
	d := &trunkgroup.Document{
		Cluster: "test",
		Sites:   []trunkgroup.SiteSpec{{Name: "dallas", Peers: []string{"ashburn"}}, {Name: "ashburn", Peers: []string{"dallas"}}},
	}
	for g := range groups {
		spec := trunkgroup.GroupSpec{
			Name: fmt.Sprintf("g%d", g), Role: trunkgroup.OriginationCustomer, Numbers: []string{fmt.Sprintf("+1214555%04d", g)},
			Monitoring: trunkgroup.MonitoringSpec{Profile: "peeredge", Interval: trunkgroup.Duration(10 * time.Second), Timeout: trunkgroup.Duration(time.Second)},
		}
		if g == 0 {
			spec.Role, spec.Numbers = trunkgroup.PSTNProvider, nil
		}
		for _, site := range []string{"dallas", "ashburn"} {
			for i := range members {
				spec.Members = append(spec.Members, trunkgroup.MemberSpec{ID: fmt.Sprintf("%s-%d", site, i), Site: site, Address: addr(site, g, i).String()})
			}
		}
		d.TrunkGroups = append(d.TrunkGroups, spec)
	}
	if edit != nil {
		edit(d)
	}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table
}
