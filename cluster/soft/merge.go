package soft

import "slices"

// merge takes a delta. It must begin at or below what is known; anything else is
// asked for.
func (s *Store) merge(from string, d *delta) {
	o := s.origins[originKey{d.node, d.boot}]
	switch {
	case o == s.own, o == nil && d.node != from:
		return // nothing of its own is news, and nothing else was asked for
	case o == nil:
		o = s.origin(d.node, d.boot)
	}
	asked := o.asked == from
	if d.reset {
		if !asked || d.tip < max(o.tip, o.prior) && !o.live {
			return // a repetition, or of a copy that has less
		}
		o.restart(d.tip)
		o.mark++
		o.partial = false
		s.stats.Resyncs++
	}
	// Another copy may lack what its node has dropped already.
	o.partial = o.partial || d.node != from || !o.live
	if d.from > o.tip {
		if o.asked == "" {
			s.stats.Gaps++
			s.out = append(s.out, Message{To: from, Frame: appendWant(nil, []want{s.ask(o, from)})})
		}
		return
	}
	for i := range d.entries {
		if c := &d.entries[i]; c.seq > o.tip {
			s.apply(o, c)
		}
	}
	o.tip = max(o.tip, d.to)
	if o.tip >= d.tip {
		s.complete(o)
		if asked {
			o.asked = ""
		}
		return
	}
	if asked {
		o.askedAt = s.now
		if d.more {
			s.out = append(s.out, Message{To: from, Frame: appendWant(nil, []want{s.ask(o, from)})})
		}
	}
}

// complete ends a resync: what it did not confirm its owner does not have any more.
// What is above the tip is known from a source that knew more.
func (s *Store) complete(o *origin) {
	if !o.resync {
		return
	}
	o.resync = false
	for _, at := range slices.Clone(o.after(0)) {
		if e := at.e; !e.removed && e.mark != o.mark && e.seq <= o.tip {
			if !e.tombstone {
				s.tell(e, OwnerLost)
			}
			s.discard(e)
		}
	}
}

// apply takes one change of another process.
func (s *Store) apply(o *origin, c *change) {
	rule, ok := s.cfg.Rules[c.kind]
	switch {
	case !ok:
		s.stats.Unknown++
		return
	case !o.live && !rule.Keep && o.dropped&(1<<c.kind) != 0:
		o.partial = true
		return
	case rule.Keep && !c.expires:
		s.stats.Unknown++ // no rule of ours lets an owner make one
		return
	}
	e := s.entryOf(o, c, rule)
	was := o.entries[e.ref]
	if was != nil && was.seq >= e.seq {
		was.mark = o.mark
		return
	}
	changed := was == nil || was.tombstone || !slices.Equal(was.value, e.value)
	freed, replaced := 0, was
	if best := s.latest[e.ref]; rule.Versioned && best != nil {
		if !e.beats(best) {
			s.supersede(was)
			return
		}
		if rule.Newest && best.origin == s.own && best.newer(e) {
			s.insist(best, rule, e.version)
			return
		}
		changed = changed && (best.tombstone || !slices.Equal(best.value, e.value))
		replaced = best
	}
	if replaced != nil {
		freed = replaced.size()
	}
	if !s.room(e.size()-freed, replaced == nil) {
		s.stats.Refused++
		o.refused = s.now
		return
	}
	s.supersede(was)
	s.supersede(replaced)
	s.add(e, rule)
	s.stats.Received++
	switch {
	case !e.tombstone && changed:
		s.tell(e, Put)
	case e.tombstone && replaced != nil && !replaced.tombstone:
		s.tell(e, Deleted)
	}
}

// supersede removes an entry whose place another one takes.
func (s *Store) supersede(e *entry) {
	if e != nil && !e.removed {
		s.discard(e)
	}
}

func (s *Store) entryOf(o *origin, c *change, rule Rule) *entry {
	e := &entry{
		ref: ref{c.kind, c.key}, origin: o, seq: c.seq, version: c.version, value: slices.Clone(c.value),
		since: s.now.Add(-c.age), tombstone: c.tombstone, mark: o.mark, pos: -1,
	}
	if c.expires {
		longest := rule.MaxTTL
		if c.tombstone {
			longest = rule.Tombstone
		}
		e.expires = s.now.Add(min(c.remaining, longest))
	}
	return e
}
