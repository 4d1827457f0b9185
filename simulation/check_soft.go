package simulation

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tandem-sbc/tandem/cluster/soft"
)

// checkSoft: all copies of the soft state are equal, and nothing is in it of
// calls that are over.
func (w *world) checkSoft() {
	var want map[string]string
	for _, n := range w.nodes {
		if n.witness || !n.alive {
			continue
		}
		got := n.softView()
		if want == nil {
			want = got
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(got)) {
			if want[key] != got[key] {
				w.fault("%s has soft state %s %s, %s has %q", n.name, key, got[key], w.nodes[0].name, want[key])
			}
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if _, ok := got[key]; !ok {
				w.fault("%s lacks soft state %s %s", n.name, key, want[key])
			}
		}
	}
	for _, n := range w.nodes {
		if !n.witness && len(n.shelf.up) > w.left(n) {
			w.fault("%s has %d entries of answered calls when all is over", n.name, len(n.shelf.up))
		}
	}
}

// softView is what readers see: registrations, and the calls of living nodes.
func (n *node) softView() map[string]string {
	out := make(map[string]string)
	n.shelf.store.Each(soft.KindBinding, func(e soft.Entry) bool {
		out["binding "+e.Key] = fmt.Sprintf("%s v%d %q", e.Owner, e.Version, e.Value)
		return true
	})
	n.shelf.store.Each(soft.KindClosing, func(e soft.Entry) bool {
		out["closing "+e.Key] = fmt.Sprintf("%s v%d %q", e.Owner, e.Version, e.Value)
		return true
	})
	for _, x := range n.w.nodes {
		n.shelf.store.EachOf(soft.KindCall, x.name, uint64(x.boot), func(e soft.Entry) bool {
			out["call "+e.Key] = fmt.Sprintf("%s/%d %x", e.Owner, e.Boot, e.Value)
			return true
		})
	}
	return out
}
