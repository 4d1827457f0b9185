package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/cluster/lease"
)

const (
	// lostEvery is the pause between two looks whether the process of a node that
	// is away still listens.
	lostEvery   = time.Second
	lostTimeout = time.Second
	// rosterKeep is how long a node that is gone for good is remembered.
	rosterKeep = 7 * 24 * time.Hour
	// limitProtocol is the protocol of nodes that share limits out. Nodes of an older
	// build take calls without a limit and are not asked.
	limitProtocol = 2
)

// roster remembers which nodes there are, also over a restart: a node that starts
// alone must know that others may hold rights (DEC-10).
type roster struct {
	self string
	file string

	mu    sync.Mutex
	known map[string]rosterNode
	dead  map[string]uint64 // nodes whose process refuses connections, with the boot that did last
}

// rosterNode is one other node as it was last seen.
type rosterNode struct {
	Site    string    `json:"site"`
	Apart   bool      `json:"apart,omitempty"` // it holds no rights: a witness, or of an older build
	Boot    uint64    `json:"boot"`
	Seen    time.Time `json:"seen"`
	address string
}

// openRoster reads the file; that there is none yet is fine.
func openRoster(dir, self string) (*roster, error) {
	r := &roster{self: self, file: filepath.Join(dir, "nodes.json"), known: make(map[string]rosterNode), dead: make(map[string]uint64)}
	text, err := os.ReadFile(r.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return nil, fmt.Errorf("nodes of the cluster: %w", err)
	}
	if err := json.Unmarshal(text, &r.known); err != nil {
		return nil, fmt.Errorf("nodes of the cluster: %s: %w; delete the file while the other nodes run", r.file, err)
	}
	return r, nil
}

func (r *roster) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known) == 0
}

// nodes returns all other nodes with what is known of their life.
func (r *roster) nodes(node *cluster.Node) []lease.Node {
	apart := make(map[string]bool)
	peers := slices.Clone(node.Peers())
	for _, m := range node.Members() {
		apart[m.Name] = m.Meta.Witness || m.Meta.Protocol < limitProtocol
		for i := range peers { // gossip may have met a later process that this node cannot reach
			if peers[i].Name == m.Name {
				peers[i].Boot = max(peers[i].Boot, m.Meta.Boot)
			}
		}
	}
	return r.list(peers, apart, time.Now())
}

// list takes what the interconnect and gossip say of the other nodes at now, and
// returns all that are known.
func (r *roster) list(peers []interconnect.Peer, apart map[string]bool, now time.Time) []lease.Node {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := r.learn(peers, apart, now)
	up := make(map[string]bool)
	for _, p := range peers {
		up[p.Name] = p.Up
	}
	var list []lease.Node
	for name, n := range r.known {
		if !up[name] && !n.Seen.IsZero() && now.Sub(n.Seen) > rosterKeep {
			delete(r.known, name)
			changed = true
			continue
		}
		l := lease.Node{Name: name, Site: n.Site, Boot: n.Boot, Witness: n.Apart}
		switch boot, dead := r.dead[name]; {
		case up[name]:
			l.State = lease.Up
		case dead && boot == n.Boot:
			l.State = lease.Dead
		}
		list = append(list, l)
	}
	if changed {
		r.save()
	}
	return list
}

// learn notes what is new of the other nodes. It reports whether the file should
// be written.
func (r *roster) learn(peers []interconnect.Peer, apart map[string]bool, now time.Time) (changed bool) {
	for _, p := range peers {
		if p.Name == r.self || p.Site == "" {
			continue
		}
		old, was := r.known[p.Name]
		n := rosterNode{Site: p.Site, Apart: old.Apart, Boot: max(old.Boot, p.Boot), Seen: old.Seen, address: p.Address}
		if w, ok := apart[p.Name]; ok {
			n.Apart = w
		}
		if p.Up {
			if now.Sub(n.Seen) > time.Hour {
				n.Seen = now
			}
			delete(r.dead, p.Name)
		}
		r.known[p.Name] = n
		changed = changed || !was || old.Site != n.Site || old.Apart != n.Apart || !old.Seen.Equal(n.Seen)
	}
	return changed
}

// save writes the file; what is lost by a failure is learned again.
func (r *roster) save() {
	text, err := json.Marshal(r.known)
	if err != nil {
		return
	}
	fresh := r.file + ".new"
	if os.WriteFile(fresh, text, 0o600) == nil {
		_ = os.Rename(fresh, r.file)
	}
}

// lost returns the addresses of the site's nodes that are away and not known to
// be dead. What a dead node of another site held stays that site's.
func (r *roster) lost(node *cluster.Node, site string) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make(map[string]string)
	for _, p := range node.Peers() {
		n := r.known[p.Name]
		if boot, dead := r.dead[p.Name]; !p.Up && !(dead && boot == n.Boot) && n.address != "" && n.Site == site && !n.Apart {
			list[p.Name] = n.address
		}
	}
	return list
}

// refused notes that a node's process is gone.
func (r *roster) refused(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead[name] = r.known[name].Boot
}

// watchLost asks the hosts of nodes that are away whether the process still
// listens. A connection that is refused is a proof that it does not, and all its
// calls are gone with it; silence proves nothing.
func (l *limits) watchLost(ctx context.Context) {
	tick := time.NewTicker(lostEvery)
	defer tick.Stop()
	dialer := net.Dialer{Timeout: lostTimeout}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for name, address := range l.roster.lost(l.app.node, l.app.cfg.Site) {
			conn, err := dialer.DialContext(ctx, "tcp", address)
			if err == nil {
				_ = conn.Close()
			}
			if errors.Is(err, syscall.ECONNREFUSED) {
				l.roster.refused(name)
				l.look()
			}
		}
	}
}
