package soft

import (
	"slices"
	"time"
)

// NodeUp tells that another node can be reached and which process it is. An earlier
// process of it is gone for good.
func (s *Store) NodeUp(now time.Time, node string, boot uint64) {
	s.now = now
	if node == s.cfg.Node {
		return
	}
	s.nodes[node] = liveness{up: true, boot: boot}
	if at, ok := slices.BinarySearch(s.names, node); !ok {
		s.names = slices.Insert(s.names, at, node)
	}
	for _, o := range slices.Clone(s.order) {
		switch {
		case o.node != node:
		case o.boot == boot:
			o.live, o.lost, o.heard, o.dropped = true, time.Time{}, time.Time{}, 0
		case o.live:
			s.bury(o, now)
		}
	}
	s.sendHave(node, true)
}

// NodeLost tells that another node cannot be reached any more, and when it was heard
// last; the zero time means now.
func (s *Store) NodeLost(now time.Time, node string, heard time.Time) {
	s.now = now
	n, ok := s.nodes[node]
	if !ok || !n.up {
		return
	}
	if heard.IsZero() || heard.After(now) {
		heard = now
	}
	s.nodes[node] = liveness{boot: n.boot}
	if at, ok := slices.BinarySearch(s.names, node); ok {
		s.names = slices.Delete(s.names, at, at+1)
	}
	for _, o := range slices.Clone(s.order) {
		if o.node == node && o.live {
			s.bury(o, heard)
		}
		if o.asked == node {
			o.giveUp()
		}
	}
}

// bury notes the death of a process and drops what does not outlive it.
func (s *Store) bury(o *origin, heard time.Time) {
	o.live, o.lost, o.heard = false, s.now, heard
	s.linger(o)
}

// linger drops the entries of a dead process whose time after its death is over.
func (s *Store) linger(o *origin) {
	due := o.dropped
	for k, r := range s.cfg.Rules {
		if !r.Keep && !s.now.Before(o.lost.Add(r.Linger)) {
			due |= 1 << k
		}
	}
	if due == o.dropped {
		return
	}
	o.dropped = due
	var gone []*entry
	for _, at := range o.after(0) {
		if !at.e.removed && due&(1<<at.e.kind) != 0 {
			gone = append(gone, at.e)
		}
	}
	for _, e := range gone {
		o.partial = true
		if !e.tombstone {
			s.tell(e, OwnerLost)
		}
		s.discard(e)
	}
}

// lingerDeadline is when the next entries of a dead process go.
func (s *Store) lingerDeadline(o *origin) (next time.Time) {
	if o.live {
		return next
	}
	for k, r := range s.cfg.Rules {
		if r.Keep || o.dropped&(1<<k) != 0 {
			continue
		}
		next = earliest(next, o.lost.Add(r.Linger))
	}
	return next
}

// prune forgets a dead process that has nothing left. One whose entries were dropped
// is remembered for as long as another node may still have them: else each would get
// them back from the other, for ever.
func (s *Store) prune(o *origin) {
	if o.live || o == s.own || len(o.entries) > 0 || o.asked != "" || s.now.Before(o.remember) {
		return
	}
	key := originKey{o.node, o.boot}
	if s.origins[key] != o {
		return
	}
	delete(s.origins, key)
	if at, ok := slices.BinarySearchFunc(s.order, o, compareOrigins); ok {
		s.order = slices.Delete(s.order, at, at+1)
	}
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Deadline returns when Advance is due.
func (s *Store) Deadline() time.Time {
	next := earliest(s.nextSync, s.expiry.next())
	for _, o := range s.order {
		if o.asked != "" {
			next = earliest(next, o.askedAt.Add(s.cfg.Retry))
		}
		next = earliest(next, s.lingerDeadline(o))
	}
	return next
}

// Advance carries out everything that is due at now.
func (s *Store) Advance(now time.Time) {
	s.now = now
	for len(s.expiry) > 0 && !now.Before(s.expiry[0].expires) {
		s.expire(s.expiry[0])
	}
	for _, o := range slices.Clone(s.order) {
		if !o.live {
			s.linger(o)
		}
		if o.asked != "" && !now.Before(o.askedAt.Add(s.cfg.Retry)) {
			peer := o.asked
			o.giveUp()
			s.sendHave(peer, true)
		}
	}
	if !now.Before(s.nextSync) {
		s.nextSync = now.Add(s.cfg.Sync)
		s.tidyCache()
		roomy := s.roomy()
		for _, o := range slices.Clone(s.order) {
			if roomy && !o.refused.IsZero() && now.Sub(o.refused) >= refusedPause {
				o.partial, o.refused = true, time.Time{}
			}
			s.prune(o)
		}
		if n := len(s.names); n > 0 {
			s.turn = (s.turn + 1) % n
			s.sendHave(s.names[s.turn], true)
		}
	}
}
