package soft

import "time"

// room makes place for size octets, and one entry more when fresh, by evicting the
// oldest entries of caches.
func (s *Store) room(size int, fresh bool) bool {
	entries := 0
	if fresh {
		entries = 1
	}
	for s.bytes+size > s.cfg.MaxBytes || s.count+entries > s.cfg.MaxEntries {
		if !s.evict() {
			return size <= 0 && !fresh // what does not grow is always taken
		}
	}
	return true
}

// refusedPause is how long after an entry found no room its owner is asked for
// all of its entries once more, should there be room by then.
const refusedPause = 15 * time.Second

// roomy tells whether a tenth of the store is free.
func (s *Store) roomy() bool {
	return s.bytes < s.cfg.MaxBytes/10*9 && s.count < s.cfg.MaxEntries/10*9
}

// evict drops the oldest entry of a cache.
func (s *Store) evict() bool {
	for len(s.cache) > 0 {
		e := s.cache[0]
		s.cache[0] = nil
		s.cache = s.cache[1:]
		if e.removed || e.tombstone {
			continue
		}
		s.tell(e, Evicted)
		s.discard(e)
		s.stats.Evicted++
		return true
	}
	return false
}

// tidyCache lets go of what left the store by another way.
func (s *Store) tidyCache() {
	if len(s.cache) < 1024 || len(s.cache) < 2*s.evictable() {
		return
	}
	kept := make([]*entry, 0, s.evictable())
	for _, e := range s.cache {
		if !e.removed && !e.tombstone {
			kept = append(kept, e)
		}
	}
	s.cache = kept
}

func (s *Store) evictable() (n int) {
	for k, r := range s.cfg.Rules {
		if r.Evict {
			n += s.kinds[k]
		}
	}
	return n
}
