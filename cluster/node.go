package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/dialmap"
	"github.com/tandem-sbc/tandem/cluster/gossip"
	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Protocol is the version of what nodes say to each other by gossip, by frames and in
// the log. 2 knows canaries (package fsm, kinds 2 to 5), 3 the number table (kind 6), 4 the
// rate decks (kind 7).
const Protocol = 4

// Node is this process as a member of the cluster.
type Node struct {
	cfg  Config
	log  *slog.Logger
	boot uint64
	// vault seals what is on disk; inClear says what of an older version is not sealed, and why.
	vault   *vault
	inClear string

	via       dialmap.Map
	ic        *interconnect.Interconnect
	gossip    *gossip.Gossip
	layer     *streamLayer
	machine   *machine
	publisher *publisher
	decks     *deckKeeper
	alarms    alarms
	census    census
	removed   removed
	fence     *fence
	lives     lives
	raft      *consensus // set by Start
	started   time.Time

	onRecord  []func(gossip.Record)
	onMembers []func([]gossip.Member)

	nudge     chan struct{} // one token: housekeeping is due
	proposals chan struct{} // one token per proposal that is served
	offering  atomic.Bool   // the initial document is being proposed
	// condensing: a snapshot is being taken.
	condensing   atomic.Bool
	turn         turn
	numbersLower lower // see watchNumbers
	decksLower   lower // see watchDecks

	lowerSince time.Time // see watchVersion

	mu         sync.Mutex
	meta, told gossip.Meta
	lostQuorum time.Time // zero while there is a quorum
	keys       *keyring.Keyring
	identity   *pki.Identity // nil: streams are without TLS
	plain      bool          // streams without TLS are taken although there is an identity
	keysTold   time.Time     // when the other nodes were told of keys and certificate
	keysOdd    time.Time     // since when nodes differ in their keys; zero: they do not
	serving    map[net.Conn]struct{}
	stopping   bool

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// New opens the data directory and the sockets, raises the boot number and loads
// the last known good document. It sends nothing but, when the data directory has
// no boot number, questions to the peers; the context bounds these. Register what
// is to be called before Start. A Node that is not started must still be stopped.
func New(ctx context.Context, cfg Config) (*Node, error) {
	cfg, via, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("cluster: data directory: %w", err)
	}
	n := &Node{
		cfg: cfg, log: cfg.Logger, via: via, keys: cfg.Keys, identity: cfg.Identity, plain: cfg.Plain, nudge: make(chan struct{}, 1),
		proposals: make(chan struct{}, maxProposals), serving: make(map[net.Conn]struct{}),
	}
	n.alarms.tell = append(n.alarms.tell, n.logAlarm)
	if n.vault, err = openVault(cfg.DataDir, cfg.Keys); err != nil {
		return nil, err
	}
	n.publisher = newPublisher(&n.cfg, n.vault, &n.alarms)
	n.machine = newMachine(cfg.Cluster, cfg.Site, n.publisher.offer, n.publisher.offerNumbers, func(err error) { n.alarms.raise(AlarmHalted, err.Error()) })
	n.decks = newDeckKeeper(&n.cfg, n.vault, &n.alarms)
	n.machine.decks = n.decks.offer
	if err := n.openLog(); err != nil {
		return nil, err
	}
	n.resealAll()
	n.keepWrapped()
	if err := n.build(ctx, via); err != nil {
		return nil, errors.Join(err, n.closeLog())
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n, nil
}

// build does the part of New whose failure must close the store.
func (n *Node) build(ctx context.Context, via dialmap.Map) error {
	if err := errors.Join(n.publisher.load(), n.decks.load()); err != nil {
		return err
	}
	streams := interconnect.Config{
		Cluster: n.cfg.Cluster, Node: n.cfg.Node, Site: n.cfg.Site, Keys: n.cfg.Keys,
		Identity: n.cfg.Identity, Plain: n.cfg.Plain,
		DialMap: via, Dial: n.cfg.Network.Dial, Heartbeat: n.cfg.Heartbeat, ClockOffset: n.cfg.ClockOffset,
		Advertise: n.cfg.Interconnect.Address, Logger: n.log.With("component", "interconnect"),
	}
	var err error
	lost := false
	n.boot, err = nextBoot(n.cfg.DataDir, func() uint64 {
		seen := askPeers(ctx, streams, n.cfg.Peers)
		lost = seen > 0
		return seen
	})
	if err == nil && lost {
		err = n.lostLog()
	}
	if err != nil {
		return err
	}
	streams.Boot = n.boot
	s, err := openSockets(&n.cfg)
	if err != nil {
		return err
	}
	if err := n.assemble(streams, s, via); err != nil {
		return errors.Join(err, s.close())
	}
	return nil
}

// assemble makes the parts over open sockets.
func (n *Node) assemble(streams interconnect.Config, s *sockets, via dialmap.Map) error {
	streams.Listeners, streams.Packets, streams.Advertise = s.streams, s.beats, s.interconnect
	var err error
	if n.ic, err = interconnect.New(streams); err != nil {
		return err
	}
	n.ic.OnStaleBoot(n.staleBoot)
	n.ic.OnChange(n.catchUp)
	n.ic.OnChange(n.tellEpoch)
	n.ic.OnFrame(kindEpoch, kindEpoch, n.hearEpoch)
	n.ic.OnFrame(kindRemoved, kindRemoved, n.hearRemoved)
	n.ic.OnChange(n.backAgain)
	n.ic.OnStream(hello.Propose, n.serveProposal)
	n.layer = newStreamLayer(n.ic, s.raft, n.nameOf)
	n.meta = gossip.Meta{
		Protocol: Protocol, Witness: n.cfg.Witness, Boot: n.boot, Site: n.cfg.Site, State: StateStarting,
		Interconnect: s.interconnect, Raft: s.raft, Build: n.cfg.Build, Metrics: n.cfg.Metrics,
	}
	n.told = n.meta
	var seeds []string
	for _, p := range n.cfg.Peers {
		if p.Gossip != "" {
			seeds = append(seeds, p.Gossip)
		}
	}
	n.gossip, err = gossip.New(gossip.Config{
		Cluster: n.cfg.Cluster, Node: n.cfg.Node, Boot: n.boot, Keys: n.cfg.Keys,
		Packets: s.packets, Streams: s.gossip, Advertise: s.advertiseGossip, DialMap: via, Dial: n.cfg.Network.Dial,
		Seeds: seeds, Meta: n.meta, Logger: n.log.With("component", "gossip"),
		OnRecord: n.tellRecord, OnMembers: n.tellMembers, OnStaleBoot: n.staleBoot, Direct: n.direct,
	})
	if err != nil {
		return err
	}
	n.ic.OnFrame(kindRecords, kindRecords, func(from string, _ byte, payload []byte) { n.gossip.Receive(from, payload) })
	return nil
}

// OnTable registers a function that is told of every table that becomes the running
// one. The first call comes from Start, when the disk holds a last known good one;
// later ones from one goroutine.
func (n *Node) OnTable(f func(*trunkgroup.Table)) { n.publisher.tell = append(n.publisher.tell, f) }

// OnRecord registers a function that is told of each record of another node that is
// news, on one goroutine.
func (n *Node) OnRecord(f func(gossip.Record)) { n.onRecord = append(n.onRecord, f) }

// OnMembers registers a function that is told of the membership after each change,
// on the goroutine of OnRecord.
func (n *Node) OnMembers(f func([]gossip.Member)) { n.onMembers = append(n.onMembers, f) }

// OnPeer registers a function that is told of every node that came up or was lost
// (DEC-21). It must not block.
func (n *Node) OnPeer(f func(interconnect.Peer)) { n.ic.OnChange(f) }

// OnFrame registers the handler of a range of frame kinds (16..239); see
// interconnect.Interconnect.OnFrame.
func (n *Node) OnFrame(first, last byte, h interconnect.Handler) { n.ic.OnFrame(first, last, h) }

// OnAlarm registers a function that is told of every alarm that is raised or cleared.
func (n *Node) OnAlarm(f func(Alarm)) { n.alarms.tell = append(n.alarms.tell, f) }

// Start publishes the last known good table, then meets the other nodes and starts
// the consensus (DEC-14: load, open SIP, then Raft). It does not wait for anybody.
func (n *Node) Start() error {
	n.decks.start() // before the first table, whose plans may go by them
	n.publisher.start()
	n.mu.Lock()
	n.raft = newConsensus(&n.cfg, n.machine, n.fence, n.layer)
	n.started = time.Now()
	n.mu.Unlock()
	n.lives.mu.Lock()
	n.beginLife()
	n.lives.mu.Unlock()
	n.meetMembers(nil)
	n.ic.Start()
	if err := n.gossip.Start(); err != nil {
		return err
	}
	n.wg.Go(n.keep)
	n.wg.Go(n.keepKeys)
	return nil
}

// running returns raft once it was started.
func (n *Node) running() (*consensus, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.raft, n.raft != nil
}

// Stop gives leadership away, says goodbye to gossip and ends everything; the context
// bounds the courtesies. It may be called repeatedly and on a node that failed to
// start.
func (n *Node) Stop(ctx context.Context) error {
	n.mu.Lock()
	if n.stopping {
		n.mu.Unlock()
		return nil
	}
	n.stopping = true
	for c := range n.serving {
		_ = c.Close()
	}
	n.mu.Unlock()
	var faults []error
	step := func(name string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("stop %s: %w", name, err))
		}
	}
	_, started := n.running()
	if started {
		n.handOver(ctx)
	}
	n.cancel()
	n.wg.Wait()
	step("gossip", n.gossip.Stop(ctx))
	if started {
		step("raft", n.endLives())
	}
	step("raft streams", n.layer.Close())
	n.ic.Stop()
	n.publisher.close()
	n.decks.close()
	step("raft log", n.closeLog())
	return errors.Join(faults...)
}

