package trunkgroup

import "math/bits"

// splitMix is one step of the SplitMix64 generator (Steele, Lea, Flood 2014):
// any seed will do, also small and neighbouring ones.
func splitMix(state uint64) (next, value uint64) {
	next = state + 0x9E3779B97F4A7C15
	z := next
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return next, z ^ z>>31
}

// below maps a random word to 0 .. n-1 by multiplication; the bias is under
// n in 2^64.
func below(r, n uint64) uint64 {
	hi, _ := bits.Mul64(r, n)
	return hi
}
