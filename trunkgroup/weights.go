package trunkgroup

import "math/bits"

// full is the ramp of a member that has its whole share, in percent.
const full = 100

// ramp is what a member has of its share while it starts slowly, in percent.
func (v *View) ramp(m *Member) uint64 {
	if v.Ramps == nil || m.Nested != nil || m.Group.SlowStart == 0 {
		return full
	}
	if r := v.Ramps[m.Index]; r > 0 && r < full {
		return uint64(r)
	}
	return full
}

// share is what a member counts in a method that weighs: its weight, of one that
// starts slowly the part of it that it has.
func (v *View) share(m *Member) uint64 { return v.weight(m) * v.ramp(m) }

// tail is a step of the logarithm: 1/c and -log2(c) for the upper end c of one part
// of [1/2, 1).
type tail struct {
	inverse uint64 // 2^63 / c
	log     uint64 // in units of unit
}

// tails divide [1/2, 1) into parts. They are computed with whole numbers only, so
// that all architectures have the same.
var tails = makeTails()

const (
	tailBits = 7 // log2 of the number of parts
	unitBits = 57
	unit     = 1 << unitBits        // one, as exponential counts
	log2e    = 0xB8AA3B295C17F0BC   // log2(e) in 1/2^63
	half     = ^uint64(0)/2 + 1     // 1/2 in 1/2^64
	third    = ^uint64(0)/3 + 1     // 1/3 in 1/2^64
	fifth    = (^uint64(0))/5 + 1   // 1/5 in 1/2^64
	quarter  = 1 << 62              // 1/4 in 1/2^64
	topBit   = uint64(1) << 63      // 1/2 of 2^64
	partSize = 1 << (63 - tailBits) // of one part
)

func makeTails() (table [1 << tailBits]tail) {
	for i := range table {
		n := uint64(len(table) + i + 1) // c is n / 2^(tailBits+1)
		inverse, _ := bits.Div64(1<<tailBits, 0, n)
		table[i] = tail{inverse, (tailBits+1)*unit - log2(n)}
	}
	return table
}

// log2 returns the logarithm of a whole number in units of unit.
func log2(n uint64) uint64 {
	whole := 63 - bits.LeadingZeros64(n)
	x := n << (63 - whole) // in 1/2^63, from 1 up to 2
	l := uint64(whole)
	for range unitBits {
		hi, lo := bits.Mul64(x, x)
		l <<= 1
		if x = hi<<1 | lo>>63; hi >= topBit { // 2 and more: half of it, and one more bit
			l, x = l|1, hi
		}
	}
	return l
}

// exponential turns a random word into a number with the exponential distribution:
// -log2(word / 2^64) in units of unit. Larger words give smaller numbers. It has the
// relative precision of 2^-36 also near zero, and uses whole numbers only.
func exponential(word uint64) uint64 {
	word |= 1 // never zero
	zeros := bits.LeadingZeros64(word)
	m := word << zeros // from 1/2 up to 1
	i := (m & (topBit - 1)) / partSize
	t := &tails[i]
	rest := topBit + (i+1)*partSize - m // of the last part it overflows to what it should be
	r, lo := bits.Mul64(rest, t.inverse)
	r = r<<1 | lo>>63 // 1 - m/c in 1/2^64, at most 2^-tailBits
	// -ln(1-r) = r + r^2/2 + r^3/3 + r^4/4 + r^5/5 + ...
	s, _ := bits.Mul64(r, fifth)
	s, _ = bits.Mul64(r, s+quarter)
	s, _ = bits.Mul64(r, s+third)
	s, _ = bits.Mul64(r, s+half)
	s, _ = bits.Mul64(r, s)
	s += r
	s, _ = bits.Mul64(s, log2e) // in 1/2^63
	return uint64(zeros)<<unitBits + t.log + s>>(63-unitBits)
}

// atLeast is a number that exponential is not below.
func atLeast(word uint64) uint64 { return ^word >> (64 - unitBits) }

// weighed divides a number by a weight, whose inverse is in 1/2^64.
func weighed(number, inverse uint64) uint64 {
	hi, _ := bits.Mul64(number, inverse)
	return hi
}
