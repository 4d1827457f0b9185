package verdict

import "github.com/cespare/xxhash/v2"

// Node is a live node of the cluster.
type Node struct {
	Name string
	Site string
}

// Owner names the node that probes a member: the one with the highest hash of node and member over the live nodes of the member's site
// (rendezvous hashing). When a node comes or goes only its own members move. It is empty when the site has no live node.
func Owner(nodes []Node, site, member string) string {
	var owner string
	var highest uint64
	var h xxhash.Digest
	for i := range nodes {
		if nodes[i].Site != site {
			continue
		}
		h.Reset()
		_, _ = h.WriteString(nodes[i].Name)
		_, _ = h.Write([]byte{0})
		_, _ = h.WriteString(member)
		sum := h.Sum64()
		if owner == "" || sum > highest || sum == highest && nodes[i].Name > owner {
			owner, highest = nodes[i].Name, sum
		}
	}
	return owner
}
