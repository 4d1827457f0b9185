package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/gossip"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/internal/durable"
	"github.com/tandem-sbc/tandem/monitor/admin"
)

// Roles of nodes in service discovery.
const (
	roleSBC     = "sbc"
	roleWitness = "witness"
)

// targets knows where all nodes of the cluster show their metrics, also those that do not run: their target must
// stay, or nobody sees that they are down. What they told is remembered over a restart.
type targets struct {
	app  *App
	file string

	mu     sync.Mutex
	known  map[string]target
	saving sync.Mutex
	done   sync.WaitGroup
}

// target is what a node has told of itself.
type target struct {
	Site    string `json:"site"`
	Role    string `json:"role"`
	Address string `json:"address,omitempty"` // of its metrics; empty: it has not told
}

// newTargets reads what was known before. A file that cannot be read costs the memory alone.
func newTargets(a *App) *targets {
	t := &targets{app: a, file: filepath.Join(a.cfg.DataDir, "targets.json"), known: make(map[string]target)}
	known, err := readTargets(t.file)
	if err != nil {
		a.log.Warn("where nodes that are away show their metrics is not remembered", "file", t.file, "error", err)
	}
	maps.Copy(t.known, known)
	a.node.OnMembers(t.learn)
	return t
}

// maxTargets bounds the file of targets in bytes: far more nodes than a cluster has.
const maxTargets = 4 << 20

// readTargets reads what was saved. A file that is not there holds nothing.
func readTargets(file string) (map[string]target, error) {
	in, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxTargets+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxTargets {
		return nil, fmt.Errorf("larger than %d bytes", maxTargets)
	}
	var known map[string]target
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, err
	}
	for name, n := range known {
		if n.Role != roleWitness {
			n.Role = roleSBC
		}
		n.Address = scrapable(n.Address)
		known[name] = n
	}
	return known, nil
}

// scrapable returns an address that Prometheus can ask, and nothing for any other: one target that it cannot read costs it
// the list, and an address that means every machine, or none, would be its own.
func scrapable(address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil || at.Port() == 0 || at.Addr().IsUnspecified() || at.Addr().Zone() != "" {
		return ""
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()).String()
}

// metricsAddress is where other machines read this node's metrics; empty for nowhere. An address that stands for
// all of the machine is told as the one of the interconnect, and one of loopback is nowhere, unless all nodes are on
// one machine: Prometheus would find itself there.
func metricsAddress(cfg *config.Config) string {
	at := cfg.Admin.Metrics
	if !at.IsValid() && cfg.Admin.Network == "tcp" {
		at, _ = netip.ParseAddrPort(cfg.Admin.Address)
	}
	if !at.IsValid() {
		return ""
	}
	host, reached := at.Addr(), cfg.Interconnect.Advertise.Addr()
	if host.IsUnspecified() {
		host = reached
	}
	if !host.IsValid() || host.IsLoopback() && reached.IsValid() && !reached.IsLoopback() {
		return ""
	}
	return scrapable(netip.AddrPortFrom(host, at.Port()).String())
}

// learn takes what the members of the gossip tell of themselves.
func (t *targets) learn(members []gossip.Member) {
	t.mu.Lock()
	changed := false
	for _, m := range members {
		n := target{Site: m.Meta.Site, Role: roleOf(m.Meta.Witness), Address: scrapable(m.Meta.Metrics)}
		if t.known[m.Name] != n {
			t.known[m.Name], changed = n, true
		}
	}
	t.mu.Unlock()
	if changed {
		t.done.Go(t.save) // the gossip does not wait for the disk
	}
}

func (t *targets) save() {
	t.saving.Lock()
	defer t.saving.Unlock()
	t.mu.Lock()
	text, err := json.Marshal(t.known)
	t.mu.Unlock()
	if err == nil {
		err = durable.Replace(t.file, text, 0o600)
	}
	if err != nil {
		t.app.log.Warn("where nodes show their metrics is not saved", "error", err)
	}
}

// stop waits for what is being saved.
func (t *targets) stop(context.Context) error {
	t.done.Wait()
	return nil
}

// Targets implements admin.Discovery.
func (d *desk) Targets() []admin.ScrapeTarget { return d.app.targets.list(d.app.node) }

// list names every node that the interconnect, gossip or the consensus knows.
func (t *targets) list(node *cluster.Node) []admin.ScrapeTarget {
	cfg := t.app.cfg
	own := metricsAddress(cfg)
	hosts := map[string]string{cfg.Name: ""} // where each is reached at all
	lives := map[string]bool{cfg.Name: true}
	nodes := map[string]target{cfg.Name: {Site: cfg.Site, Role: roleOf(cfg.Witness), Address: own}}
	for _, s := range node.Status().Raft.Servers {
		hosts[s.Name] = s.Address
	}
	sites := map[string]string{}
	for _, p := range node.Peers() {
		hosts[p.Name], sites[p.Name], lives[p.Name] = p.Address, p.Site, p.Up
	}
	for _, m := range node.Members() {
		if _, known := hosts[m.Name]; !known {
			hosts[m.Name] = m.Address
		}
	}
	t.mu.Lock()
	for name := range hosts {
		if n, ok := t.known[name]; ok && name != cfg.Name {
			nodes[name] = n
		}
	}
	t.mu.Unlock()
	var found []place
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		n, told := nodes[name]
		if !told {
			n = target{Site: sites[name], Role: roleSBC}
		}
		p := place{name: name, target: n, claim: 1}
		if n.Address == "" {
			p.Address, p.claim = scrapable(beside(hosts[name], own)), 0
		}
		if lives[name] {
			p.claim += 2
		}
		if p.Address != "" {
			found = append(found, p)
		}
	}
	found = rightful(found)
	list := make([]admin.ScrapeTarget, 0, len(found))
	for _, p := range found {
		list = append(list, admin.ScrapeTarget{Targets: []string{p.Address}, Labels: map[string]string{
			"cluster": cfg.Cluster.ID, "site": p.Site, "node": p.name, "role": p.Role,
		}})
	}
	return list
}

// place is a node at an address. Its claim is the better for a node that lives, and for one that has told the address
// itself.
type place struct {
	name string
	target
	claim int
}

// rightful leaves at each address those with the best claim: a node that was given another name would be scraped under
// both, and the dead one would look as if it lived.
func rightful(all []place) []place {
	best := map[string]int{}
	for _, p := range all {
		best[p.Address] = max(best[p.Address], p.claim)
	}
	return slices.DeleteFunc(all, func(p place) bool { return p.claim < best[p.Address] })
}

// beside guesses the address of a node that has not told it: the host where it is reached, and the port of this node.
func beside(reached, own string) string {
	host, _, err := net.SplitHostPort(reached)
	if err != nil {
		return ""
	}
	_, port, err := net.SplitHostPort(own)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(host, port)
}

func roleOf(witness bool) string {
	if witness {
		return roleWitness
	}
	return roleSBC
}
