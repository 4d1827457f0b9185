package tandem

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
)

// Ports of every node.
const (
	PortSIP          = 5060 // UDP and TCP
	PortTLS          = 5061
	PortWSS          = 5443
	portGossip       = 7946
	portInterconnect = 7950
	portMetrics      = 9060
)

// Config says what a cluster is made of.
type Config struct {
	Lab *lab.Lab
	// Name keeps clusters of one run apart; Binary is the tandem program.
	Name, Binary string
	// Document is the cluster document, in YAML.
	Document string
	// Places are the nodes' places; empty means all five.
	Places []lab.Place
	// Authority issues the nodes' certificates and is what they trust.
	Authority *peer.Authority
	// Extra is added to the node file's sip section, indented by two spaces.
	Extra string
	// Drain is the value of the node files' drain key; empty means no patience at
	// all: a node that is stopped ends its calls at once.
	Drain string
	// DNS is the name server of every node, "address:port"; empty means the system's.
	DNS string
}

// Cluster is a set of nodes with one document.
type Cluster struct {
	Config
	// Nodes are in the order of Config.Places.
	Nodes []*Node

	dir string
}

// New writes the files of a cluster; Start starts it.
func New(cfg Config) (*Cluster, error) {
	if len(cfg.Places) == 0 {
		cfg.Places = []lab.Place{lab.Dallas1, lab.Dallas2, lab.Ashburn1, lab.Ashburn2, lab.Witness1}
	}
	c := &Cluster{Config: cfg, dir: filepath.Join(cfg.Lab.Dir, cfg.Name)}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", cfg.Name, err)
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", cfg.Name, err)
	}
	err := errors.Join(
		os.WriteFile(c.KeyFile(), []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600),
		os.WriteFile(filepath.Join(c.dir, "cluster.yaml"), []byte(cfg.Document), 0o600))
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", cfg.Name, err)
	}
	for _, p := range cfg.Places {
		c.Nodes = append(c.Nodes, c.node(p))
	}
	for _, n := range c.Nodes {
		if err := n.Write(); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", cfg.Name, err)
		}
	}
	return c, nil
}

// Start starts every node that does not run.
func (c *Cluster) Start() error {
	for _, n := range c.Nodes {
		if !n.Running() {
			if err := n.Start(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Stop stops every node, all at the same time.
func (c *Cluster) Stop() {
	var all sync.WaitGroup
	for _, n := range c.Nodes {
		all.Go(n.Stop)
	}
	all.Wait()
}

// Node returns the node at a place.
func (c *Cluster) Node(p lab.Place) *Node {
	for _, n := range c.Nodes {
		if n.Place == p {
			return n
		}
	}
	return nil
}

// KeyFile is the cluster key of the nodes that have no Trust.
func (c *Cluster) KeyFile() string { return filepath.Join(c.dir, "cluster.key") }

// SBCs are the nodes that take calls: all but the witness.
func (c *Cluster) SBCs() []*Node {
	var list []*Node
	for _, n := range c.Nodes {
		if n.Site != lab.Witness {
			list = append(list, n)
		}
	}
	return list
}

// node describes the node at a place; its name is the place's. At an isolated
// place it stands alone in Dallas on the loopback addresses.
func (c *Cluster) node(p lab.Place) *Node {
	name := string(p)
	n := &Node{
		Name: name, Place: p, Site: lab.NodeSite(p), IPv4: lab.Node4(p), IPv6: lab.Node6(p),
		cluster: c, dir: filepath.Join(c.dir, name),
		// Paths of sockets are short by law of the kernel; artefacts' paths are not.
		socket: filepath.Join(os.TempDir(), c.Lab.Prefix+"-"+c.Name+"-"+name+".sock"),
	}
	if n.Site == "" { // an isolated place
		n.Site, n.IPv4, n.IPv6 = lab.Dallas, netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()
	}
	return n
}

// file is the node file.
func (n *Node) file(keys peer.KeyPair) string {
	c := n.cluster
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("name: %s\nsite: %s\ndata_dir: %s", n.Name, n.Site, n.DataDir())
	if n.ClockOffset != 0 {
		line("clock_offset: %v", n.ClockOffset)
	}
	if c.DNS != "" {
		line("dns: {servers: [%q]}", c.DNS)
	}
	if n.Site == lab.Witness {
		line("witness: true")
	} else {
		line("listeners:")
		for family, ip := range map[string]string{"4": n.IPv4.String(), "6": "[" + n.IPv6.String() + "]"} {
			line("  - {name: udp%s, transport: udp, address: %q}", family, fmt.Sprintf("%s:%d", ip, PortSIP))
			line("  - {name: tcp%s, transport: tcp, address: %q}", family, fmt.Sprintf("%s:%d", ip, PortSIP))
			line("  - {name: tls%s, transport: tls, address: %q, tls: {cert: %q, key: %q}}", family,
				fmt.Sprintf("%s:%d", ip, PortTLS), keys.CertFile, keys.KeyFile)
		}
		if n.Binary == "" {
			line("  - {name: wss4, transport: wss, address: \"%s:%d\", tls: {cert: %q, key: %q}, websocket: {path: /sip, origins: [%q]}}",
				n.IPv4, PortWSS, keys.CertFile, keys.KeyFile, PageOrigin)
		}
	}
	line("interconnect: {address: %q}", n.at(portInterconnect))
	if n.Trust == "" {
		line("cluster:\n  id: %s\n  key_file: %q", c.Name, c.KeyFile())
	} else {
		at := func(name string) string { return filepath.Join(n.Trust, name) }
		line("cluster:\n  id: %s\n  key_file: %q\n  reload: 300ms", c.Name, at("cluster.key"))
		line("  tls: {cert: %q, key: %q, ca: %q, ca_key: %q}", at(n.Name+".pem"), at(n.Name+".key"), at("ca.pem"), n.AuthorityKey)
	}
	line("  document: %q", filepath.Join(c.dir, "cluster.yaml"))
	line("  gossip: {address: %q}\n  raft:\n    voters:", n.at(portGossip))
	for _, v := range c.Nodes {
		line("      - {name: %s}", v.Name)
	}
	line("  peers:")
	for _, p := range c.Nodes {
		if p != n {
			line("    - {name: %s, site: %s, gossip: %q, interconnect: %q}", p.Name, p.Site, p.at(portGossip), p.at(portInterconnect))
		}
	}
	line("admin: {address: %q, metrics: %q}", "unix:"+n.socket, n.at(portMetrics))
	line("drain: %s", cmp.Or(c.Drain, "{announce: 0s, quiet: 0s, timeout: 0s}"))
	line("cdr: {path: %q}\nlog: {level: info, format: json}", n.cdrPath())
	if n.Site != lab.Witness {
		line("sip:\n  realm: %s\n  tls: {cert: %q, key: %q, ca: %q}\n%s", Realm, keys.CertFile, keys.KeyFile, c.Authority.CertFile, c.Extra)
	}
	return b.String()
}

// PageOrigin is the origin of pages that may open a WebSocket to a node.
const PageOrigin = "http://127.0.0.1:8088"

// Realm is the digest realm of every node.
const Realm = "sip.example.net"

// Interconnect is the address of the streams of other nodes.
func (n *Node) Interconnect() string { return n.at(portInterconnect) }

// at is an address of the node's own port, for traffic between nodes.
func (n *Node) at(port int) string { return fmt.Sprintf("%s:%d", n.IPv4, port) }
