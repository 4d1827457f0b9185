package trunkgroup

// Offer is what the challenges of a realm offer: the algorithms that its
// credentials can be used with. It is of the realm as a whole, so that a
// challenge tells nothing of a user (P-11).
type Offer struct {
	held    uint8 // bit i: some credential has exactly the set i of algorithms
	dropped uint8 // a set of algorithms that is left out
}

// offerOf returns an offer of these algorithms, as for one credential that has
// them all.
func offerOf(algorithms ...string) Offer { return Offer{}.with(algorithms) }

// with enters the algorithms of one more credential.
func (o Offer) with(algorithms []string) Offer {
	var set uint8
	for _, a := range algorithms {
		set |= algorithmBit(a)
	}
	if set != 0 {
		o.held |= 1 << set
	}
	return o
}

// algorithmBit is the set of one algorithm; 0 for an unknown one.
func algorithmBit(algorithm string) uint8 {
	switch algorithm {
	case AlgorithmSHA256:
		return 1
	case AlgorithmSHA512256:
		return 2
	case AlgorithmMD5:
		return 4
	}
	return 0
}

// Has tells whether an algorithm is offered.
func (o Offer) Has(algorithm string) bool {
	bit := algorithmBit(algorithm) &^ o.dropped
	for set := range uint8(8) {
		if o.held&(1<<set) != 0 && set&bit != 0 {
			return true
		}
	}
	return false
}

// Without leaves an algorithm out. It does so only, and ok is true only, when
// it was offered and every credential can be used with what is left.
func (o Offer) Without(algorithm string) (less Offer, ok bool) {
	if !o.Has(algorithm) {
		return o, false
	}
	less = Offer{o.held, o.dropped | algorithmBit(algorithm)}
	for set := range uint8(8) {
		if o.held&(1<<set) != 0 && set&^less.dropped == 0 {
			return o, false
		}
	}
	return less, true
}

// Offer returns what a challenge for a realm offers; for a realm without
// credentials it is what most realms have.
func (t *Table) Offer(realm string) Offer {
	if o := t.offers[realm]; o.held != 0 {
		return o
	}
	return offerOf(AlgorithmSHA256, AlgorithmMD5)
}
