package simulation

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// socketRoom is how many datagrams wait in the socket of a paused node.
const socketRoom = 500

// node is one process of the cluster. What is in disk outlives it.
type node struct {
	w       *world
	index   int
	name    string
	site    string
	witness bool
	addr    netip.AddrPort
	clock   clock

	boot    uint32
	alive   bool
	paused  bool
	closing bool     // it has been told to end its calls
	waiting []func() // what came while it was paused
	next    time.Duration
	random  *rand.Rand

	shards []*b2bua.Shard
	seed   uint64
	turns  map[string]uint64
	peers  []peer   // by index
	unsent []func() // sends that failed at once, after the step that made them

	table     *trunkgroup.Table
	view      *trunkgroup.View
	state     *fsm.State
	applied   int // entries of the config log
	disk      disk
	watch     watch
	shelf     shelf
	rights    rights
	powerless bool // the whole machine is off
	draining  draining
	heard     map[itemKey]item // gossip

	started, ended int // calls, in this boot

	// For the checks, over all boots.
	newest  trunkgroup.Version
	trouble spans // dead, paused, cut off or ending
	drained spans // in any phase of a drain
	pings   uint64
}

// peer is what a node knows of another one.
type peer struct {
	known bool
	up    bool
	boot  uint32
	since time.Time // by this node's clock
}

// clusterKey is the secret that all nodes share.
var clusterKey = func() []byte { return bytes.Repeat([]byte("x"), 32) }

func (w *world) makeNodes() {
	for i, p := range [...]struct{ name, site, addr string }{
		{"dal-1", dallas, "203.0.113.1:5060"},
		{"dal-2", dallas, "203.0.113.2:5060"},
		{"ash-1", ashburn, "203.0.113.65:5060"},
		{"ash-2", ashburn, "203.0.113.66:5060"},
		{"wit-1", "witness", ""},
	} {
		n := &node{
			w: w, index: i, name: p.name, site: p.site, witness: p.addr == "", next: -1,
			random: rand.New(rand.NewPCG(w.seed, uint64(100+i))), clock: w.plan.clocks[i],
		}
		if !n.witness {
			n.addr = netip.MustParseAddrPort(p.addr)
		}
		w.nodes = append(w.nodes, n)
	}
	w.makeLinks()
	w.firstDocument()
	for _, n := range w.nodes {
		n.start()
	}
}

// runs tells whether the node does anything at all.
func (n *node) runs() bool { return n.alive && !n.paused }

// now is what the node's clock shows.
func (n *node) now() time.Time { return n.clock.local(n.w.now) }

// start begins a new boot.
func (n *node) start() {
	n.boot++
	n.alive, n.paused, n.closing, n.waiting = true, false, false, nil
	n.turns, n.peers = make(map[string]uint64), make([]peer, len(n.w.nodes))
	n.heard = make(map[itemKey]item)
	n.started, n.ended = 0, 0
	n.table, n.view = nil, nil
	n.watch, n.draining = newWatch(), newDraining()
	n.drained.end(n.w.now)
	for _, k := range n.disk.knobs {
		n.watch.knobs.Merge(n.now(), k)
	}
	key := clusterKey()
	n.seed = b2bua.OpenSeed(key)
	n.shards = nil
	for i := range n.w.plan.shards {
		if n.witness {
			break
		}
		n.shards = append(n.shards, b2bua.New(b2bua.Config{
			Node: n.name, Site: n.site, Boot: n.boot, Index: uint8(i),
			Listeners: []b2bua.Listener{{Transport: trunkgroup.UDP, Advertise: n.addr.String()}},
			Minter:    mint.New(key, mint.NodeID(n.name), n.boot), HandoffKey: key,
		}, &shardEnv{n, i}, n.now()))
	}
	n.shelf, n.rights, n.powerless = newShelf(n), newRights(n), false
	n.tellRights()
	n.loadConfig()
	n.spreadKnobs()
	if !n.witness {
		n.closeCalls()
	}
	n.rearm()
	n.w.consider(n)
}

// step lets the node do something now, or after its pause. What was meant for
// an earlier boot is lost.
func (n *node) step(do func()) {
	boot := n.boot
	switch {
	case !n.alive:
	case n.paused:
		n.waiting = append(n.waiting, func() {
			if n.boot == boot {
				do()
			}
		})
	default:
		do()
		n.settle()
	}
}

