package interconnect

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/logs"
)

// Peer is what this node knows of another one. Up means: a frame that is sent now
// is likely to arrive.
type Peer struct {
	Name    string
	Site    string
	Address string // advertised interconnect address
	Up      bool
	Since   time.Time     // when Up last changed
	Heard   time.Time     // when anything of it was last read; the snapshot is renewed rarely
	RTT     time.Duration // smoothed; 0 when never measured
	Boot    uint64        // of the process that was connected last; 0 when none was
	// ClockOffset is the peer's wall clock minus ours, as good as half the round trip.
	ClockOffset time.Duration
	// TLS: the stream to it is encrypted and its name proven by a certificate.
	TLS bool
	// Refused says why keys or certificates kept the last dial from coming about; empty
	// when they did not. RefusedAt is since when.
	Refused   string
	RefusedAt time.Time
}

// Endpoint names a node to connect to.
type Endpoint struct {
	Name    string
	Site    string
	Address string // advertised interconnect address, host:port
}

// Handler takes one frame. It runs on the goroutine that reads the peer's stream:
// frames of one peer come in their order, and a handler that blocks delays the
// heartbeats of that peer. The payload belongs to the handler.
type Handler func(from string, kind byte, payload []byte)

// Interconnect holds the streams of one node.
type Interconnect struct {
	cfg      Config
	identity hello.Local

	// Set before Start, read-only afterwards.
	handlers [256]Handler
	onChange []func(Peer)
	onStream map[hello.Purpose]func(net.Conn, hello.Remote)
	onBoot   []func(seen uint64)
	onJoin   func(conn net.Conn, from string) error
	joinOpen func() bool

	peers    atomic.Pointer[map[string]*peer]
	snapshot atomic.Pointer[[]Peer]
	count    counters
	refusals logs.Limiter
	trust    atomic.Pointer[trust]

	mu       sync.Mutex
	seen     map[string]uint64     // highest boot number per node name
	sessions map[uint64]*peer      // who signs datagrams so
	open     map[net.Conn]struct{} // accepted connections that Stop closes
	pending  map[string]int        // handshakes in flight by address
	links    map[*link]struct{}    // streams that proved themselves
	refused  map[string]uint64     // streams that were not taken, by reason
	waiting  int
	ctx      context.Context
	cancel   context.CancelFunc
	started  bool
	stopped  bool
	wg       sync.WaitGroup
}

// New checks the configuration. Nothing is read from the listeners before Start.
func New(cfg Config) (*Interconnect, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	i := &Interconnect{
		cfg:      cfg,
		onStream: make(map[hello.Purpose]func(net.Conn, hello.Remote)),
		seen:     make(map[string]uint64),
		sessions: make(map[uint64]*peer),
		open:     make(map[net.Conn]struct{}),
		pending:  make(map[string]int),
		links:    make(map[*link]struct{}),
		refused:  make(map[string]uint64),
	}
	i.identity = hello.Local{
		Cluster: cfg.Cluster, Node: cfg.Node, Site: cfg.Site,
		Address: cfg.Advertise, Boot: cfg.Boot, Seen: i.highestBoot,
	}
	i.trust.Store(&trust{keys: cfg.Keys, identity: cfg.Identity, plain: cfg.Plain})
	i.peers.Store(&map[string]*peer{})
	i.snapshot.Store(&[]Peer{})
	i.ctx, i.cancel = context.WithCancel(context.Background())
	return i, nil
}

// OnFrame registers the handler of the kinds first..last, which must be user
// kinds. Call it before Start.
func (i *Interconnect) OnFrame(first, last byte, h Handler) {
	if first < FirstUserKind || last < first {
		panic(fmt.Sprintf("interconnect: kinds %d..%d are not for users", first, last))
	}
	for k := int(first); k <= int(last); k++ {
		i.handlers[k] = h
	}
}

// OnChange registers a function that is told of every peer that came up or was
// lost, in order per peer. It must not block. Call it before Start.
func (i *Interconnect) OnChange(f func(Peer)) { i.onChange = append(i.onChange, f) }

