package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/tandem-sbc/tandem/cluster/dialmap"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Endpoint is an address to bind and the one that other nodes are told, both
// host:port. An empty Advertise means the address that was bound.
type Endpoint struct {
	Address   string
	Advertise string
}

// Voter is a founding member of the consensus.
type Voter struct {
	Name    string
	Address string // advertised raft address
}

// Peer is another node as the node file names it.
type Peer struct {
	Name         string
	Site         string
	Gossip       string // advertised gossip address
	Interconnect string // advertised interconnect address
}

// Network opens sockets. Nil in Config means the machine's own network.
type Network interface {
	Listen(address string) (net.Listener, error)
	ListenPacket(address string) (net.PacketConn, error)
	Dial(ctx context.Context, address string) (net.Conn, error)
}

// Config says who this node is and how it meets the others. It must not be changed
// after New.
type Config struct {
	Cluster string // id of the cluster
	Node    string // unique in the cluster
	Site    string
	// Witness nodes vote, take no calls and give leadership away.
	Witness bool
	DataDir string
	Keys    *keyring.Keyring
	// Identity is this node's certificate for the streams between nodes; nil: they are without TLS. Plain
	// takes streams without TLS beside it, for the time of a change.
	Identity *pki.Identity
	Plain    bool

	Interconnect Endpoint
	Gossip       Endpoint // UDP and TCP
	// Raft is the address of the consensus; without an Address it shares the
	// interconnect's.
	Raft    Endpoint
	Voters  []Voter
	Peers   []Peer
	DialMap []dialmap.Rule
	Network Network

	// Compile validates a document and makes the table of it. Nil, as for a witness:
	// documents are kept and never published.
	Compile func(document []byte, v trunkgroup.Version) (*trunkgroup.Table, error)
	// Initial is the document to begin with while the cluster has none; empty: none.
	Initial []byte
	// Build is the version of the program, told to the other nodes.
	Build string
	// Metrics is where Prometheus reads this node's metrics, told to the other nodes; empty: nowhere.
	Metrics string

	// Heartbeat is the interconnect's; 0 means its default.
	Heartbeat time.Duration
	// ClockOffset is added to the clock that peers are told: tests put it wrong.
	ClockOffset time.Duration
	// RaftTimeout is raft's heartbeat and election timeout; 0 means 1 s.
	RaftTimeout time.Duration
	// VoterTimeout is how long a voter must be dead before it is replaced, and another
	// member before it is removed; 0 means 10 min.
	VoterTimeout time.Duration
	// VoterSettle is how long a node must be well before it gets a vote; 0 means 30 s.
	VoterSettle time.Duration
	// RecoverAfter is how long quorum must have been lost before Recover; 0 means 30 s.
	RecoverAfter time.Duration
	// StoreRetry is the time between two tries to use a disk that failed; 0 means 10 s.
	StoreRetry time.Duration

	Logger *slog.Logger // nil means silence
}

// DefaultRaftTimeout suits a round trip of up to some 100 ms between sites.
const DefaultRaftTimeout = time.Second

// withDefaults returns the configuration with defaults filled in, and every fault.
func (c Config) withDefaults() (Config, dialmap.Map, error) {
	var faults []error
	for _, f := range []struct {
		missing bool
		field   string
	}{
		{c.Cluster == "", "Cluster"},
		{c.Node == "", "Node"},
		{c.DataDir == "", "DataDir"},
		{c.Keys == nil, "Keys"},
		{c.Interconnect.Address == "", "Interconnect.Address"},
		{c.Gossip.Address == "", "Gossip.Address"},
	} {
		if f.missing {
			faults = append(faults, errors.New(f.field+" is not set"))
		}
	}
	names, addresses := map[string]bool{}, map[string]bool{}
	for i, v := range c.Voters {
		if v.Name == "" || v.Address == "" || names[v.Name] || addresses[v.Address] {
			faults = append(faults, fmt.Errorf("voters[%d]: name and address are needed, and each of them once", i))
		}
		names[v.Name], addresses[v.Address] = true, true
	}
	via, err := dialmap.New(c.DialMap)
	if err != nil {
		faults = append(faults, err)
	}
	for _, d := range []struct {
		value   *time.Duration
		instead time.Duration
	}{
		{&c.RaftTimeout, DefaultRaftTimeout},
		{&c.VoterTimeout, DefaultVoterTimeout},
		{&c.VoterSettle, DefaultVoterSettle},
		{&c.RecoverAfter, DefaultRecoverAfter},
		{&c.StoreRetry, DefaultStoreRetry},
	} {
		if *d.value == 0 {
			*d.value = d.instead
		}
	}
	if c.Network == nil {
		c.Network = machineNetwork{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if len(faults) > 0 {
		return c, via, fmt.Errorf("cluster: %w", errors.Join(faults...))
	}
	return c, via, nil
}

// table compiles a document of this cluster. A document that names another cluster is
// refused here, before it can become a revision (DEC-14).
func (c *Config) table(document []byte, v trunkgroup.Version) (*trunkgroup.Table, error) {
	if c.Compile == nil {
		return nil, nil
	}
	t, err := c.Compile(document, v)
	if err != nil {
		return nil, err
	}
	if of := t.Document().Cluster; of != c.Cluster {
		return nil, fmt.Errorf("the document is of cluster %q, and this is %q; write cluster: %s in it if it is meant for this one", of, c.Cluster, c.Cluster)
	}
	return t, nil
}

// voter reports whether this node is a founding voter.
func (c *Config) voter() bool {
	for _, v := range c.Voters {
		if v.Name == c.Node {
			return true
		}
	}
	return false
}

// machineNetwork is the network of the machine.
type machineNetwork struct{}

func (machineNetwork) Listen(address string) (net.Listener, error) {
	return net.Listen("tcp", address)
}

func (machineNetwork) ListenPacket(address string) (net.PacketConn, error) {
	return net.ListenPacket("udp", address)
}

func (machineNetwork) Dial(ctx context.Context, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}
