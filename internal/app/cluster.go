package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/dialmap"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// documentName is how faults of a document name it when it came over the wire.
const documentName = "cluster.yaml"

// Compile reads a cluster document and makes its table. It is what every node
// does with every revision.
func Compile(document []byte, v trunkgroup.Version) (*trunkgroup.Table, error) {
	doc, err := yamldoc.Decode(documentName, document)
	if err != nil {
		return nil, err
	}
	return trunkgroup.Compile(doc, v)
}

func newCluster(ctx context.Context, cfg *config.Config, build string, log *slog.Logger) (*cluster.Node, error) {
	var secrets [][]byte
	for _, k := range cfg.Cluster.Keys {
		secrets = append(secrets, k.Bytes())
	}
	keys, err := keyring.New(secrets...)
	if err != nil {
		return nil, fmt.Errorf("cluster key: %w", err)
	}
	c := cluster.Config{
		Cluster: cfg.Cluster.ID, Node: cfg.Name, Site: cfg.Site, Witness: cfg.Witness,
		DataDir: cfg.DataDir, Keys: keys,
		Interconnect: endpoint(cfg.Interconnect), Gossip: endpoint(cfg.Cluster.Gossip), Raft: endpoint(cfg.Cluster.Raft),
		Build: build, Logger: log,
	}
	for _, v := range cfg.Cluster.Voters {
		c.Voters = append(c.Voters, cluster.Voter{Name: v.Name, Address: v.Address})
	}
	for _, p := range cfg.Cluster.Peers {
		c.Peers = append(c.Peers, cluster.Peer{Name: p.Name, Site: p.Site, Gossip: p.Gossip, Interconnect: p.Interconnect})
	}
	for _, r := range cfg.Cluster.DialMap {
		c.DialMap = append(c.DialMap, dialmap.Rule{Address: r.Address, Via: r.Via})
	}
	if !cfg.Witness {
		c.Compile = Compile
	}
	if cfg.Cluster.Document != "" && !cfg.Witness {
		if c.Initial, err = os.ReadFile(cfg.Cluster.Document); err != nil {
			return nil, fmt.Errorf("cluster document: %w", err)
		}
		if _, err := yamldoc.Decode(cfg.Cluster.Document, c.Initial); err != nil {
			return nil, err
		}
	}
	return cluster.New(ctx, c)
}

func endpoint(e config.Endpoint) cluster.Endpoint {
	var out cluster.Endpoint
	if e.Address.IsValid() {
		out.Address = e.Address.String()
	}
	if e.Advertise.IsValid() {
		out.Advertise = e.Advertise.String()
	}
	return out
}
