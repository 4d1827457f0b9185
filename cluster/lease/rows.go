package lease

import (
	"cmp"
	"maps"
	"slices"
)

// pair is a direction between two sites.
type pair struct{ from, to string }

// rows counts the rights that were ever moved from one site to another, the ones
// that came back as moves in the other direction. The numbers only grow, so that
// two versions merge into the larger numbers.
type rows map[pair]uint64

// merge takes what another node knows.
func (r rows) merge(other rows) {
	for p, n := range other {
		if n > r[p] {
			r[p] = n
		}
	}
}

// from is what a site holds that is another's, as a balance.
func (r rows) from(lender, borrower string) int {
	return int(r[pair{lender, borrower}]) - int(r[pair{borrower, lender}])
}

// covers reports whether everything that a site moved away is in here too.
func (r rows) covers(own rows, site string) bool {
	for p, n := range own {
		if p.from == site && r[p] < n {
			return false
		}
	}
	return true
}

func (r rows) sorted() []pair {
	return slices.SortedFunc(maps.Keys(r), func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
}
