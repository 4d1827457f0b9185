package app

import (
	"context"
	"encoding/json"
	"errors"
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
	text, err := os.ReadFile(t.file)
	if err == nil {
		err = json.Unmarshal(text, &t.known)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.log.Warn("where nodes that are away show their metrics is not remembered", "file", t.file, "error", err)
		t.known = make(map[string]target)
	}
	a.node.OnMembers(t.learn)
	return t
}

// metricsAddress is where other machines read this node's metrics; empty for nowhere. An address that stands for
// all of the machine is told as the one of the interconnect.
func metricsAddress(cfg *config.Config) string {
	at := cfg.Admin.Metrics
	if !at.IsValid() && cfg.Admin.Network == "tcp" {
		at, _ = netip.ParseAddrPort(cfg.Admin.Address)
	}
	if !at.IsValid() {
		return ""
	}
	host := at.Addr()
	if host.IsUnspecified() {
		host = cfg.Interconnect.Advertise.Addr()
	}
	if !host.IsValid() {
		return ""
	}
	return netip.AddrPortFrom(host, at.Port()).String()
}

// learn takes what the members of the gossip tell of themselves.
func (t *targets) learn(members []gossip.Member) {
	t.mu.Lock()
	changed := false
	for _, m := range members {
		n := target{Site: m.Meta.Site, Role: roleOf(m.Meta.Witness), Address: m.Meta.Metrics}
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
	nodes := map[string]target{cfg.Name: {Site: cfg.Site, Role: roleOf(cfg.Witness), Address: own}}
	for _, s := range node.Status().Raft.Servers {
		hosts[s.Name] = s.Address
	}
	sites := map[string]string{}
	for _, p := range node.Peers() {
		hosts[p.Name], sites[p.Name] = p.Address, p.Site
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
	list := make([]admin.ScrapeTarget, 0, len(hosts))
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		n, told := nodes[name]
		if !told {
			n = target{Site: sites[name], Role: roleSBC}
		}
		if n.Address == "" {
			n.Address = beside(hosts[name], own)
		}
		if n.Address == "" {
			continue
		}
		list = append(list, admin.ScrapeTarget{Targets: []string{n.Address}, Labels: map[string]string{
			"cluster": cfg.Cluster.ID, "site": n.Site, "node": name, "role": n.Role,
		}})
	}
	return list
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
