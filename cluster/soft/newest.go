package soft

import "time"

// newestMargin is by how much one entry must be older than another for the times
// to decide: ages come over the network, and what was written at the same time is
// a matter of versions (DEC-15).
const newestMargin = 100 * time.Millisecond

// newer tells whether an entry was clearly written after another one. What is
// late on its way looks younger than it is, never older: of two owners that meet
// each other's entries at most one finds its own the newer.
func (e *entry) newer(o *entry) bool { return e.since.Sub(o.since) > newestMargin }

// insist writes an entry or a tombstone of this node's own anew, above a version
// that was written earlier and in ignorance of it. Its age and what is left of its
// time stay.
func (s *Store) insist(e *entry, rule Rule, above uint64) {
	again := *e
	s.discard(e)
	s.own.tip++
	again.seq, again.version, again.pos, again.removed = s.own.tip, above+1, -1, false
	s.add(&again, rule)
}
