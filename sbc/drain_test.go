package sbc

import (
	"bytes"
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/drain"
	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// wires joins servers of one test as the interconnect does.
type wires struct {
	mu    sync.Mutex
	nodes map[string]*Server
}

// end is one node's end of the wires.
type end struct {
	*wires
	name string
}

func (e end) Send(node string, kind byte, payload []byte) bool {
	e.mu.Lock()
	to := e.nodes[node]
	e.mu.Unlock()
	if to == nil {
		return false
	}
	to.Frame(e.name, kind, bytes.Clone(payload))
	return true
}

// sibling starts a second node of the site with the first one's table, and joins
// both.
func (n *node) sibling(t *testing.T, w *wires, proto trunkgroup.Transport) *Server {
	t.Helper()
	s, err := New(Config{
		Node: "dal-2", Site: "dallas", Boot: 1, Key: bytes.Repeat([]byte("k"), 32), Realm: "sip.example.com",
		Listeners: []Listener{{ListenerConfig: transport.ListenerConfig{
			Name: "sip", Transport: proto, Addr: netip.MustParseAddrPort("127.0.0.1:0"), Sockets: 2,
		}}},
		Shards: 2,
	}, end{w, "dal-2"}, n.ledger)
	if err != nil {
		t.Fatal(err)
	}
	s.Publish(n.table, trunkgroup.NewView(n.table))
	s.Start()
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// DEC-19 over sockets: a node in phase 2 has no call of its own and fails none,
// also of callers who know its address alone. Their in-dialog requests go to the
// sibling, which has ended its own calls with everybody's answer.
func TestDEC19_PassedCallsOverLoopback(t *testing.T) {
	for _, proto := range []trunkgroup.Transport{trunkgroup.UDP, trunkgroup.TCP} {
		t.Run(proto.String(), func(t *testing.T) {
			w := &wires{nodes: map[string]*Server{}}
			n := startNode(t, proto, sim.Answers(5*time.Millisecond, 10*time.Millisecond))
			n.inter = end{w, "dal-1"}
			second := n.sibling(t, w, proto)
			w.mu.Lock()
			w.nodes["dal-1"], w.nodes["dal-2"] = n.Server, second
			w.mu.Unlock()
			n.SetPeers([]Peer{{Name: "dal-2", Site: "dallas", Boot: 1, Up: true, TakesPassed: true}})
			second.SetPeers([]Peer{{Name: "dal-1", Site: "dallas", Boot: 1, Up: true, TakesPassed: true, Draining: true}})
			n.Drain(drain.Passing, false)
			r := n.load(t, proto, sim.LoadConfig{Rate: 100, Calls: 100, Hold: 30 * time.Millisecond, Grace: 20 * time.Second})
			if r.Counts.Failed != 0 || r.Left != 0 || r.FaultsN != 0 {
				t.Fatalf("failed %d, left %d, faults %v, failures %+v", r.Counts.Failed, r.Left, r.Faults, r.Failures)
			}
			f := n.DrainFacts()
			if f.Calls != 0 || f.Passed != 0 || !f.LastInvite.IsZero() {
				t.Errorf("the node that passes: %+v", f)
			}
			if second.DrainFacts().LastInvite != (time.Time{}) {
				t.Error("passed calls count as the sibling's own")
			}
			// The sibling drains as well: calls are taken here again, still in phase 2.
			n.SetPeers([]Peer{{Name: "dal-2", Site: "dallas", Boot: 1, Up: true, TakesPassed: true, Draining: true}})
			r = n.load(t, proto, sim.LoadConfig{Rate: 100, Calls: 5, Hold: 10 * time.Millisecond, Grace: 20 * time.Second})
			if r.Counts.Failed != 0 || n.DrainFacts().LastInvite.IsZero() {
				t.Errorf("without a sibling: %d failed, facts %+v", r.Counts.Failed, n.DrainFacts())
			}
			n.Drain(drain.Serving, false)
			r = n.load(t, proto, sim.LoadConfig{Rate: 100, Calls: 5, Hold: 10 * time.Millisecond, Grace: 20 * time.Second})
			if r.Counts.Failed != 0 || r.Counts.Answered == 0 {
				t.Errorf("undrained: %d failed, facts %+v", r.Counts.Failed, n.DrainFacts())
			}
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			n.HangUp(ctx)
		})
	}
}
