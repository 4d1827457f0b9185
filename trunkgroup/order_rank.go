package trunkgroup

import (
	"cmp"
	"slices"
)

const (
	// sorted is the most far ends of one tier that are ordered to the last.
	sorted = 64
	// exact is how many places of a larger tier are; the others follow in some
	// order. A call that has tried so many has no time left.
	exact = 16
)

// byRank orders ranked far ends, the lowest first; equals stay as they are.
func byRank(tier []slot) {
	if len(tier) > sorted {
		selectFirst(tier)
		return
	}
	slices.SortStableFunc(tier, func(a, b slot) int { return cmp.Compare(a.rank, b.rank) })
}

// selectFirst puts the first of a large tier in their places.
func selectFirst(tier []slot) {
	var best selection
	for i := range tier {
		best.offer(i, tier[i].rank)
	}
	best.place(tier)
}

// selection is the first of a tier, as far as it was looked at.
type selection struct {
	n    int
	at   [exact]int
	rank [exact]uint64
}

// takes tells whether one of a rank, or of a higher one, could be among the first.
func (b *selection) takes(rank uint64) bool { return b.n < exact || rank < b.rank[exact-1] }

// offer takes one at a place of the tier, if it is among the first. Equals keep their
// order.
func (b *selection) offer(at int, rank uint64) {
	if !b.takes(rank) {
		return
	}
	b.n = min(b.n+1, exact)
	j := b.n - 1
	for ; j > 0 && rank < b.rank[j-1]; j-- {
		b.at[j], b.rank[j] = b.at[j-1], b.rank[j-1]
	}
	b.at[j], b.rank[j] = at, rank
}

// place puts them in front.
func (b *selection) place(tier []slot) {
	for k := range b.n {
		at := b.at[k]
		tier[k], tier[at] = tier[at], tier[k]
		for l := k + 1; l < b.n; l++ {
			if b.at[l] == k {
				b.at[l] = at // whoever stood here has moved there
			}
		}
	}
}

// byRankInTurns orders ranked far ends, the lowest first; equals take turns.
func (o *ordering) byRankInTurns(tier []slot) {
	if len(tier) > sorted && o.turnsOfMany(tier) {
		return
	}
	byRank(tier)
	if len(tier) > sorted {
		tier = tier[:exact]
	}
	for len(tier) > 0 {
		n := 1
		for n < len(tier) && tier[n].rank == tier[0].rank {
			n++
		}
		o.takeTurns(tier[:n], o.d.Turn)
		tier = tier[n:]
	}
}

// turnsOfMany lets the equals that stand first in a large tier take turns, if they
// are many.
func (o *ordering) turnsOfMany(tier []slot) bool {
	least, n := tier[0].rank, 0
	for i := range tier {
		switch r := tier[i].rank; {
		case r < least:
			least, n = r, 1
		case r == least:
			n++
		}
	}
	if n < exact {
		return false
	}
	at := 0
	for i := range tier { // those of the least rank keep their order
		if tier[i].rank == least {
			tier[at], tier[i] = tier[i], tier[at]
			at++
		}
	}
	o.takeTurns(tier[:n], o.d.Turn)
	return true
}
