package gossip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/logs"
)

// inboxLength is how many messages of peers may wait; more are dropped and the
// next full exchange brings what they said.
const inboxLength = 4096

// Gossip is one node's part in the gossip.
type Gossip struct {
	cfg       Config
	transport *transport
	list      *memberlist.Memberlist
	queue     memberlist.TransmitLimitedQueue
	meta      atomic.Pointer[[]byte]

	inbox      chan message
	membership chan struct{} // one token: the membership changed
	stales     chan uint64   // boot numbers of this node's own name that are too high
	dropped    atomic.Uint64
	forged     atomic.Uint64
	malformed  atomic.Uint64
	alive      atomic.Int64 // how many members there are

	mu      sync.Mutex
	members map[string]Member
	store   *store
	seq     uint64

	keysMu sync.Mutex
	keys   *keyring.Keyring
	ring   *memberlist.Keyring // set by Start

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// message is a batch of records as it came; spread means that it is to be passed on.
// from is the node whose own stream brought it; empty: gossip did.
type message struct {
	batch  []byte
	spread bool
	from   string
}

// Stats are counts since the start, for metrics.
type Stats struct {
	Members   int
	Records   int
	Queued    int    // broadcasts that wait
	Dropped   uint64 // messages that a full inbox dropped
	Malformed uint64 // messages that could not be read
	Refused   uint64 // records beyond MaxRecords
	Forged    uint64 // records of another observer than the node whose stream brought them
}

// New checks the configuration. It opens nothing.
func New(cfg Config) (*Gossip, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	advertise, err := advertised(cfg.Advertise)
	if err != nil {
		return nil, err
	}
	g := &Gossip{
		cfg: cfg, transport: newTransport(&cfg, advertise),
		inbox:      make(chan message, inboxLength),
		membership: make(chan struct{}, 1),
		stales:     make(chan uint64, 1),
		members:    make(map[string]Member),
		store:      newStore(),
		keys:       cfg.Keys,
	}
	g.queue.RetransmitMult = 4
	// The queue asks under its own lock, so this must not take ours.
	g.queue.NumNodes = func() int { return max(int(g.alive.Load()), 1) }
	if err := g.encodeMeta(cfg.Meta); err != nil {
		return nil, err
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g, nil
}

// Start joins the gossip; seeds are dialled in the background.
func (g *Gossip) Start() error {
	conf := memberlist.DefaultLANConfig()
	conf.Name = g.cfg.Node
	conf.Transport = g.transport
	conf.Label = g.cfg.Cluster
	conf.Delegate, conf.Events, conf.Conflict = delegate{g}, delegate{g}, delegate{g}
	conf.LogOutput = logs.Lines(g.cfg.Logger)
	conf.EnableCompression = false
	conf.TCPTimeout = 5 * time.Second
	// A node that comes back on another address is not locked out by its old self.
	conf.DeadNodeReclaimTime = 10 * time.Second
	ring, err := g.newRing()
	if err != nil {
		return err
	}
	conf.Keyring = ring
	g.transport.start()
	list, err := memberlist.Create(conf)
	if err != nil {
		g.cancel()
		return errors.Join(fmt.Errorf("gossip: start: %w", err), g.transport.Shutdown())
	}
	g.list = list
	g.wg.Go(g.work)
	g.wg.Go(g.rejoin)
	return nil
}

// Stop says goodbye, so that the others need not suspect this node, for as long as
// the context allows, and ends all. It may be called repeatedly.
func (g *Gossip) Stop(ctx context.Context) error {
	if g.stopped() {
		return nil
	}
	if g.list == nil {
		g.cancel()
		return g.transport.Shutdown()
	}
	patience := time.Second
	if at, ok := ctx.Deadline(); ok {
		patience = min(patience, max(time.Until(at), time.Millisecond))
	}
	// That nobody heard the goodbye is no fault: the others will see it themselves.
	if err := g.list.Leave(patience); err != nil {
		g.cfg.Logger.Debug("leave was not heard", "error", err)
	}
	g.cancel()
	err := g.list.Shutdown()
	g.wg.Wait()
	return err
}

// rejoin dials the seeds that are no members: at once, then with growing pauses up
// to Config.Rejoin, for as long as the node runs.
func (g *Gossip) rejoin() {
	pause := g.cfg.Rejoin / 20
	for {
		if absent := g.missing(); len(absent) > 0 {
			if n, err := g.list.Join(absent); n == 0 {
				g.cfg.Logger.Debug("no missing seed answers", "seeds", absent, "error", err)
			}
			pause = min(2*pause, g.cfg.Rejoin)
		} else {
			pause = g.cfg.Rejoin
		}
		timer := time.NewTimer(pause*3/4 + rand.N(pause/2+1))
		select {
		case <-g.ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// SetMeta changes what the node tells of itself and waits until that was sent to
// somebody, at most a second.
func (g *Gossip) SetMeta(m Meta) error {
	if err := g.encodeMeta(m); err != nil {
		return err
	}
	if g.list == nil || g.stopped() {
		return nil
	}
	if err := g.list.UpdateNode(time.Second); err != nil {
		return fmt.Errorf("gossip: update: %w", err)
	}
	return nil
}

func (g *Gossip) stopped() bool {
	select {
	case <-g.ctx.Done():
		return true
	default:
		return false
	}
}

func (g *Gossip) encodeMeta(m Meta) error {
	b, err := m.Append(nil)
	if err != nil {
		return err
	}
	g.meta.Store(&b)
	return nil
}

// Stats returns the counts.
func (g *Gossip) Stats() Stats {
	queued := g.queue.NumQueued()
	g.mu.Lock()
	defer g.mu.Unlock()
	return Stats{
		Members: len(g.members), Records: len(g.store.records), Queued: queued,
		Forged:  g.forged.Load(),
		Dropped: g.dropped.Load(), Malformed: g.malformed.Load(), Refused: g.store.refused,
	}
}
