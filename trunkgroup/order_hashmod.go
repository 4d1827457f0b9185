package trunkgroup

// byModulo places a key as Kamailio 5.6 does: the hash modulo the number of all
// members, those that are down too, and from there on to the next that takes calls
// (C2). So the calls of one that is down all go to its neighbour.
func byModulo(tier []slot, hash uint32) {
	for i := range tier {
		s := &tier[i]
		n := uint64(s.of)
		s.rank, s.tie = (uint64(s.place)+n-uint64(hash)%n)%n, 0
	}
	byRank(tier)
}
