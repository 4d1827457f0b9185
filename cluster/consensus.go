package cluster

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/logs"
)

// Bounds of the log on disk: every entry may hold a whole document, so snapshots
// are taken after few of them (see condense), and by raft itself when that fails.
const (
	snapshotThreshold = 32
	raftThreshold     = 16384
	trailingLogs      = 16
	maxAppendEntries  = 4
	retainSnapshots   = 2
	rpcTimeout        = 5 * time.Second
	connectionPool    = 3
)

// consensus is raft of one node. raft may end and begin again while the node works:
// when the disk fails, and at a recovery. Between two lives every question has an
// answer, and every RPC is refused.
type consensus struct {
	cfg       *Config
	machine   *machine
	fence     *fence
	transport *raft.NetworkTransport
	leaders   chan raft.Observation // one token: the leader changed

	life    atomic.Pointer[life]
	pumping sync.WaitGroup
	done    chan struct{}
}

// life is one run of raft.
type life struct {
	raft      *raft.Raft
	last      atomic.Pointer[entryMark]
	transport *fencedTransport
	observer  *raft.Observer
}

func newConsensus(cfg *Config, m *machine, f *fence, layer *streamLayer) *consensus {
	c := &consensus{
		cfg: cfg, machine: m, fence: f, leaders: make(chan raft.Observation, 1), done: make(chan struct{}),
		transport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
			Stream: layer, MaxPool: connectionPool, Timeout: rpcTimeout,
			Logger: logs.HCLog(cfg.Logger.With("component", "raft")),
		}),
	}
	c.pumping.Go(c.pump)
	return c
}

// pump brings RPCs to the running raft, or refuses them.
func (c *consensus) pump() {
	for {
		select {
		case <-c.done:
			return
		case rpc := <-c.transport.Consumer():
			l := c.life.Load()
			err := c.fence.judge(rpc.Command)
			if err == nil && l == nil {
				err = errResting
			}
			if err != nil {
				c.pumping.Go(func() { refuse(rpc, err) })
				continue
			}
			c.pumping.Go(func() { l.transport.deliver(rpc) })
		}
	}
}

