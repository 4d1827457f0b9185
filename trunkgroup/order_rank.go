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
	var best [exact]int
	n := 0
	for i := range tier {
		if n == exact && tier[i].rank >= tier[best[n-1]].rank {
			continue
		}
		if n < exact {
			n++
		}
		j := n - 1
		for ; j > 0 && tier[i].rank < tier[best[j-1]].rank; j-- {
			best[j] = best[j-1]
		}
		best[j] = i
	}
	for k := range n {
		at := best[k]
		tier[k], tier[at] = tier[at], tier[k]
		for l := k + 1; l < n; l++ {
			if best[l] == k {
				best[l] = at // whoever stood here has moved there
			}
		}
	}
}

// byRankInTurns orders ranked far ends, the lowest first; equals take turns.
func byRankInTurns(tier []slot, turn uint64) {
	if len(tier) > sorted && turnsOfMany(tier, turn) {
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
		takeTurns(tier[:n], turn)
		tier = tier[n:]
	}
}

// turnsOfMany lets the equals that stand first in a large tier take turns, if they
// are many.
func turnsOfMany(tier []slot, turn uint64) bool {
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
	takeTurns(tier[:n], turn)
	return true
}
