package sim

// nextByRecord chooses the next node as a client of SRV records does: the lowest
// priority that is left, by weight among equals (RFC 2782); those to be avoided
// come last. -1 when all were tried.
func (c *Caller) nextByRecord(k *call) int {
	at := -1
	var sum uint64
	better := func(i int) bool {
		n, best := c.nodes[i], c.nodes[at]
		avoid, worst := n.avoid.After(c.now), best.avoid.After(c.now)
		return worst && !avoid || avoid == worst && n.Priority < best.Priority
	}
	for i, n := range c.nodes {
		if k.tried&(1<<i) != 0 {
			continue
		}
		// Weight 0 has a small chance beside others (RFC 2782).
		weight := 100*uint64(n.Weight) + 1
		switch {
		case at < 0 || better(i):
			at, sum = i, weight
		case n.avoid.After(c.now) == c.nodes[at].avoid.After(c.now) && n.Priority == c.nodes[at].Priority:
			if sum += weight; c.rng.Uint64N(sum) < weight {
				at = i
			}
		}
	}
	return at
}
