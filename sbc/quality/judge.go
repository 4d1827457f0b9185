package quality

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Change is that the bar of a member came, went, or is another one.
type Change struct {
	Member string         // "group/member", or the trunkgroup.CarrierKey of a carrier
	Bar    trunkgroup.Bar // zero: it is over
}

// Judge decides anew about all members. It is to be called about once a second.
func (w *Watch) Judge(now time.Time) (changes []Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.each(func(key string, s *seat) {
		if !s.judge(now) {
			return
		}
		c := Change{Member: key}
		if b := s.bar.Load(); b != nil {
			c.Bar = *b
		}
		changes = append(changes, c)
	})
	return changes
}

// judge decides about one member.
func (s *seat) judge(now time.Time) (changed bool) {
	was := s.bar.Load()
	is := s.decide(now, was)
	switch {
	case is == was, is != nil && was != nil && *is == *was:
		return false
	case was != nil && is == nil:
		s.reset(now, was.Until)
	}
	s.bar.Store(is)
	s.touch()
	return true
}

// reset makes what was counted before a time count no more.
func (s *seat) reset(now, from time.Time) {
	if from.After(now) {
		from = now
	}
	if from.After(s.from) {
		s.from = from
	}
}

// decide returns the bar of a member at a time, nil for none. The oldest one of all
// that nodes tell of holds; a node that has none asks the counts.
func (s *seat) decide(now time.Time, own *trunkgroup.Bar) *trunkgroup.Bar {
	print := fingerprint(s.demand)
	for _, o := range s.others {
		if o.print == print && o.from.Sub(s.from) > sameFrom {
			s.reset(now, o.from)
		}
	}
	best := own
	if own != nil && (!now.Before(own.Until) || own.Since.Before(s.from)) {
		best = nil
	}
	for _, o := range s.others {
		b := o.bar
		if o.print != print || b == nil || !now.Before(b.Until) || b.Since.Before(s.from) {
			continue
		}
		if best == nil || b.Since.Before(best.Since) && best.Since.Sub(b.Since) > sameBar {
			best = s.adopt(now, b)
		}
	}
	if best != nil || own != nil && !now.Before(own.Until) {
		return best // the counts of what is over just now are not asked again
	}
	reason := s.demand.Judge(s.sum(now, s.from))
	if reason == "" {
		return nil
	}
	return &trunkgroup.Bar{Since: now, Until: now.Add(s.demand.Cooldown), Reason: reason}
}

// sameBar is how far apart two nodes see the beginning of one bar, which each has
// counted out or heard a little later than the other.
const sameBar = 100 * time.Millisecond

// sameFrom is how much later another node must count anew for this one to do it as
// well: what is told comes a little late, and must not come back later and later.
const sameFrom = time.Second

// adopt takes the bar of another node, for no longer than this one would make one.
func (s *seat) adopt(now time.Time, b *trunkgroup.Bar) *trunkgroup.Bar {
	is := *b
	if is.Since.After(now) {
		is.Since = now
	}
	if latest := now.Add(s.demand.Cooldown); is.Until.After(latest) {
		is.Until = latest
	}
	return &is
}

// sum is what all nodes have counted within the window, from a time on.
func (s *seat) sum(now, from time.Time) trunkgroup.CallTally {
	if begin := now.Add(-s.demand.Window); from.Before(begin) {
		from = begin
	}
	t := s.ring.sum(now, from)
	for _, o := range s.others {
		for _, p := range o.parts {
			if !p.began.Before(from) {
				t.Add(p.tally)
			}
		}
	}
	return t
}

// Lift ends the bar of a member, by an operator's word that it is to get calls; what
// was counted so far counts no more, on all nodes.
func (w *Watch) Lift(now time.Time, member string) (changed bool) {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seats[member]
	if s == nil {
		s = w.carriers.seats[member]
	}
	if s == nil {
		return false
	}
	s.from = now
	s.touch()
	return s.bar.Swap(nil) != nil
}

// Report is what is known of the calls of one member.
type Report struct {
	Member *trunkgroup.Member
	Tally  trunkgroup.CallTally // of all nodes within the window
	Bar    trunkgroup.Bar       // zero for none
}

// Reports returns what was counted of the members of the table in force.
func (w *Watch) Reports(now time.Time) (list []Report) {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.index.Load()
	if x == nil {
		return nil
	}
	for i, s := range x.seats {
		if s == nil {
			continue
		}
		r := Report{Member: x.table.Members()[i], Tally: s.sum(now, s.from)}
		if b := s.bar.Load(); b != nil && now.Before(b.Until) {
			r.Bar = *b
		}
		list = append(list, r)
	}
	return list
}

// Any tells whether a member has a bar.
func (w *Watch) Any(now time.Time) bool {
	x := w.index.Load()
	if x == nil {
		return false
	}
	for _, s := range x.seats {
		if s == nil {
			continue
		}
		if b := s.bar.Load(); b != nil && now.Before(b.Until) {
			return true
		}
	}
	return false
}
