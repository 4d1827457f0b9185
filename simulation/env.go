package simulation

import (
	"errors"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/monitor/closing"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

var errUnreachable = errors.New("the node cannot be reached over the interconnect")

// shardEnv is the world as one shard of a node sees it.
type shardEnv struct {
	n     *node
	index int
}

// Send implements b2bua.Env.
func (e *shardEnv) Send(t transport.Target, b []byte, ref uint64) {
	n := e.n
	switch {
	case t.Node != "":
		x := n.w.nodeNamed(t.Node)
		sent := n.frame(x, b, func() {
			if m, fault := sip.Parse(b); fault == nil {
				x.receive(&b2bua.Packet{Packet: transport.Packet{Message: m, Transport: trunkgroup.Interconnect}, Peer: n.name})
			} else {
				n.w.fault("%s sent %s what does not parse: %v", n.name, x.name, fault)
			}
		})
		if !sent && ref != 0 {
			n.unsent = append(n.unsent, func() { e.shard().Failed(n.now(), ref, errUnreachable) })
		}
	case t.ViaNode != "":
		x := n.w.nodeNamed(t.ViaNode)
		n.frame(x, b, func() { n.w.toAgent(x, x.boot, t.Addr, b, nil) })
	default:
		boot := n.boot
		n.w.toAgent(n, boot, t.Addr, b, func(err error) {
			if ref != 0 && n.boot == boot {
				n.step(func() { e.shard().Failed(n.now(), ref, err) })
			}
		})
	}
}

func (e *shardEnv) shard() *b2bua.Shard { return e.n.shards[e.index] }

// Routing implements b2bua.Env.
func (e *shardEnv) Routing() (*trunkgroup.Table, *trunkgroup.View) { return e.n.table, e.n.view }

// Isolated implements b2bua.Env.
func (e *shardEnv) Isolated() bool { return false }

// Random implements b2bua.Env.
func (e *shardEnv) Random() uint64 { return e.n.random.Uint64() }

// Turn implements b2bua.Env.
func (e *shardEnv) Turn(g *trunkgroup.Group) uint64 {
	e.n.turns[g.Name]++
	return e.n.turns[g.Name] - 1
}

// Peers implements b2bua.Env.
func (e *shardEnv) Peers() (list []geo.PeerNode) {
	for i, x := range e.n.w.nodes {
		if x.site != e.n.site && !x.witness && e.n.peers[i].known {
			list = append(list, geo.PeerNode{
				Name: x.name, Site: x.site, RTT: 2 * e.n.w.plan.wan, Fresh: e.n.peers[i].up, Draining: e.n.thinksDraining(x),
			})
		}
	}
	return list
}

// Peer implements b2bua.Env.
func (e *shardEnv) Peer(id uint32) (b2bua.PeerState, bool) {
	for i, x := range e.n.w.nodes {
		p := &e.n.peers[i]
		if x == e.n || !p.known || mint.NodeID(x.name) != id {
			continue
		}
		st := b2bua.PeerState{Name: x.name, Boot: p.boot, Up: p.up}
		if !p.up {
			st.Down = e.n.now().Sub(p.since)
		}
		return st, true
	}
	return b2bua.PeerState{}, false
}

// Up implements b2bua.Env.
func (e *shardEnv) Up(name string) bool {
	x := e.n.w.nodeNamed(name)
	return x != nil && e.n.peers[x.index].up
}

// Share implements b2bua.Env.
func (e *shardEnv) Share(o b2bua.Open) {
	for _, x := range e.n.w.nodes {
		if x != e.n && !x.witness {
			e.ShareWith(x.name, o)
		}
	}
}

// ShareWith implements b2bua.Env.
func (e *shardEnv) ShareWith(name string, o b2bua.Open) {
	x := e.n.w.nodeNamed(name)
	e.n.frame(x, nil, func() { x.shared(e.n.name, o) })
}

// Forward implements b2bua.Env.
func (e *shardEnv) Forward(name string, p *b2bua.Packet) bool {
	x := e.n.w.nodeNamed(name)
	if x == nil || !e.n.peers[x.index].up {
		return false
	}
	q := *p
	q.Relay = e.n.name
	return e.n.frame(x, p.Message.Raw(), func() { x.receive(&q) })
}

// Evidence implements b2bua.Env.
func (e *shardEnv) Evidence(m *trunkgroup.Member, addr netip.AddrPort, ok bool, cause string) {
	e.n.evidence(m, addr, ok, cause)
}

// Paused implements b2bua.Env.
func (e *shardEnv) Paused(m *trunkgroup.Member, addr netip.AddrPort, d time.Duration) {
	e.n.pauseAsked(m, addr, d)
}

// Finished implements b2bua.Env: records reach a disk at once.
func (e *shardEnv) Finished(r *cdr.Record) {
	r.Version = cdr.OwnerVersion(e.n.closings(closing.Key(r.Kind, r.CallID)))
	e.n.w.records = append(e.n.w.records, r)
	e.n.w.happened('r', e.n.index, []byte(r.CallID+" "+r.HangupCause))
	e.n.w.say("%s record %s %s code %d cause %s sip %s", e.n.name, r.Kind, r.CallID, r.SIPCode, r.HangupCause, r.SIPCallID)
}

// CallUp implements b2bua.Env.
func (e *shardEnv) CallUp(r *cdr.Record) { e.n.callUp(r) }

// CallDown implements b2bua.Env.
func (e *shardEnv) CallDown(id string) { e.n.callDown(id) }

// Count implements b2bua.Env.
func (e *shardEnv) Count(ev b2bua.Event) {
	switch ev.Kind {
	case b2bua.EventCallStarted:
		e.n.started++
	case b2bua.EventCallEnded:
		e.n.ended++
	case b2bua.EventHandoff:
		if ev.Result == "received" {
			e.n.w.sums.Handoffs++
		}
	}
}

// Admit implements b2bua.Env.
func (e *shardEnv) Admit(ref uint64, uses []limit.Use) limit.Verdict {
	return e.n.admit(e.index, ref, uses)
}

// Release implements b2bua.Env.
func (e *shardEnv) Release(uses []limit.Use) { e.n.release(uses) }

// Pinged implements b2bua.Env.
func (e *shardEnv) Pinged(token uint64, r b2bua.PingResult) { e.n.pinged(token, r) }

func (w *world) nodeNamed(name string) *node {
	for _, n := range w.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// Tell implements b2bua.Env: nobody is told.
func (e *shardEnv) Tell(*trunkgroup.RoutePolicy, *policy.Event) {}

// Charge implements b2bua.Env: nobody charges these calls.
func (e *shardEnv) Charge(uint64, *trunkgroup.Charging, charging.Call) b2bua.ChargeTicket {
	return b2bua.ChargeTicket{}
}

// ChargeAnswered implements b2bua.Env.
func (e *shardEnv) ChargeAnswered(uint64, charging.Call) {}

// ChargeEnded implements b2bua.Env.
func (e *shardEnv) ChargeEnded(uint64, charging.Call) {}
