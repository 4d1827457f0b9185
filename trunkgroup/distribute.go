package trunkgroup

// distribute orders far ends, which are sorted by priority, tier by tier.
func distribute(order []slot, g *Group, v *View, d Draw) {
	random, method, rest := d.Random, g.Method, order
	if d.Affinity != 0 {
		method = LeastSessions
	}
	for len(rest) > 0 {
		n := 1
		for n < len(rest) && rest[n].same(rest[0]) {
			n++
		}
		switch method {
		case LoadBalance:
			takeTurns(rest[:n], d.Turn)
		case Weighted:
			random = drawByWeight(rest[:n], v, random)
		case LeastSessions:
			leastSessions(rest[:n], g, v, d)
		}
		rest = rest[n:]
	}
	if d.Remembered != "" {
		toFront(order, d.Remembered)
	}
}

// takeTurns puts member turn mod n first. The others follow in
// document order, from a place that moves on with each round: so the calls of
// a silent member spread over all the others, not onto its neighbour.
func takeTurns(tier []slot, turn uint64) {
	n := uint64(len(tier))
	if n < 2 {
		return
	}
	rotate(tier, int(turn%n))
	if n > 2 {
		rotate(tier[1:], int(turn/n%(n-1)))
	}
}

// rotate moves the first k entries to the end, in place.
func rotate(s []slot, k int) {
	reverse(s[:k])
	reverse(s[k:])
	reverse(s)
}

func reverse(s []slot) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// drawByWeight orders by repeated draws without putting back: each place goes
// to a member with the probability of its weight among those that are left. It
// returns the generator's next state.
func drawByWeight(tier []slot, v *View, random uint64) uint64 {
	var total uint64
	for _, s := range tier {
		total += v.weight(s.member)
	}
	for i := range tier {
		var r uint64
		random, r = splitMix(random)
		at, mark := i, below(r, total)
		for w := v.weight(tier[at].member); mark >= w; w = v.weight(tier[at].member) {
			mark -= w
			at++
		}
		m := tier[at]
		copy(tier[i+1:at+1], tier[i:at]) // those passed over keep their order
		tier[i] = m
		total -= v.weight(m.member)
	}
	return random
}
