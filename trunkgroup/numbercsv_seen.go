package trunkgroup

// csvSeen is the patterns of a list so far, and where they stand. Exact numbers
// and prefixes are in an open addressing table, of 16 octets a slot; ranges are
// few.
type csvSeen struct {
	keys   []uint64 // power of two long; 0 = empty slot
	places []csvPlace
	used   int
	ranges map[Pattern]csvPlace
}

// csvPlace is a line, from 1, and its group.
type csvPlace struct{ line, group uint32 }

const csvSeenFirst = 1 << 10 // slots

// len returns how many patterns there are.
func (s *csvSeen) len() int { return s.used + len(s.ranges) }

// enter enters a pattern. When it is there already it returns the line and the
// group of that, else line 0.
func (s *csvSeen) enter(p Pattern, at csvPlace) (line, group uint32) {
	if p.Kind == Range {
		if old, ok := s.ranges[p]; ok {
			return old.line, old.group
		}
		if s.ranges == nil {
			s.ranges = make(map[Pattern]csvPlace)
		}
		s.ranges[p] = at
		return 0, 0
	}
	if s.used >= len(s.keys)/3*2 {
		s.grow()
	}
	key := uint64(p.low) | uint64(p.Kind)<<56
	slot := s.slot(key)
	if s.keys[slot] == key {
		return s.places[slot].line, s.places[slot].group
	}
	s.keys[slot], s.places[slot] = key, at
	s.used++
	return 0, 0
}

// slot returns where the key is, or the empty slot where it would be.
func (s *csvSeen) slot(key uint64) int {
	h := key * hashMultiplier
	h ^= h >> 32
	slot := int(h) & (len(s.keys) - 1)
	for s.keys[slot] != 0 && s.keys[slot] != key {
		slot = (slot + 1) & (len(s.keys) - 1)
	}
	return slot
}

func (s *csvSeen) grow() {
	keys, places := s.keys, s.places
	size := max(2*len(keys), csvSeenFirst)
	s.keys, s.places = make([]uint64, size), make([]csvPlace, size)
	for i, key := range keys {
		if key != 0 {
			slot := s.slot(key)
			s.keys[slot], s.places[slot] = key, places[i]
		}
	}
}