// OnStream registers the taker of accepted streams of another purpose than the
// interconnect's own; it gets the connection behind the handshake, owns it and
// must not block. Call it before Start.
func (i *Interconnect) OnStream(p hello.Purpose, f func(net.Conn, hello.Remote)) { i.onStream[p] = f }

// OnStaleBoot registers a function that is told when a peer has seen a boot number
// of this node which is not below its own (DEC-13): this node lost its data and
// must start again above seen. Call it before Start.
func (i *Interconnect) OnStaleBoot(f func(seen uint64)) { i.onBoot = append(i.onBoot, f) }

// Start begins to accept, and to dial the peers that SetPeers named.
func (i *Interconnect) Start() {
	i.mu.Lock()
	i.started = true
	i.mu.Unlock()
	for _, l := range i.cfg.Listeners {
		i.wg.Go(func() { i.acceptLoop(l) })
	}
	i.wg.Go(i.reviewLoop)
	if i.cfg.Packets != nil {
		i.wg.Go(i.listenBeside)
		i.wg.Go(i.talkBeside)
	}
	for _, p := range *i.peers.Load() {
		i.launch(p)
	}
}

// Stop closes every stream and all listeners and waits for all goroutines,
// handlers included. It may be called repeatedly.
func (i *Interconnect) Stop() {
	i.mu.Lock()
	i.stopped = true
	i.cancel()
	for _, l := range i.cfg.Listeners {
		// An error says only that it was closed before.
		_ = l.Close()
	}
	if i.cfg.Packets != nil {
		_ = i.cfg.Packets.Close()
	}
	for c := range i.open {
		_ = c.Close()
	}
	i.mu.Unlock()
	i.wg.Wait()
}

// Send queues a frame for a node and never blocks; the payload is copied. False
// means that the frame was not sent: the node is unknown, it has no stream, its
// queue is full, or the payload is larger than MaxPayload. True is no promise of
// arrival.
func (i *Interconnect) Send(node string, kind byte, payload []byte) bool {
	p := (*i.peers.Load())[node]
	if p == nil || kind < FirstUserKind || len(payload) > MaxPayload {
		i.count.down.Add(1)
		return false
	}
	s := p.out.Load()
	if s == nil {
		i.count.down.Add(1)
		return false
	}
	if !s.send(kind, payload) && !p.sendRenewed(s, kind, payload) {
		i.count.full.Add(1)
		return false
	}
	i.count.sent.Add(1)
	return true
}

// Peers returns all known peers by name. The slice is shared: do not change it.
func (i *Interconnect) Peers() []Peer { return *i.snapshot.Load() }

// Peer returns one peer by its name.
func (i *Interconnect) Peer(name string) (Peer, bool) {
	peers := i.Peers()
	at, ok := slices.BinarySearchFunc(peers, name, func(p Peer, n string) int { return strings.Compare(p.Name, n) })
	if !ok {
		return Peer{}, false
	}
	return peers[at], true
}

// Dial opens a stream of another purpose to a node at its advertised address and
// returns it behind the handshake. target may be empty: any member will do.
func (i *Interconnect) Dial(ctx context.Context, address string, purpose hello.Purpose, target string) (net.Conn, hello.Remote, error) {
	conn, remote, err := i.dial(ctx, i.identity, address, purpose, target)
	if err != nil {
		return nil, remote, err // not a nil *link in an interface
	}
	return conn, remote, nil
}

// publish rebuilds the snapshot that Peers returns.
func (i *Interconnect) publish() {
	i.mu.Lock()
	defer i.mu.Unlock()
	peers := *i.peers.Load()
	list := make([]Peer, 0, len(peers))
	for _, p := range peers {
		list = append(list, p.describe())
	}
	slices.SortFunc(list, func(a, b Peer) int { return strings.Compare(a.Name, b.Name) })
	i.snapshot.Store(&list)
}

func (i *Interconnect) highestBoot(node string) uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.seen[node]
}

func (i *Interconnect) noteBoot(node string, boot uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.seen[node] = max(i.seen[node], boot)
}
