package trunkgroup

// byHash orders far ends by weighted rendezvous: each draws a number of its own from
// the key, with the exponential distribution, divided by its weight, and the lowest is
// first. One that goes takes its own keys with it and nothing else; they go to the
// others by weight. The same numbers drawn from chance instead of a key are a draw by
// weight without putting back.
func byHash(tier []slot, v *View, key uint64) {
	if alike(tier, v) {
		byChance(tier, key) // the numbers are in the order of the words they are made of
		return
	}
	var best selection
	var last, inverse uint64
	large := len(tier) > sorted
	for i := range tier {
		s := &tier[i]
		if w := v.share(s.member); w != last {
			last, inverse = w, ^uint64(0)/w
		}
		word := mix(key ^ s.identity())
		if large && !best.takes(weighed(atLeast(word), inverse)) {
			continue
		}
		s.rank = weighed(exponential(word), inverse)
		if large {
			best.offer(i, s.rank)
		}
	}
	if large {
		best.place(tier)
		return
	}
	byRank(tier)
}

// alike tells whether all of a tier have the same share.
func alike(tier []slot, v *View) bool {
	for i := 1; i < len(tier); i++ {
		if v.share(tier[i].member) != v.share(tier[0].member) {
			return false
		}
	}
	return true
}

// Score is the number that a far end draws from the hash of a key, see KeyHash: the
// lowest of a priority is first.
func (v *View) Score(m *Member, b *Binding, key uint64) uint64 {
	s := slot{member: m, binding: b}
	return weighed(exponential(mix(key^s.identity())), ^uint64(0)/v.share(m))
}

// byChance orders far ends by what they draw, all alike.
func byChance(tier []slot, key uint64) {
	for i := range tier {
		s := &tier[i]
		s.rank = ^mix(key ^ s.identity())
	}
	byRank(tier)
}
