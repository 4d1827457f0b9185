package simulation

import (
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
)

// The pace of gossip.
const (
	exchangeEvery = 8 * time.Second
	gossipLoss    = 0.15
	// converge is the time at the end in which no gossip is lost.
	converge = 30 * time.Second
)

// itemKey names a piece of gossip: who says it, and what it is about.
type itemKey struct {
	node int
	key  string
}

// item is the newest that was heard of it.
type item struct {
	boot uint32
	seq  uint64
	b    []byte
}

func (i item) newer(o item) bool { return i.boot > o.boot || i.boot == o.boot && i.seq > o.seq }

// publish spreads something by gossip: to each node late, out of order or not at
// all; what is missed comes with the next full exchange.
func (n *node) publish(key string, b []byte) {
	k := itemKey{n.index, key}
	i := item{n.boot, n.heard[k].seq + 1, b}
	n.heard[k] = i
	w := n.w
	for _, x := range w.nodes {
		if x == n || w.now < w.plan.end()-converge && chance(w.net, gossipLoss+w.loss()) {
			continue
		}
		boot := x.boot
		w.after(between(w.net, 10*time.Millisecond, 400*time.Millisecond), func() {
			if x.boot == boot && w.open(n, x) {
				x.step(func() { x.hear(k, i) })
			}
		})
	}
}

// hear takes a piece of gossip.
func (n *node) hear(k itemKey, i item) {
	if old, known := n.heard[k]; known && !i.newer(old) {
		return
	}
	n.heard[k] = i
	if k.node == n.index {
		return
	}
	now := n.now()
	switch {
	case k.key == "state":
		n.tellDrain()
	case strings.HasPrefix(k.key, "verdict/"):
		if r, err := verdict.DecodeRecord(i.b); err == nil {
			n.hearRecord(now, r)
		}
	case strings.HasPrefix(k.key, "knob/"):
		if knob, err := verdict.DecodeKnob(i.b, now); err == nil && n.watch.knobs.Merge(now, knob) {
			n.spreadKnob(now, knob)
		}
	}
}

// spreadKnob keeps an operator's word and passes it on: it must outlive the node
// where it was said.
func (n *node) spreadKnob(now time.Time, knob verdict.Knob) {
	n.disk.knobs = n.watch.knobs.All()
	n.publish("knob/"+knob.Member, knob.Append(nil, now))
	n.rebuild()
}

// spreadKnobs publishes all words again, now and every so often.
func (n *node) spreadKnobs() {
	boot := n.boot
	n.w.after(between(n.w.net, exchangeEvery, 3*exchangeEvery), func() {
		n.step(func() {
			if n.boot != boot {
				return
			}
			for _, knob := range n.watch.knobs.All() {
				n.publish("knob/"+knob.Member, knob.Append(nil, n.now()))
			}
			n.spreadKnobs()
		})
	})
}

// exchange gives all that two nodes have heard to each other, now and then.
func (n *node) exchange() {
	w := n.w
	w.after(between(w.net, exchangeEvery/2, 3*exchangeEvery/2), func() { n.exchange() })
	x := w.nodes[w.net.IntN(len(w.nodes))]
	if x == n || !n.runs() || !x.runs() || !w.open(n, x) || !w.open(x, n) {
		return
	}
	a, b := n.everything(), x.everything()
	x.step(func() {
		for _, h := range a {
			x.hear(h.k, h.i)
		}
	})
	n.step(func() {
		for _, h := range b {
			n.hear(h.k, h.i)
		}
	})
}

type heardItem struct {
	k itemKey
	i item
}

func (n *node) everything() []heardItem {
	list := make([]heardItem, 0, len(n.heard))
	for k, i := range n.heard {
		list = append(list, heardItem{k, i})
	}
	slices.SortFunc(list, func(a, b heardItem) int {
		if a.k.node != b.k.node {
			return a.k.node - b.k.node
		}
		return strings.Compare(a.k.key, b.k.key)
	})
	return list
}

// thinksDraining is what gossip says of a node.
func (n *node) thinksDraining(x *node) bool {
	i, ok := n.heard[itemKey{x.index, "state"}]
	return ok && i.boot == x.boot && string(i.b) == "draining"
}
