package trunkgroup

// ordering is one distribution of one group for one call.
type ordering struct {
	p *Planner
	g *Group
	v *View
	d *Draw
	// tiers are the sizes of the group's tiers in the site.
	tiers []int
	// key is the hash that the method goes by, or chance.
	key  uint64
	turn bool // it hashes, and the call has no key: it takes turns
}

// distribute orders far ends, which are sorted by priority, tier by tier.
func (o *ordering) distribute(order []slot) {
	o.prepare()
	for rest := order; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].same(&rest[0]) {
			n++
		}
		tier := rest[:n]
		rest = rest[n:]
		if n == 1 {
			continue
		}
		if o.v.Ramps != nil && !o.weighs() {
			word := o.d.Random
			if o.d.Affinity != 0 {
				word = o.d.Affinity
			}
			stay := o.v.putBack(tier, word)
			o.order(tier[stay:])
			tier = tier[:stay]
		}
		o.order(tier)
	}
}

// prepare finds what the method goes by.
func (o *ordering) prepare() {
	switch m := o.g.Method; {
	case m == Weighted || m == Random:
		o.key = mix(o.d.Random)
	case m == HashMod:
		hash, ok := o.g.KamailioKey(o.d.Traits)
		o.key, o.turn = uint64(hash), !ok
	case m.Hashes():
		hash, ok := o.g.KeyHash(o.d.Traits)
		o.key, o.turn = hash, !ok
	}
}

// weighs tells whether the call is distributed by weight.
func (o *ordering) weighs() bool { return o.g.Method.Weighs() && !o.turn && o.d.Affinity == 0 }

// order orders one tier.
func (o *ordering) order(tier []slot) {
	if len(tier) < 2 {
		return
	}
	method := o.g.Method
	switch {
	case o.d.Affinity != 0:
		method = LeastSessions
	case o.turn && method == HashMod:
		method = RoundRobin
	case o.turn:
		method = LoadBalance
	}
	switch method {
	case LoadBalance:
		o.takeTurns(tier, o.d.Turn)
	case RoundRobin:
		o.roundRobin(tier, o.d.Turn)
	case Weighted:
		byHash(tier, o.v, o.key)
	case RelativeWeight:
		byShare(tier, o.v, o.d.Turn)
	case Random:
		byChance(tier, o.key)
	case LeastSessions:
		o.leastSessions(tier)
	case CallLoad:
		o.byCalls(tier)
	case LeastBusy:
		o.byUse(tier)
	case Latency:
		o.byLatency(tier)
	case HashMod:
		byModulo(tier, o.tiers[tier[0].tier], uint32(o.key))
	case Failover, Parallel:
	default:
		byHash(tier, o.v, o.key)
	}
}
