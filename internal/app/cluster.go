package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/dialmap"
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

// Initial reads the document to begin with and checks it against the node file.
// It is nil when the node file names none. Its error may be trunkgroup.Faults.
func Initial(cfg *config.Config) ([]byte, error) {
	file := cfg.Cluster.Document
	if file == "" || cfg.Witness {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cluster.document: %w", err)
	}
	doc, err := yamldoc.Decode(file, text)
	if err != nil {
		return nil, err
	}
	if doc.Cluster != cfg.Cluster.ID {
		return nil, fmt.Errorf("cluster.document: %s is of cluster %q, and cluster.id is %q", file, doc.Cluster, cfg.Cluster.ID)
	}
	var sites []string
	for _, s := range doc.Sites {
		sites = append(sites, s.Name)
	}
	if !slices.Contains(sites, cfg.Site) {
		return nil, fmt.Errorf("cluster.document: %s has no site %q, where this node stands; it has %s", file, cfg.Site, strings.Join(sites, ", "))
	}
	return text, nil
}

func newCluster(ctx context.Context, cfg *config.Config, trust *trust, build string, log *slog.Logger) (*cluster.Node, error) {
	c := cluster.Config{
		Cluster: cfg.Cluster.ID, Node: cfg.Name, Site: cfg.Site, Witness: cfg.Witness,
		DataDir:      cfg.DataDir,
		ClockOffset:  cfg.ClockOffset,
		Interconnect: endpoint(cfg.Interconnect), Gossip: endpoint(cfg.Cluster.Gossip), Raft: endpoint(cfg.Cluster.Raft),
		Build: build, Metrics: metricsAddress(cfg), Logger: log,
	}
	trust.apply(&c, cfg.Cluster.TLS.Plain)
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
	var err error
	switch c.Initial, err = Initial(cfg); {
	case err != nil && cluster.HasDocument(cfg.DataDir, c.Keys):
		log.Warn("the document to begin with is of no use, and not needed: there is one in force", "error", err)
	case err != nil:
		return nil, err
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
