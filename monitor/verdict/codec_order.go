package verdict

import "github.com/tandem-sbc/tandem/trunkgroup"

// What follows the nearest word that every build knows. An older one reads that alone, and what it passes on means no more.
const (
	orderNone byte = iota
	orderInactive
	orderTrying
)

// split takes a word apart for the wire: an older build drains a member that is to be inactive, and the word is taken back when its probes are
// good; it takes words back of one that is to be trying.
func split(a trunkgroup.AdminState) (nearest trunkgroup.AdminState, order byte) {
	switch a {
	case trunkgroup.AdminInactive:
		return trunkgroup.AdminDraining, orderInactive
	case trunkgroup.AdminTrying:
		return trunkgroup.AdminUp, orderTrying
	}
	return a, orderNone
}

// join is the reverse. What does not fit together is a later build's: then the nearest word holds.
func join(nearest trunkgroup.AdminState, order byte) trunkgroup.AdminState {
	switch {
	case nearest == trunkgroup.AdminDraining && order == orderInactive:
		return trunkgroup.AdminInactive
	case nearest == trunkgroup.AdminUp && order == orderTrying:
		return trunkgroup.AdminTrying
	}
	return nearest
}

// Saved gives the words by which a knob's state stands in a file: an older build that reads it takes the first and does not know the second, which
// is empty for most.
func Saved(a trunkgroup.AdminState) (nearest, order string) {
	n, o := split(a)
	if o == orderNone {
		return n.String(), ""
	}
	return n.String(), a.String()
}
