package lease

import (
	"cmp"
	"hash/fnv"
	"time"

	"github.com/tandem-sbc/tandem/limit"
)

// SetNodes gives all other nodes of the cluster as this one sees them. A node
// that is missing from the list is silent.
func (e *Engine) SetNodes(now time.Time, list []Node) {
	e.step(now)
	listed := make(map[string]bool, len(list))
	for _, n := range list {
		if n.Name == e.cfg.Node {
			continue
		}
		listed[n.Name] = true
		e.setNode(n)
	}
	for name, n := range e.nodes {
		if !listed[name] && n.State == Up {
			n.State, n.since = Silent, now
		}
	}
	for _, x := range e.order {
		x.next = now
	}
	e.next = now
}

func (e *Engine) setNode(n Node) {
	old := e.nodes[n.Name]
	switch {
	case old == nil:
		old = &node{Node: n, since: e.now}
		e.nodes[n.Name] = old
	case n.Boot > old.Boot:
		old.heard, old.since = 0, e.now
		old.Boot = n.Boot
	case n.State == Silent && old.State == Dead:
		n.State = Dead // nothing was heard of it since
	case n.State == Dead && n.Boot < old.Boot:
		n.State = Silent // that was an earlier process
	}
	if n.State != old.State {
		// That a silent node is dead says nothing of when its lease began to end.
		if old.State != Silent || n.State != Dead {
			old.since = e.now
		}
		old.State = n.State
	}
	if n.Site != "" {
		old.Site, old.Witness = n.Site, n.Witness
	}
	if n.State == Up && e.contact.IsZero() {
		e.contact = e.now
	}
}

// hearsay takes what a node of the site says of another one: that it is there, and
// under which boot. So the proof that an earlier process is gone says nothing.
func (e *Engine) hearsay(m mate) {
	if m.name == e.cfg.Node {
		return
	}
	n := e.nodes[m.name]
	if n == nil {
		if len(e.nodes) < maxMates {
			e.nodes[m.name] = &node{Node: Node{Name: m.name, Site: e.cfg.Site, Boot: m.boot}, since: e.now}
		}
		return
	}
	if m.boot > n.Boot {
		n.Boot, n.heard = m.boot, 0
		if n.State == Dead {
			n.State, n.since = Silent, e.now
		}
	}
}

// knows reports whether this node has had time to learn who there is.
func (e *Engine) knows() bool {
	return e.cfg.Alone || !e.now.Before(e.awake.Add(e.cfg.Lease)) ||
		!e.contact.IsZero() && !e.now.Before(e.contact.Add(settle))
}

// dead reports whether a node is certain to be dead.
func (e *Engine) dead(n *node) bool {
	return n.State == Dead || n.State == Silent && e.now.Sub(n.since) >= e.cfg.DeadAfter && e.majority()
}

// gone reports whether a node is dead and its leases have ended.
func (e *Engine) gone(n *node) bool { return e.dead(n) && e.now.Sub(n.since) >= e.granted() }

// mate reports whether a node may hold rights of this site.
func (e *Engine) mate(n *node) bool { return n.Site == e.cfg.Site && !n.Witness }

// majority reports whether this node sees most of the cluster.
func (e *Engine) majority() bool {
	up := 1
	for _, n := range e.nodes {
		if n.State == Up {
			up++
		}
	}
	return up*2 > len(e.nodes)+1
}

// silent reports whether some node of the site may be cut off with rights of
// which this one does not know.
func (e *Engine) silent() bool {
	for _, n := range e.nodes {
		if e.mate(n) && n.State == Silent && !e.dead(n) {
			return true
		}
	}
	return false
}

// lost is when the last node of another site was lost.
func (e *Engine) lost(site string) (last time.Time) {
	for _, n := range e.nodes {
		if n.Site == site {
			last = later(last, n.since)
		}
	}
	return last
}

// stranded reports whether this node sees only some nodes of its site, has done
// so for long, and cannot know whether the others live.
func (e *Engine) stranded() bool {
	if e.majority() {
		return false
	}
	any := false
	for _, n := range e.nodes {
		if e.mate(n) && n.State == Silent {
			any = true
			if e.now.Sub(n.since) < e.cfg.DeadAfter {
				return false
			}
		}
	}
	return any
}

// mates is how many nodes the site has, this one included.
func (e *Engine) mates() int {
	n := 1
	for _, p := range e.nodes {
		if e.mate(p) {
			n++
		}
	}
	return n
}

// grantor is the node that rendezvous hashing over the live nodes of a site names
// for a limit; empty when none lives.
func (e *Engine) grantor(k limit.Key, site string) string {
	best, name := uint64(0), ""
	if site == e.cfg.Site {
		best, name = rank(k, e.cfg.Node), e.cfg.Node
	}
	for _, n := range e.nodes {
		if n.Site != site || n.Witness || n.State != Up {
			continue
		}
		if r := rank(k, n.Name); name == "" || r > best || r == best && n.Name < name {
			best, name = r, n.Name
		}
	}
	return name
}

// rank is a number that all nodes compute alike.
func rank(k limit.Key, node string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte{byte(k.Kind), byte(k.Scope)})
	_, _ = h.Write([]byte(k.Name))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(node))
	x := h.Sum64() // FNV alone hardly mixes the last bytes into the upper bits
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

func compareKeys(a, b limit.Key) int {
	return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
