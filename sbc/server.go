package sbc

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// hangUpTick is the pause between two looks at the calls that are still there.
const hangUpTick = 20 * time.Millisecond

// Server is the SIP side of one node.
type Server struct {
	cfg      Config
	log      *slog.Logger
	inter    Interconnect
	observer Observer
	set      *transport.Set
	own      own   // addresses
	surge    surge // more calls than can be refused
	shards   []*shard
	seed     uint64
	verifier *auth.Verifier // nil without a realm
	nodeID   uint32
	// registers is nil at a node that keeps no bindings.
	registers *registrations

	routing atomic.Pointer[routing]
	peers   atomic.Pointer[peers]
	pings   pings

	rejects  *transport.Batch // answers of the gate
	rejectMu sync.Mutex
	emits    *transport.Batch // messages that other nodes send through us
	emitMu   sync.Mutex
	relayed  relayed
	tests    testCalls

	panics   atomic.Uint64
	started  atomic.Bool
	isolated atomic.Bool
	phase    atomic.Uint64 // of this node's round robins
	draining draining
	stopped  chan struct{}
	running  sync.WaitGroup
}

// routing is a table with the view beside it and the groups' turns.
type routing struct {
	table *trunkgroup.Table
	view  *trunkgroup.View
	turns []*atomic.Uint64 // by Group.Index
}

