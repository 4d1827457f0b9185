package verdict

import (
	"maps"
	"slices"
)

// need takes the order to drain back, for as long as it lasts, of sites whose calls
// would have nowhere to go: no peer site is up that is not drained itself. So it is
// when two sites were drained at one moment, or when the only other one was lost since.
func (b *Board) need(live []Node) {
	for site, knob := range b.Drained {
		if !slices.ContainsFunc(b.Table.PeerSites(site), func(peer string) bool {
			_, drained := b.Drained[peer]
			return !drained && slices.ContainsFunc(live, func(n Node) bool { return n.Site == peer })
		}) {
			b.Needed[site] = knob
		}
	}
	maps.DeleteFunc(b.Drained, func(site string, _ Knob) bool {
		_, needed := b.Needed[site]
		return needed
	})
}
