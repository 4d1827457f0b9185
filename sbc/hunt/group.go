package hunt

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// MaxBranches bounds how many far ends one fork calls at a time: a caller's one INVITE must not become
// any number of them. The far ends beyond it follow when these have failed.
const MaxBranches = 10

// Group holds the rules of one trunk group for its targets in one call.
type Group struct {
	// AdvanceOn are the finals that lead to the next target; empty means 408, 500, 502, 503, 504
	// (S-035, S-036). A 6xx in it has no effect (S-033).
	AdvanceOn trunkgroup.CauseSet
	// NeverAdvance are finals that are the last word, whatever AdvanceOn and HandoffOn say (C9, P-38).
	NeverAdvance trunkgroup.CauseSet
	// MaxAttempts bounds the dialled attempts of the group; 0 means as many as it has targets.
	MaxAttempts int
	// Setup bounds the time from the first dial in the group to the first progress of any of its
	// attempts; 0 means no bound. At its end the other groups have their turn.
	Setup time.Duration
	// Parallel dials all far ends of one tier at once.
	Parallel bool
}

// advances reports whether a final of this code, or a silence recorded under it, leads from a target to
// the next one: by what the target says, else its group, else the default (S-036).
func (c *Config) advances(t *Target, code int) bool {
	g, causes := c.group(t), t.AdvanceOn
	if causes == nil || causes.Empty() {
		causes = &g.AdvanceOn
	}
	switch {
	case code >= 600, g.NeverAdvance.Has(code): // C7: a 6xx on a list has no effect
		return false
	case causes.Empty():
		return code == 408 || code == 500 || code == 502 || code == 503 || code == 504
	}
	return causes.Has(code)
}

// tally is what one group has used of its bounds.
type tally struct {
	dialed int
	until  time.Time // end of Setup; zero before the first dial and once progress has met it
	begun  bool      // Setup runs or has run
	spent  bool      // Setup has passed: nobody of the group is dialled any more
}

// bounded reports whether any group has a bound that needs counting.
func (c *Config) bounded() bool {
	for i := range c.Groups {
		if c.Groups[i].MaxAttempts > 0 || c.Groups[i].Setup > 0 {
			return true
		}
	}
	return false
}

// each calls do with the groups that a target counts for and what they have used. A group that nests
// others bounds what is dialled of them too.
func (s *Sequence) each(t *Target, do func(*Group, *tally)) {
	if s.tallies == nil {
		return
	}
	do(&s.cfg.Groups[t.Group], &s.tallies[t.Group])
	if t.Within != t.Group {
		do(&s.cfg.Groups[t.Within], &s.tallies[t.Within])
	}
}

// full reports whether a group of the target has had all its attempts.
func (s *Sequence) full(t *Target) (full bool) {
	s.each(t, func(g *Group, used *tally) { full = full || g.MaxAttempts > 0 && used.dialed >= g.MaxAttempts })
	return full
}

// spent reports whether the setup time of a group of the target has passed.
func (s *Sequence) spent(t *Target, now time.Time) (spent bool) {
	s.each(t, func(_ *Group, used *tally) {
		spent = spent || used.spent || !used.until.IsZero() && !now.Before(used.until)
	})
	return spent
}

// count enters a dial of the target in its groups; the first one starts their setup time.
func (s *Sequence) count(t *Target, now time.Time) {
	s.each(t, func(g *Group, used *tally) {
		used.dialed++
		if g.Setup > 0 && !used.begun {
			used.begun, used.until = true, now.Add(g.Setup)
		}
	})
}

// uncount takes a dial back of which no INVITE left. The setup time goes on.
func (s *Sequence) uncount(t *Target) {
	s.each(t, func(_ *Group, used *tally) { used.dialed-- })
}

// met ends the setup time of the target's groups: somebody of them has shown progress.
func (s *Sequence) met(t *Target) {
	s.each(t, func(_ *Group, used *tally) { used.until = time.Time{} })
}

// setup is when the setup time of a group ends of which something is in flight, zero for never. A fork is
// of one group.
func (s *Sequence) setup() (at time.Time) {
	s.each(s.target(s.live[0]), func(_ *Group, used *tally) { at = earlier(at, used.until) })
	return at
}
