package sbc

import (
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// stepsPerLoop is how many events a shard takes between two looks at its timers
// and two flushes of what it sends.
const stepsPerLoop = 64

type eventKind uint8

const (
	evPacket eventKind = iota + 1
	evFailed
	evShared
	evPing
	evNodeLost
	evAsk
)

// event is one thing for a shard to do.
type event struct {
	kind   eventKind
	packet b2bua.Packet
	at     time.Time // when the packet came
	urgent bool      // an emergency call of a known trunk: it went ahead of the queue
	ref    uint64
	err    error
	node   string
	open   b2bua.Open
	ping   b2bua.PingOrder
	ask    func(*b2bua.Shard)
}

// shard is the goroutine around one b2bua.Shard and its view of the world.
type shard struct {
	server *Server
	index  uint8
	core   *b2bua.Shard
	batch  *transport.Batch
	rng    *mathrand.ChaCha8
	// traffic counts what this shard gets and sends.
	traffic Traffic

	inbox    inbox
	overload overload
	wake     chan struct{}
	stats    atomic.Pointer[b2bua.Stats]
	last     atomic.Int64 // when its last call began, in Unix nanoseconds; 0 = never

	opens    []byte       // open INVITEs to tell of, since the last flush
	answered []CallChange // answered calls that began and ended since then
}

func newShard(s *Server, index uint8) *shard {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails (crypto/rand)
	sh := &shard{
		server: s, index: index, batch: s.set.NewBatch(), wake: make(chan struct{}, 1),
		rng: mathrand.NewChaCha8(seed), traffic: s.cfg.Traffic(int(index)),
	}
	sh.inbox.table, sh.overload.known = s.table, s.registered
	return sh
}

// deliver queues received messages, in order.
func (sh *shard) deliver(batch []transport.Packet) {
	sh.inbox.packets(time.Now(), batch)
	sh.notify()
}

// accept queues one message.
func (sh *shard) accept(p b2bua.Packet) {
	sh.inbox.packet(time.Now(), p)
	sh.notify()
}

// push queues one event.
func (sh *shard) push(e event) {
	sh.inbox.event(e)
	sh.notify()
}

func (sh *shard) notify() {
	select {
	case sh.wake <- struct{}{}:
	default:
	}
}

// run owns the core until the server stops.
func (sh *shard) run() {
	work := make([]event, 0, stepsPerLoop)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var armed time.Time
	for {
		work = sh.inbox.take(work[:0], stepsPerLoop)
		now := time.Now()
		for i := range work {
			sh.step(now, &work[i])
			work[i] = event{}
		}
		if d := sh.core.Deadline(); !d.IsZero() && !now.Before(d) {
			sh.guard(func() { sh.core.Advance(now) })
		}
		sh.flush()
		if len(work) == stepsPerLoop && !sh.server.ended() {
			continue // there is more
		}
		if d := sh.core.Deadline(); d != armed {
			armed = d
			wait := time.Hour
			if !d.IsZero() {
				wait = time.Until(d)
			}
			timer.Reset(max(wait, 0))
		}
		select {
		case <-sh.wake:
		case <-timer.C:
			armed = time.Time{}
		case <-sh.server.stopped:
			return
		}
	}
}

func (sh *shard) step(now time.Time, e *event) {
	switch e.kind {
	case evPacket:
		sh.receive(now, e)
	case evFailed:
		sh.guard(func() { sh.core.Failed(now, e.ref, e.err) })
	case evShared:
		sh.guard(func() { sh.core.Shared(now, e.node, e.open) })
	case evPing:
		sh.guard(func() { sh.core.Ping(now, e.ping) })
	case evNodeLost:
		sh.guard(func() { sh.core.NodeLost(now, e.node) })
	case evAsk:
		sh.guard(func() { e.ask(sh.core) })
	}
}

func (sh *shard) receive(now time.Time, e *event) {
	defer sh.recovered()
	if m := e.packet.Message; m.IsRequest() {
		sh.traffic.Request(false, m.Method(), e.packet.Transport)
	} else {
		sh.traffic.Response(false, m.CSeqMethod(), m.Status())
	}
	fresh := !e.urgent && e.packet.Message.Method() == sip.INVITE && classOf(e.packet.Message) == classFresh
	if sh.overload.refuses(now, e) {
		if fresh {
			sh.server.surge.refused(now)
		}
		sh.core.Shed(now, &e.packet)
		return
	}
	if fresh {
		sh.server.surge.took()
	}
	sh.core.Receive(now, &e.packet)
}

func (sh *shard) guard(fn func()) {
	defer sh.recovered()
	fn()
}

// recovered turns a fault of ours into the end of one call instead of the end
// of the process.
func (sh *shard) recovered() {
	cause := recover()
	if cause == nil {
		return
	}
	sh.server.panics.Add(1)
	sh.server.log.Error("a call was ended by an internal fault",
		slog.Any("cause", cause), slog.String("stack", string(debug.Stack())))
	sh.core.Poisoned()
}

func (sh *shard) flush() {
	sh.batch.Flush()
	if len(sh.opens) > 0 {
		for _, p := range sh.server.peers.Load().list {
			if p.Up && !p.Witness {
				sh.server.inter.Send(p.Name, FrameOpen, append([]byte(nil), sh.opens...))
			}
		}
		sh.opens = sh.opens[:0]
	}
	if len(sh.answered) > 0 {
		sh.server.observer.Calls(sh.answered)
		sh.answered = nil
	}
	sh.noteLast()
	st := sh.core.Stats()
	if old := sh.stats.Load(); old == nil || *old != st {
		sh.stats.Store(&st)
	}
}

// Send implements b2bua.Env.
func (sh *shard) Send(t transport.Target, b []byte, ref uint64) {
	s := sh.server
	if t.Flow == b2bua.TestFlow {
		s.tests.say(b)
		return
	}
	if method, code := sip.Kind(b); code == 0 {
		sh.traffic.Request(true, method, t.Transport)
	} else {
		sh.traffic.Response(true, method, code)
	}
	switch {
	case t.Node != "":
		if !s.inter.Send(t.Node, FrameSIP, b) && ref != 0 {
			sh.push(event{kind: evFailed, ref: ref, err: errUnreachable})
		}
	case t.ViaNode != "":
		e := envelope{transport: t.Transport, listener: t.Listener, flow: t.Flow, remote: t.Addr}
		if t.ViaSocket != nil {
			e.local = t.ViaSocket.Local
		}
		if !s.inter.Send(t.ViaNode, FrameEmit, append(e.append(make([]byte, 0, len(b)+64)), b...)) && ref != 0 {
			sh.push(event{kind: evFailed, ref: ref, err: b2bua.ErrNodeDown})
		}
	default:
		sh.batch.Send(t, b, ref)
	}
}

// Routing implements b2bua.Env.
func (sh *shard) Routing() (*trunkgroup.Table, *trunkgroup.View) {
	r := sh.server.routing.Load()
	if r == nil {
		return nil, nil
	}
	return r.table, r.view
}

// Random implements b2bua.Env.
func (sh *shard) Random() uint64 { return sh.rng.Uint64() }

// Turn implements b2bua.Env.
func (sh *shard) Turn(g *trunkgroup.Group) uint64 {
	r := sh.server.routing.Load()
	if now := r.table.Groups(); g.Index >= len(now) || now[g.Index] != g {
		// The table was swapped under a call: the turns go on in the group of that name.
		if g = r.table.Group(g.Name); g == nil {
			return sh.rng.Uint64() // nobody counts them any more
		}
	}
	return r.turn(g, sh.server.phase.Load())
}

// Isolated implements b2bua.Env.
func (sh *shard) Isolated() bool { return sh.server.isolated.Load() }

// Peers implements b2bua.Env.
func (sh *shard) Peers() []geo.PeerNode { return sh.server.peers.Load().nodes }

// Peer implements b2bua.Env.
func (sh *shard) Peer(id uint32) (b2bua.PeerState, bool) {
	p, ok := sh.server.peers.Load().byID[id]
	if !ok {
		return b2bua.PeerState{}, false
	}
	st := b2bua.PeerState{Name: p.Name, Boot: p.Boot, Up: p.Up}
	if !p.Up {
		st.Down = time.Since(p.Since)
	}
	return st, true
}

// Up implements b2bua.Env.
func (sh *shard) Up(node string) bool {
	p, ok := sh.server.peers.Load().byName[node]
	return ok && p.Up
}

// Share implements b2bua.Env: what is open is told once per flush.
func (sh *shard) Share(o b2bua.Open) { sh.opens = appendOpen(sh.opens, o) }

// ShareWith implements b2bua.Env.
func (sh *shard) ShareWith(node string, o b2bua.Open) {
	sh.server.inter.Send(node, FrameOpen, appendOpen(nil, o))
}

// Forward implements b2bua.Env.
func (sh *shard) Forward(node string, p *b2bua.Packet) bool {
	if !sh.Up(node) {
		return false
	}
	e := envelope{transport: p.Transport, listener: p.Listener, flow: p.Flow, remote: p.Source, local: p.Local}
	raw := p.Message.Raw()
	return sh.server.inter.Send(node, FrameForward, append(e.append(make([]byte, 0, len(raw)+64)), raw...))
}

// Evidence implements b2bua.Env.
func (sh *shard) Evidence(m *trunkgroup.Member, addr netip.AddrPort, ok bool, cause string) {
	sh.server.observer.Evidence(m, addr, ok, cause)
}

// Paused implements b2bua.Env.
func (sh *shard) Paused(m *trunkgroup.Member, addr netip.AddrPort, d time.Duration) {
	sh.server.observer.Paused(m, addr, d)
}

// CallUp implements b2bua.Env: what was answered is told once per flush.
func (sh *shard) CallUp(r *cdr.Record) {
	sh.answered = append(sh.answered, CallChange{ID: r.CallID, Answered: r.Answer, Record: encodeUp(r)})
}

// CallDown implements b2bua.Env.
func (sh *shard) CallDown(id string) { sh.answered = append(sh.answered, CallChange{ID: id}) }

// Finished implements b2bua.Env.
func (sh *shard) Finished(r *cdr.Record) {
	if r.Test {
		sh.server.tests.finished(r)
	}
	sh.server.observer.Finished(r)
}

// Tell implements b2bua.Env.
func (sh *shard) Tell(p *trunkgroup.RoutePolicy, e *policy.Event) {
	if hooks := sh.server.cfg.Hooks; hooks != nil {
		hooks.Tell(p, e)
	}
}

// Count implements b2bua.Env.
func (sh *shard) Count(e b2bua.Event) {
	if e.Kind == b2bua.EventTransaction { // as often as messages, and counted beside them
		sh.traffic.Transaction(e.Result == "client", e.Method, e.Wait)
		return
	}
	sh.server.observer.Count(e)
}

// Pinged implements b2bua.Env.
func (sh *shard) Pinged(token uint64, r b2bua.PingResult) { sh.server.pings.done(token, r) }
