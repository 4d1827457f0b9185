package trunkgroup

// byModulo places a key as Kamailio 5.6 does: the hash modulo the number of all
// members, those that are down too, and from there on to the next that takes calls
// (C2). So the calls of one that is down all go to its neighbour. Kamailio keeps a
// set in the reverse order of its list.
func byModulo(tier []slot, all int, hash uint32) {
	n := uint64(all)
	first := uint64(hash) % n
	for i := range tier {
		at := n - 1 - uint64(tier[i].place)
		if at < first {
			at += n // behind the last comes the first
		}
		tier[i].rank = at
	}
	byRank(tier)
}