// New binds the listeners. Nothing is read before Start, so that a node can
// load its last known configuration first.
func New(cfg Config, inter Interconnect, observer Observer) (*Server, error) {
	if len(cfg.Key) < minKey {
		return nil, errors.New("sbc: the cluster key has fewer than 16 bytes")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Shards <= 0 {
		cfg.Shards = runtime.GOMAXPROCS(0)
	}
	cfg.Shards = min(cfg.Shards, 255)
	s := &Server{
		cfg: cfg, log: cfg.Logger, inter: inter, observer: observer,
		nodeID: mint.NodeID(cfg.Node), stopped: make(chan struct{}),
	}
	if s.cfg.CallLimits == nil {
		s.cfg.CallLimits = noLimits{}
	}
	if s.cfg.Routes == nil {
		s.cfg.Routes = noRoutes{}
	}
	if s.cfg.Charging == nil {
		s.cfg.Charging = noCharging{}
	}
	if s.cfg.Traffic == nil {
		s.cfg.Traffic = func(int) Traffic { return noTraffic{} }
	}
	s.peers.Store(&peers{})
	s.pings.waiting = make(map[uint64]chan b2bua.PingResult)
	tc := transport.Config{ClientTLS: cfg.ClientTLS, Limits: cfg.Limits, Door: cfg.Door, Logger: cfg.Logger, Drop: s.surge.drops}
	for _, l := range cfg.Listeners {
		tc.Listeners = append(tc.Listeners, l.ListenerConfig)
	}
	set, err := transport.Open(tc, s)
	if err != nil {
		return nil, fmt.Errorf("sbc: %w", err)
	}
	s.set, s.rejects, s.emits = set, set.NewBatch(), set.NewBatch()
	s.surge.sieve, s.surge.tell = set.Sieve, s.tellSurge
	if cfg.Bindings != nil {
		s.registers = newRegistrations(s, cfg.Bindings)
	}
	if err := s.makeShards(); err != nil {
		_ = set.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) makeShards() error {
	keys := deriveAll(s.cfg.Key, s.cfg.OlderKeys)
	var verifier *auth.Verifier
	if s.cfg.Realm != "" {
		v, err := auth.New(s.cfg.key("digest nonce"), s.cfg.Realm, auth.Options{AllowNoQOP: s.cfg.AllowNoQOP, ClockOffset: s.cfg.ClockOffset})
		if err != nil {
			return fmt.Errorf("sbc: %w", err)
		}
		if err := v.SetKeys(keys.nonces[0], keys.nonces[1:]...); err != nil {
			return fmt.Errorf("sbc: %w", err)
		}
		verifier = v
	}
	hosts := s.hosts()
	s.own = s.newOwn()
	var listeners []b2bua.Listener
	for i, l := range s.cfg.Listeners {
		addr := s.set.Addr(i)
		advertise := l.Advertise
		if advertise == "" {
			advertise = addr.String()
		}
		listeners = append(listeners, b2bua.Listener{
			Transport: l.Transport, Advertise: advertise, Addr: addr, IPv6: addr.Addr().Is6() && !addr.Addr().Is4In6(),
		})
	}
	handoffKey := s.cfg.key("hand-off")
	if s.seed = s.cfg.Seed; s.seed == 0 {
		s.seed = Seed(s.cfg.Key)
	}
	for i := range s.cfg.Shards {
		sh := newShard(s, uint8(i))
		sh.core = b2bua.New(b2bua.Config{
			Node: s.cfg.Node, Site: s.cfg.Site, Boot: s.cfg.Boot, Index: uint8(i),
			Listeners: listeners, Timers: s.cfg.Timers,
			Minter:   mint.New(s.cfg.key("identifiers"), s.nodeID, s.cfg.Boot),
			Verifier: verifier, HandoffKey: handoffKey, Seed: s.seed,
			Fraud: s.cfg.Fraud, Sessions: s.cfg.Sessions, MaxCalls: s.cfg.MaxCalls / s.cfg.Shards, UserAgent: s.cfg.UserAgent,
			Hosts: hosts, Domains: s.cfg.StrictDomains, Interim: s.cfg.Interim, Interims: s.cfg.Interims,
		}, sh, time.Now())
		sh.core.SetKeys(keys.calls)
		s.shards = append(s.shards, sh)
	}
	s.verifier = verifier
	return nil
}

func derive(key []byte, purpose string) []byte {
	out, err := hkdf.Key(sha256.New, key, nil, "tandem "+purpose, 32)
	if err != nil {
		panic("sbc: hkdf: " + err.Error()) // 32 bytes are always within bounds
	}
	return out
}

// Start begins to read from the sockets.
func (s *Server) Start() {
	s.started.Store(true)
	for _, sh := range s.shards {
		s.running.Go(sh.run)
	}
	if s.registers != nil {
		s.running.Go(s.registers.run)
	}
	s.set.Start()
}

// HangUp ends every call and refuses new ones, and waits until the far ends have
// answered or ctx ends. The records of all calls are written by then.
func (s *Server) HangUp(ctx context.Context) {
	if !s.started.Load() {
		return
	}
	asked := make(chan struct{}, len(s.shards))
	for _, sh := range s.shards {
		sh.push(event{kind: evAsk, ask: func(core *b2bua.Shard) {
			defer func() { asked <- struct{}{} }()
			core.Shutdown(time.Now())
		}})
	}
	for range s.shards {
		select {
		case <-asked:
		case <-ctx.Done():
			return
		}
	}
	tick := time.NewTicker(hangUpTick)
	defer tick.Stop()
	for s.Stats().Calls > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Stop closes the sockets and ends the shards. Calls that are up are left to
// their far ends: HangUp comes before Stop.
func (s *Server) Stop() error {
	if s.ended() {
		return nil
	}
	err := s.set.Close()
	close(s.stopped)
	s.running.Wait()
	if err != nil {
		return fmt.Errorf("sbc: %w", err)
	}
	return nil
}

// ended tells whether Stop has been called.
func (s *Server) ended() bool {
	select {
	case <-s.stopped:
		return true
	default:
		return false
	}
}

// Seed keys the hashes that all nodes compute alike.
func (s *Server) Seed() uint64 { return s.seed }

// Addr returns the address of a listener by its index.
func (s *Server) Addr(listener int) netip.AddrPort { return s.set.Addr(listener) }

// Publish makes a table and a view the ones in force, in one step. The turns
// of groups that stay go on.
func (s *Server) Publish(t *trunkgroup.Table, v *trunkgroup.View) {
	next := &routing{table: t, view: v}
	old := s.routing.Load()
	if old != nil && old.table == t {
		next.turns = old.turns
	} else {
		for _, g := range t.Groups() {
			turn := new(atomic.Uint64)
			if old != nil {
				if was := old.table.Group(g.Name); was != nil {
					turn = old.turns[was.Index]
				}
			}
			next.turns = append(next.turns, turn)
		}
	}
	s.routing.Store(next)
}

// SetIsolated says whether the node believes to have lost the network (DEC-12).
func (s *Server) SetIsolated(isolated bool) { s.isolated.Store(isolated) }

// Stats adds up what the shards hold.
func (s *Server) Stats() b2bua.Stats {
	var sum b2bua.Stats
	for _, sh := range s.shards {
		st := sh.stats.Load()
		if st == nil {
			continue
		}
		sum.Calls += st.Calls
		sum.Transactions += st.Transactions
		sum.Requests += st.Requests
		sum.Dialogs += st.Dialogs
		sum.Lingering += st.Lingering
		sum.Open += st.Open
		sum.Passed += st.Passed
		sum.PassedStreams += st.PassedStreams
	}
	return sum
}

// Dropped is the number of messages and events that found their shard's queue
// full.
func (s *Server) Dropped() (n uint64) {
	for _, sh := range s.shards {
		n += sh.inbox.lost()
	}
	return n
}

// Surged is the number of new INVITEs that readers dropped unread.
func (s *Server) Surged() uint64 { return s.surge.dropped.Load() }

// Panics is the number of calls that a fault of ours has ended.
func (s *Server) Panics() uint64 { return s.panics.Load() }

// CloseFrom closes the accepted connections from a network and returns how many
// there were.
func (s *Server) CloseFrom(p netip.Prefix, spared func(netip.Addr) bool) int {
	return s.set.CloseFrom(p, spared)
}

// Transport returns the counters of the sockets.
func (s *Server) Transport() *transport.Counters { return s.set.Counters() }

// Packets implements transport.Handler: each message goes to its shard.
func (s *Server) Packets(batch []transport.Packet) {
	if batch = s.foreignOnly(batch); len(batch) == 0 {
		return
	}
	if len(s.shards) == 1 {
		s.shards[0].deliver(batch)
		return
	}
	for i := range batch {
		s.shardOf(batch[i].Message).deliver(batch[i : i+1])
	}
}

// shardOf finds the shard of a message: a response by our branch, a request by
// its Call-ID.
func (s *Server) shardOf(m *sip.Message) *shard {
	if !m.IsRequest() {
		if b, ok := b2bua.ParseBranch(m.Branch()); ok {
			return s.shards[int(b.Shard)%len(s.shards)]
		}
		return s.shards[0]
	}
	if id, ok := mint.Peek(m.CallID()); ok && id.Node == s.nodeID && id.Boot == s.cfg.Boot {
		return s.shards[int(id.Shard)%len(s.shards)]
	}
	return s.shards[b2bua.CallHash(s.seed, m.CallID())%uint64(len(s.shards))]
}

// Reject implements transport.Handler: the gate's verdict is answered at once,
// without a call, to the packet's source.
func (s *Server) Reject(p transport.Packet, f *sip.Fault) {
	s.shards[0].traffic.Refused(p.Transport, f.Code)
	if s.own.sent(p.Transport, p.Source) {
		return
	}
	if f.Code == 0 || f.Message == nil || !f.Message.IsRequest() || f.Message.Method() == sip.ACK {
		return
	}
	b := sip.AppendResponse(nil, f.Message, f.Code, f.Reason, []byte("gate"), p.Source, nil, nil, nil)
	s.rejectMu.Lock()
	defer s.rejectMu.Unlock()
	s.rejects.Send(p.Reply(), b, 0)
	s.rejects.Flush()
}

// Failed implements transport.Handler.
func (s *Server) Failed(ref uint64, _ transport.Target, err error) {
	if icmp, ok := errors.AsType[*transport.ICMPError](err); ok {
		b, ok := b2bua.ParseBranch(icmp.Branch)
		if !ok {
			return
		}
		ref = b.Token
	}
	if ref != 0 {
		s.failed(ref, err)
	}
}

// Closed implements transport.Handler. A call outlives its connection: what it
// still has to send finds another way or fails by itself. What is registered
// by it gets no call any more.
func (s *Server) Closed(f transport.Flow) {
	if s.registers != nil {
		s.registers.closed(f)
	}
}
