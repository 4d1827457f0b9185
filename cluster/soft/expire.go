package soft

// expire does what is due with an entry or a tombstone whose time is over.
func (s *Store) expire(e *entry) {
	rule := s.cfg.Rules[e.kind]
	if e.tombstone {
		// Where every copy has expired by itself since, nobody needs to hear of it.
		if !rule.Keep || rule.Tombstone < rule.MaxTTL {
			e.origin.floor = max(e.origin.floor, e.seq)
		}
		s.discard(e)
		return
	}
	s.tell(e, Expired)
	end := e.since.Add(rule.MaxTTL)
	if !rule.Versioned || !s.now.Before(end) {
		s.discard(e)
		return
	}
	// An older version that somebody still holds may have been put for longer. Until
	// that is over too, this one stays as a tombstone, at every node alike.
	s.kinds[e.kind]--
	s.bytes -= len(e.value)
	e.origin.alive--
	e.tombstone, e.value = true, nil
	s.expiry.remove(e)
	e.expires = end
	s.expiry.add(e)
}
