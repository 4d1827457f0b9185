package trunkgroup

// putBack moves members that start slowly behind the others of their tier, in so many
// calls as they have no share of yet, and returns how many stay. Methods that weigh do
// not need it. The word is chance, or of calls that stay together their value, so that
// all nodes do alike.
func (v *View) putBack(tier []slot, word uint64) int {
	stay := 0
	for i := range tier {
		s := tier[i]
		r := v.ramp(s.member)
		if r < full && below(mix(word^s.identity()^putBackMark), full) >= r {
			continue
		}
		copy(tier[stay+1:i+1], tier[stay:i]) // those put back keep their order
		tier[stay] = s
		stay++
	}
	return stay
}

// putBackMark keeps who is put back apart from what else is made of the same word.
const putBackMark = 0x736C6F77
