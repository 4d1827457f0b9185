package closing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Survivors lists the nodes that may close a call in the order of their turns: those
// of the owner's site first, and in each part by the hash of node and call (rendezvous
// hashing), so that the calls of a node spread over its survivors and move little when
// one more is lost.
func Survivors(live []Node, site, call string) []string {
	type ranked struct {
		name  string
		local bool
		sum   uint64
	}
	var h xxhash.Digest
	list := make([]ranked, 0, len(live))
	for _, n := range live {
		h.Reset()
		_, _ = h.WriteString(n.Name)
		_, _ = h.Write([]byte{0})
		_, _ = h.WriteString(call)
		list = append(list, ranked{n.Name, n.Site == site, h.Sum64()})
	}
	slices.SortFunc(list, func(a, b ranked) int {
		if a.local != b.local {
			if a.local {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.sum, a.sum), strings.Compare(b.name, a.name))
	})
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].name
	}
	return names
}