func (n *Node) tellRecord(r gossip.Record) {
	if r.Key == keysRecord {
		return
	}
	for _, f := range n.onRecord {
		f(r)
	}
}

func (n *Node) tellMembers(members []gossip.Member) {
	n.meetMembers(members)
	n.poke()
	for _, f := range n.onMembers {
		f(members)
	}
}

func (n *Node) logAlarm(a Alarm) {
	if a.Active {
		n.log.Error("alarm raised", "alarm", a.Name, "detail", a.Detail)
		return
	}
	n.log.Info("alarm cleared", "alarm", a.Name)
}

// staleBoot notes on disk that peers know a later boot of this node, so that the
// next start is above it, and raises the alarm that asks for one (DEC-13).
func (n *Node) staleBoot(seen uint64) {
	if seen <= n.boot {
		return
	}
	if err := writeBoot(n.cfg.DataDir, seen); err != nil {
		n.log.Error("boot number cannot be saved", "error", err)
	}
	n.alarms.raise(AlarmBoot, fmt.Sprintf("this process is boot %d, but peers have seen boot %d: restart it", n.boot, seen))
}

// nameOf returns the node behind a raft address.
func (n *Node) nameOf(address string) string {
	for _, m := range n.gossip.Members() {
		if m.Meta.Raft == address {
			return m.Name
		}
	}
	for _, v := range n.cfg.Voters {
		if v.Address == address {
			return v.Name
		}
	}
	return ""
}

// poke starts a round of housekeeping.
func (n *Node) poke() {
	select {
	case n.nudge <- struct{}{}:
	default:
	}
}

// track puts a served connection into Stop's care; false when the node is stopping,
// and the connection is closed.
func (n *Node) track(conn net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopping || n.raft == nil {
		_ = conn.Close()
		return false
	}
	n.serving[conn] = struct{}{}
	n.wg.Add(1)
	return true
}

func (n *Node) untrack(conn net.Conn) {
	n.mu.Lock()
	delete(n.serving, conn)
	n.mu.Unlock()
	_ = conn.Close()
	n.wg.Done()
}

// handOver gives leadership away if this node has it.
func (n *Node) handOver(ctx context.Context) {
	if n.raft.State() != raft.Leader {
		return
	}
	done := make(chan error, 1)
	go func() {
		done <- n.raft.do(func(r *raft.Raft) raft.Future { return r.LeadershipTransfer() })
	}()
	select {
	case err := <-done:
		n.log.Debug("leadership given away", "error", err)
	case <-ctx.Done():
	}
}
