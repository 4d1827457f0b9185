package trunkgroup

import "math/bits"

// CauseSet is a set of SIP response codes, 200 to 699. Values are comparable
// with ==; the zero value is the empty set.
type CauseSet struct {
	bits [8]uint64
}

const (
	causeMin = 200
	causeMax = 699
)

// Causes returns the set of these codes. Codes outside 200 to 699 are ignored.
func Causes(codes ...int) CauseSet {
	var s CauseSet
	for _, c := range codes {
		if c >= causeMin && c <= causeMax {
			i := uint(c - causeMin)
			s.bits[i/64] |= 1 << (i % 64)
		}
	}
	return s
}

// Has reports whether the code is in the set.
func (s CauseSet) Has(code int) bool {
	if code < causeMin || code > causeMax {
		return false
	}
	i := uint(code - causeMin)
	return s.bits[i/64]&(1<<(i%64)) != 0
}

// Empty reports whether no code is in the set.
func (s CauseSet) Empty() bool { return s == CauseSet{} }

// Codes lists the codes, lowest first.
func (s CauseSet) Codes() []int {
	var codes []int
	for w, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			codes = append(codes, causeMin+w*64+bits.TrailingZeros64(word))
		}
	}
	return codes
}
