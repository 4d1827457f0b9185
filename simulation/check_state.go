package simulation

import (
	"bytes"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// checkConvergence: the network is whole, so all nodes have the same config, the
// same operator's words and the same opinion of every member, and the opinion
// is right.
func (w *world) checkConvergence() {
	first := w.nodes[0]
	want, err := first.state.Snapshot()
	if err != nil {
		w.fault("%s: %v", first.name, err)
		return
	}
	for _, n := range w.nodes[1:] {
		got, err := n.state.Snapshot()
		if err != nil || !bytes.Equal(got, want) {
			w.fault("%s has config %v, %s has %v (%v)", first.name, first.state.Version(), n.name, n.state.Version(), err)
		}
	}
	for _, n := range w.nodes {
		if n.witness || !n.alive {
			continue
		}
		if e, _, _ := n.state.Effective(n.site); n.table.Version() != e.Version {
			w.fault("%s routes by %v, its log says %v", n.name, n.table.Version(), e.Version)
		}
		n.rebuild()
		for i, m := range n.table.Members() {
			state := n.view.States[i]
			wanted := trunkgroup.Active
			if _, said := first.watch.knobs.Of(first.now(), m.Key); m.Disabled || said { // two words at once: one wins, everywhere
				wanted = trunkgroup.Disabled
			}
			if state == trunkgroup.Trying { // an answer has just taken too long; it gets calls
				state = trunkgroup.Active
			}
			if state != wanted && !(state == trunkgroup.Unknown && !w.watched(m)) {
				w.fault("%s believes that %s is %v when all is well: %s", n.name, m.Key, state, n.watch.board.Members[i].Reason)
			}
		}
	}
	for _, l := range w.links {
		if !l.up[0] || !l.up[1] {
			w.fault("%s and %s are not connected when all is well", l.ends[0].name, l.ends[1].name)
		}
	}
}

// watched tells whether the nodes of a member's site have it in their table: with
// a canary, the tables of the sites differ.
func (w *world) watched(m *trunkgroup.Member) bool {
	for _, n := range w.nodes {
		if n.site == m.Site {
			own := n.table.Member(m.Key)
			return own != nil && !own.Disabled
		}
	}
	return false
}
