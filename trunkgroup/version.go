package trunkgroup

import "fmt"

// Version names one state of the cluster document (DEC-14). Restore and
// recovery raise the generation; each change raises the revision.
type Version struct {
	Cluster    string `json:"cluster"`
	Generation uint64 `json:"generation"`
	Revision   uint64 `json:"revision"`
}

// Newer reports whether v may replace a table of version than: the pair
// (generation, revision) is higher. The cluster is not compared; a caller
// refuses a foreign cluster before it asks.
func (v Version) Newer(than Version) bool {
	if v.Generation != than.Generation {
		return v.Generation > than.Generation
	}
	return v.Revision > than.Revision
}

// String returns cluster, generation and revision as "name/1.42".
func (v Version) String() string {
	return fmt.Sprintf("%s/%d.%d", v.Cluster, v.Generation, v.Revision)
}
