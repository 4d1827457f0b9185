package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// away makes every other node see that this one has gone, a second after it
// went, and back that it is there again.
func (w *storm) away(n *stormNode) {
	for _, x := range w.nodes {
		if x == n {
			continue
		}
		w.after(time.Second+w.upTo(200*time.Millisecond), func() {
			if !x.dead && (n.dead || n.cut) {
				x.lose(n.name)
			}
			if !n.dead && n.cut {
				n.lose(x.name)
			}
		})
	}
}

func (n *stormNode) lose(peer string) {
	if _, already := n.seen[peer]; !already {
		n.seen[peer] = n.w.now
		n.s.NodeLost(n.w.now, peer)
		n.settle()
	}
}

func (w *storm) back(n *stormNode) {
	for _, x := range w.nodes {
		delete(x.seen, n.name)
		if !x.dead {
			delete(n.seen, x.name)
		}
	}
}

// handing tells whether a call of the node has its final response and waits for
// what the peer site says.
func (n *stormNode) handing() bool {
	for c := range n.s.calls {
		if c.phase == settling {
			return true
		}
	}
	return false
}

// kill ends a node with everything in it; revive starts it anew.
func (w *storm) kill(n *stormNode) { n.dead, n.troubled = true, true; n.ended = n.started; w.away(n) }

func (w *storm) revive(n *stormNode) {
	n.dead, n.boot = false, n.boot+1
	n.start()
	n.started, n.ended = 0, 0
	clear(n.up)
	w.back(n)
}

// Tell implements Env: nobody is told.
func (n *stormNode) Tell(*trunkgroup.RoutePolicy, *policy.Event) {}

// Charge implements Env: nobody charges these calls.
func (n *stormNode) Charge(uint64, *trunkgroup.Charging, charging.Call) ChargeTicket {
	return ChargeTicket{}
}

// ChargeAnswered implements Env.
func (n *stormNode) ChargeAnswered(uint64, charging.Call) {}

// ChargeEnded implements Env.
func (n *stormNode) ChargeEnded(uint64, charging.Call) {}

// Decide implements Env: nobody decides for these calls.
func (n *stormNode) Decide(uint64, *RouteQuery) *trunkgroup.RouteSet {
	return &trunkgroup.RouteSet{Absent: true}
}
