package trunkgroup

import "math/bits"

// byShare gives far ends their shares in turn, without chance (K-20, algorithm 11): in
// as many turns as the weights add up to, each is first exactly as often as its weight
// says, and its turns lie apart. The next places are shared out in the same way among
// those that are left, so that the calls of a silent member go to the others by weight.
func byShare(tier []slot, v *View, turn uint64) {
	var total uint64
	unit := uint64(1)
	if !ramping(tier, v) {
		unit = full // whole weights have a shorter round
	}
	for i := range tier {
		s := &tier[i]
		s.rank = v.share(s.member) / unit
		total += s.rank
	}
	for places := 0; turn > 0 && len(tier) > 1 && places < exact; places++ { // turn 0 leaves all as it is
		mark := spread(turn%total, total)
		at := 0
		for mark >= tier[at].rank {
			mark -= tier[at].rank
			at++
		}
		first := tier[at]
		copy(tier[1:at+1], tier[:at]) // those passed over keep their order
		tier[0] = first
		turn /= total
		total -= first.rank
		tier = tier[1:]
	}
}

func ramping(tier []slot, v *View) bool {
	for i := range tier {
		if v.ramp(tier[i].member) != full {
			return true
		}
	}
	return false
}

// spread maps 0 .. n-1 to itself so that neighbours lie far apart: steps of the golden
// section of n, made coprime to it.
func spread(i, n uint64) uint64 {
	const golden = 0x9E3779B97F4A7C15 // of 2^64
	step, _ := bits.Mul64(n, golden)
	for step = max(step, 1); gcd(step, n) != 1; {
		step++
	}
	hi, lo := bits.Mul64(i, step)
	return bits.Rem64(hi, lo, n)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
