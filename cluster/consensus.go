package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/tandem-sbc/tandem/cluster/logs"
)

// Bounds of the log on disk: every entry may hold a whole document, so snapshots
// are taken after few of them.
const (
	snapshotThreshold = 32
	trailingLogs      = 16
	maxAppendEntries  = 4
	retainSnapshots   = 2
	rpcTimeout        = 5 * time.Second
	connectionPool    = 3
	lockTimeout       = time.Second
)

// store is raft's log and votes on disk.
type store struct {
	dir string
	log *raftboltdb.BoltStore
}

// openStore opens the log. It holds a lock on the file, so a second process with
// the same data directory stops here, before it can spend a boot number.
func openStore(dataDir string) (*store, error) {
	dir := filepath.Join(dataDir, "raft")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cluster: data directory: %w", err)
	}
	log, err := raftboltdb.New(raftboltdb.Options{
		Path:        filepath.Join(dir, "log.db"),
		BoltOptions: &bbolt.Options{Timeout: lockTimeout},
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("cluster: %s is in use by another process: %w", dataDir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: raft log: %w", err)
	}
	return &store{dir: dir, log: log}, nil
}

// consensus is the running raft of one node.
type consensus struct {
	*raft.Raft
	transport *raft.NetworkTransport
	leaders   chan raft.Observation // one token: the leader changed
	observer  *raft.Observer
}

// startRaft starts raft and bootstraps it at the first start of a voter.
func startRaft(cfg *Config, s *store, m *machine, layer *streamLayer) (*consensus, error) {
	log := logs.HCLog(cfg.Logger.With("component", "raft"))
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(s.dir, retainSnapshots, log)
	if err != nil {
		return nil, fmt.Errorf("cluster: snapshots: %w", err)
	}
	transport := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: layer, MaxPool: connectionPool, Timeout: rpcTimeout, Logger: log,
	})
	conf := raftConfig(cfg)
	conf.Logger = log
	if err := bootstrap(cfg, conf, s, snapshots, transport); err != nil {
		return nil, errors.Join(err, transport.Close())
	}
	r, err := raft.NewRaft(conf, m, s.log, s.log, snapshots, transport)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cluster: raft: %w", err), transport.Close())
	}
	c := &consensus{Raft: r, transport: transport, leaders: make(chan raft.Observation, 1)}
	c.observer = raft.NewObserver(c.leaders, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	r.RegisterObserver(c.observer)
	return c, nil
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
	conf.SnapshotThreshold, conf.TrailingLogs = snapshotThreshold, trailingLogs
	conf.MaxAppendEntries = maxAppendEntries
	conf.ShutdownOnRemove = false
	conf.NoLegacyTelemetry = true
	return conf
}

// bootstrap writes the founding configuration at the first start of a voter. All
// voters write the same one, so it does not matter who is first.
func bootstrap(cfg *Config, conf *raft.Config, s *store, snapshots raft.SnapshotStore, t raft.Transport) error {
	if !cfg.voter() {
		return nil
	}
	old, err := raft.HasExistingState(s.log, s.log, snapshots)
	if err != nil {
		return fmt.Errorf("cluster: raft state: %w", err)
	}
	if old {
		return nil
	}
	var founding raft.Configuration
	for _, v := range cfg.Voters {
		founding.Servers = append(founding.Servers, raft.Server{
			Suffrage: raft.Voter, ID: raft.ServerID(v.Name), Address: raft.ServerAddress(v.Address),
		})
	}
	if err := raft.BootstrapCluster(conf, s.log, s.log, snapshots, t, founding); err != nil {
		return fmt.Errorf("cluster: bootstrap: %w", err)
	}
	return nil
}

// close ends raft and its transport.
func (c *consensus) close() error {
	c.DeregisterObserver(c.observer)
	err := c.Shutdown().Error()
	return errors.Join(err, c.transport.Close())
}