// begin starts raft over a store. A log with nothing in it is founded with the given
// servers, when there are any.
func (c *consensus) begin(s *store, founding []raft.Server) (err error) {
	l := &life{transport: &fencedTransport{
		NetworkTransport: c.transport, fence: c.fence, rpcs: make(chan raft.RPC), over: make(chan struct{}),
	}}
	defer func() {
		if p := recover(); p != nil {
			// raft panics when what it just read is not there any more.
			err = fmt.Errorf("cluster: raft: %w: %v", ErrStore, p)
		}
	}()
	conf, snapshots, err := c.tools(s)
	if err != nil {
		return err
	}
	if err := bootstrap(conf, s, snapshots, l.transport, founding); err != nil {
		return err
	}
	if l.raft, err = raft.NewRaft(conf, c.machine, s, s, snapshots, l.transport); err != nil {
		return fmt.Errorf("cluster: raft: %w: %w", ErrStore, err)
	}
	l.observer = raft.NewObserver(c.leaders, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	l.raft.RegisterObserver(l.observer)
	c.life.Store(l)
	return nil
}

// tools are what raft works with besides the store.
func (c *consensus) tools(s *store) (*raft.Config, raft.SnapshotStore, error) {
	conf := raftConfig(c.cfg)
	conf.Logger = logs.HCLog(c.cfg.Logger.With("component", "raft"))
	list, err := openSnapshots(s.dir, s.vault, c.cfg)
	if err != nil {
		return nil, nil, err
	}
	return conf, list, nil
}

// rest ends raft; the transport stays.
func (c *consensus) rest() error {
	l := c.life.Swap(nil)
	if l == nil {
		return nil
	}
	l.raft.DeregisterObserver(l.observer)
	c.transport.SetHeartbeatHandler(nil)
	err := l.raft.Shutdown().Error()
	close(l.transport.over)
	return err
}

// close ends raft and its transport.
func (c *consensus) close() error {
	err := errors.Join(c.rest(), c.transport.Close())
	close(c.done)
	c.pumping.Wait()
	return err
}

// resting reports whether raft does not run.
func (c *consensus) resting() bool { return c.life.Load() == nil }

// State is raft's; Shutdown while it rests.
func (c *consensus) State() raft.RaftState {
	if l := c.life.Load(); l != nil {
		return l.raft.State()
	}
	return raft.Shutdown
}

// LeaderWithID is raft's; nobody while it rests.
func (c *consensus) LeaderWithID() (raft.ServerAddress, raft.ServerID) {
	if l := c.life.Load(); l != nil {
		return l.raft.LeaderWithID()
	}
	return "", ""
}

// lastContact is when a leader was heard last; zero while raft rests.
func (c *consensus) lastContact() time.Time {
	if l := c.life.Load(); l != nil {
		return l.raft.LastContact()
	}
	return time.Time{}
}

// settle waits until the state machine has taken every entry that was committed so far;
// on a leader only.
func (c *consensus) settle(timeout time.Duration) error {
	if l := c.life.Load(); l != nil {
		return l.raft.Barrier(timeout).Error()
	}
	return raft.ErrRaftShutdown
}

// progress returns the indices of the last, the committed and the applied entry.
func (c *consensus) progress() (last, commit, applied uint64) {
	if l := c.life.Load(); l != nil {
		return l.raft.LastIndex(), l.raft.CommitIndex(), l.raft.AppliedIndex()
	}
	return 0, 0, 0
}

// lastEntry returns term and index of the last entry in the log.
func (c *consensus) lastEntry() (term, index uint64) {
	l := c.life.Load()
	if l == nil {
		return 0, 0
	}
	// An entry is replaced by one of a later term only.
	now := entryMark{current: l.raft.CurrentTerm(), index: l.raft.LastIndex()}
	if m := l.last.Load(); m != nil && m.current == now.current && m.index == now.index {
		return m.term, m.index
	}
	stats := l.raft.Stats()
	now.term, _ = strconv.ParseUint(stats["last_log_term"], 10, 64)
	now.index, _ = strconv.ParseUint(stats["last_log_index"], 10, 64)
	l.last.Store(&now)
	return now.term, now.index
}

// entryMark is the place of the last entry, as it was in a term.
type entryMark struct{ current, term, index uint64 }

func (c *consensus) term() uint64 {
	if l := c.life.Load(); l != nil {
		return l.raft.CurrentTerm()
	}
	return 0
}

// do waits for what raft is asked for.
func (c *consensus) do(ask func(*raft.Raft) raft.Future) error {
	l := c.life.Load()
	if l == nil {
		return errResting
	}
	return ask(l.raft).Error()
}

// apply commits a command and returns what the machine said.
func (c *consensus) apply(command []byte, timeout time.Duration) (any, error) {
	l := c.life.Load()
	if l == nil {
		return nil, errResting
	}
	future := l.raft.Apply(command, timeout)
	if err := future.Error(); err != nil {
		return nil, err
	}
	return future.Response(), nil
}

// servers returns the latest configuration.
func (c *consensus) servers() ([]raft.Server, error) {
	l := c.life.Load()
	if l == nil {
		return nil, errResting
	}
	future := l.raft.GetConfiguration()
	if err := future.Error(); err != nil {
		return nil, err
	}
	return future.Configuration().Servers, nil
}

func raftConfig(cfg *Config) *raft.Config {
	conf := raft.DefaultConfig()
	conf.LocalID = raft.ServerID(cfg.Node)
	conf.HeartbeatTimeout, conf.ElectionTimeout = cfg.RaftTimeout, cfg.RaftTimeout
	conf.LeaderLeaseTimeout = cfg.RaftTimeout / 2
	if cfg.Witness {
		// The others stand for election first.
		conf.HeartbeatTimeout, conf.ElectionTimeout = 3*cfg.RaftTimeout, 3*cfg.RaftTimeout
	}
	conf.SnapshotThreshold, conf.TrailingLogs = raftThreshold, trailingLogs
	conf.MaxAppendEntries = maxAppendEntries
	conf.ShutdownOnRemove = false
	conf.NoLegacyTelemetry = true
	return conf
}

// founding is the configuration that every founding voter writes at its first start:
// all write the same one, so it does not matter who is first. A node without a vote
// writes none.
func (c *Config) founding() []raft.Server {
	if !c.voter() {
		return nil
	}
	list := make([]raft.Server, 0, len(c.Voters))
	for _, v := range c.Voters {
		list = append(list, raft.Server{Suffrage: raft.Voter, ID: raft.ServerID(v.Name), Address: raft.ServerAddress(v.Address)})
	}
	return list
}

// bootstrap writes a configuration into a log that has nothing in it.
func bootstrap(conf *raft.Config, s *store, snapshots raft.SnapshotStore, t raft.Transport, founding []raft.Server) error {
	if len(founding) == 0 {
		return nil
	}
	old, err := raft.HasExistingState(s, s, snapshots)
	if err != nil {
		return fmt.Errorf("cluster: raft state: %w: %w", ErrStore, err)
	}
	if old {
		return nil
	}
	if err := raft.BootstrapCluster(conf, s, s, snapshots, t, raft.Configuration{Servers: founding}); err != nil {
		return fmt.Errorf("cluster: bootstrap: %w: %w", ErrStore, err)
	}
	return nil
}
