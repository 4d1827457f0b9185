package trunkgroup

// takeTurns puts member turn mod n first. The others follow in
// document order, from a place that moves on with each round: so the calls of
// a silent member spread over all the others, not onto its neighbour.
func (o *ordering) takeTurns(tier []slot, turn uint64) {
	n := uint64(len(tier))
	if n < 2 {
		return
	}
	o.rotate(tier, int(turn%n))
	if n > 2 {
		o.rotate(tier[1:], int(turn/n%(n-1)))
	}
}

// roundRobin goes round in document order, whoever is first (K-06).
func (o *ordering) roundRobin(tier []slot, turn uint64) {
	if n := uint64(len(tier)); n > 1 {
		o.rotate(tier, int(turn%n))
	}
}

// rotate moves the first k entries to the end.
func (o *ordering) rotate(s []slot, k int) {
	if len(s) > sorted {
		o.p.spare = append(o.p.spare[:0], s[:k]...)
		copy(s[copy(s, s[k:]):], o.p.spare)
		return
	}
	reverse(s[:k])
	reverse(s[k:])
	reverse(s)
}

func reverse(s []slot) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}
