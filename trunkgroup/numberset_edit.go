package trunkgroup

// setEdit gives a pattern to an owner, or takes it out.
type setEdit struct {
	Pattern
	owner uint32
	gone  bool
	index int // for the caller
}

// rangeClash says that the range of an edit overlaps with another one.
type rangeClash struct {
	edit  *setEdit
	other Pattern
	owner uint32
}

// with returns the set after the edits, which are sorted as comparePatterns
// does and have each pattern once. It returns a clash, and no set, when the range
// of an edit overlaps in the result.
func (s *numberSet) with(edits []setEdit) (numberSet, *rangeClash) {
	var exact []numberEdit[uint32]
	var prefixes []prefixEdit
	i := 0
	for ; i < len(edits) && edits[i].Kind == Exact; i++ {
		exact = append(exact, numberEdit[uint32]{edits[i].low, edits[i].owner, edits[i].gone})
	}
	for ; i < len(edits) && edits[i].Kind == Prefix; i++ {
		prefixes = append(prefixes, prefixEdit{edits[i].low, edits[i].owner, edits[i].gone})
	}
	ranges, clash := s.withRanges(edits[i:])
	if clash != nil {
		return numberSet{}, clash
	}
	return numberSet{s.exact.with(exact), ranges, s.prefixes.with(prefixes)}, nil
}

// withRanges returns the ranges after the edits. A range is found by its low
// end, so that all edits of one low end are one edit of the map.
func (s *numberSet) withRanges(edits []setEdit) (numberMap[rangeEnd], *rangeClash) {
	var merged []numberEdit[rangeEnd]
	for rest := edits; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].low == rest[0].low {
			n++
		}
		e, clash := s.editRange(rest[:n])
		if clash != nil {
			return s.ranges, clash
		}
		merged = append(merged, e)
		rest = rest[n:]
	}
	ranges := s.ranges.with(merged)
	for i := range edits {
		if edits[i].gone {
			continue
		}
		if clash := overlapping(&ranges, &edits[i]); clash != nil {
			return s.ranges, clash
		}
	}
	return ranges, nil
}

// editRange makes one edit of those that have one low end: what is taken out
// goes before what comes.
func (s *numberSet) editRange(edits []setEdit) (numberEdit[rangeEnd], *rangeClash) {
	low := edits[0].low
	end, exists := s.ranges.get(low)
	for i := range edits {
		if edits[i].gone && edits[i].high == end.high {
			exists = false
		}
	}
	for i := range edits {
		e := &edits[i]
		if e.gone {
			continue
		}
		if exists && end.high != e.high {
			return numberEdit[rangeEnd]{}, &rangeClash{e, Pattern{Range, low, end.high}, end.owner}
		}
		end, exists = rangeEnd{e.high, e.owner}, true
	}
	return numberEdit[rangeEnd]{low, end, !exists}, nil
}

// overlapping looks for a neighbour that overlaps with the range of an edit.
func overlapping(ranges *numberMap[rangeEnd], e *setEdit) *rangeClash {
	if low, end, ok := ranges.floor(e.low - 1); ok && end.high >= e.low {
		return &rangeClash{e, Pattern{Range, low, end.high}, end.owner}
	}
	if low, end, ok := ranges.floor(e.high); ok && low > e.low {
		return &rangeClash{e, Pattern{Range, low, end.high}, end.owner}
	}
	return nil
}