// advance carries out what is due by the node's own clock.
func (n *node) advance() {
	now := n.now()
	for _, s := range n.shards {
		if d := s.Deadline(); !d.IsZero() && !now.Before(d) {
			s.Advance(now)
		}
	}
	n.watchDue(now)
	n.advanceRights(now)
	if store := n.shelf.store; store != nil && !now.Before(store.Deadline()) {
		store.Advance(now)
	}
	n.w.happened('t', n.index, nil)
	n.settle()
}

// settle ends a step: sends that failed at once are told now.
func (n *node) settle() {
	for len(n.unsent) > 0 {
		do := n.unsent[0]
		n.unsent = n.unsent[1:]
		do()
	}
	n.shareOut()
	for len(n.unsent) > 0 {
		do := n.unsent[0]
		n.unsent = n.unsent[1:]
		do()
	}
	n.flushSoft()
	n.rearm()
}

// rearm works out when the node must be woken.
func (n *node) rearm() {
	var next time.Time
	for _, s := range n.shards {
		next = earlier(next, s.Deadline())
	}
	next = earlier(next, n.watch.deadline)
	if n.shelf.store != nil {
		next = earlier(next, n.shelf.store.Deadline())
	}
	next = earlier(next, n.rightsDue())
	n.next = -1
	if !next.IsZero() {
		n.next = n.clock.global(next)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// datagram takes what the network brings.
func (n *node) datagram(from netip.AddrPort, b []byte) {
	if n.paused && len(n.waiting) > socketRoom {
		return
	}
	n.step(func() {
		m, fault := sip.Parse(b)
		if fault != nil {
			n.w.fault("%s got what does not parse: %v", n.name, fault)
			return
		}
		n.receive(&b2bua.Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.UDP, Source: from, Local: n.addr}})
	})
}

// receive gives a message to its shard, as sbc does.
func (n *node) receive(p *b2bua.Packet) { n.shardOf(p.Message).Receive(n.now(), p) }

func (n *node) shardOf(m *sip.Message) *b2bua.Shard {
	if len(n.shards) == 1 {
		return n.shards[0]
	}
	if !m.IsRequest() {
		if b, ok := b2bua.ParseBranch(m.Branch()); ok {
			return n.shards[int(b.Shard)%len(n.shards)]
		}
		return n.shards[0]
	}
	if id, ok := mint.Peek(m.CallID()); ok && id.Node == mint.NodeID(n.name) && id.Boot == n.boot {
		return n.shards[int(id.Shard)%len(n.shards)]
	}
	return n.shards[b2bua.CallHash(n.seed, m.CallID())%uint64(len(n.shards))]
}

// shared takes another node's news of an open INVITE.
func (n *node) shared(from string, o b2bua.Open) {
	if o.CallHash != 0 {
		n.shards[o.CallHash%uint64(len(n.shards))].Shared(n.now(), from, o)
		return
	}
	for _, s := range n.shards {
		s.Shared(n.now(), from, o)
	}
}

// lose takes the news that the stream to a node has ended.
func (n *node) lose(x *node) {
	n.peers[x.index].up, n.peers[x.index].since = false, n.now()
	n.w.happened('l', n.index, []byte(x.name))
	n.w.say("%s loses %s", n.name, x.name)
	for _, s := range n.shards {
		s.NodeLost(n.now(), x.name)
	}
	if n.shelf.store != nil && !x.witness {
		n.shelf.store.NodeLost(n.now(), x.name, time.Time{})
	}
	n.nodesChanged()
	n.tellRights()
	n.dial(x)
}

// meet takes the news that the stream to a node is there.
func (n *node) meet(x *node) {
	n.peers[x.index] = peer{known: true, up: true, boot: x.boot, since: n.now()}
	n.w.happened('m', n.index, []byte(x.name))
	n.w.say("%s meets %s", n.name, x.name)
	if n.shelf.store != nil && !x.witness {
		n.shelf.store.NodeUp(n.now(), x.name, uint64(x.boot))
	}
	if n.rights.engine != nil {
		n.rights.dead[x.index] = false
	}
	n.nodesChanged()
	n.tellRights()
}
