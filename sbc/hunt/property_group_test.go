package hunt

import (
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// usedGroup is what a checked call knows of one group.
type usedGroup struct {
	first      time.Time // its first dial
	progressed bool
}

// drawGroups gives the targets of a call up to three groups, one of which may stand in another.
func drawGroups(t *rapid.T, cfg *Config, codes *rapid.Generator[trunkgroup.CauseSet]) {
	for range rapid.IntRange(1, 3).Draw(t, "groups") {
		cfg.Groups = append(cfg.Groups, Group{
			AdvanceOn: codes.Draw(t, "advance_on"), NeverAdvance: codes.Draw(t, "never_advance"),
			MaxAttempts: rapid.SampledFrom([]int{0, 0, 1, 2, 3}).Draw(t, "max_attempts"),
			Setup:       time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3, 8}).Draw(t, "setup")) * time.Second,
			Parallel:    rapid.Bool().Draw(t, "parallel"),
		})
	}
	for i := range cfg.Targets {
		tg := &cfg.Targets[i]
		tg.Group = i * len(cfg.Groups) / len(cfg.Targets)
		tg.Within = tg.Group
		if n := tg.Group; n > 0 && !cfg.Groups[n].Parallel && !cfg.Groups[n-1].Parallel && rapid.Bool().Draw(t, "nested") {
			tg.Within = n - 1
		}
		tg.Tier = rapid.IntRange(0, 1).Draw(t, "tier")
		tg.Alternate = tg.Dialable && i > 0 && cfg.Targets[i-1].Dialable && cfg.Targets[i-1].Group == tg.Group &&
			cfg.Targets[i-1].Tier == tg.Tier && rapid.IntRange(0, 2).Draw(t, "alternate") == 0
	}
}

// alive lists the attempts in flight.
func (c *checkedCall) alive() []int { return slices.Sorted(maps.Keys(c.live)) }

// farEnd is the target that begins the addresses of a target's far end.
func (c *checkedCall) farEnd(target int) int {
	for c.cfg.Targets[target].Alternate {
		target--
	}
	return target
}

// of are the groups that a target counts for.
func (c *checkedCall) of(target int) []int {
	return slices.Compact([]int{c.cfg.Targets[target].Group, c.cfg.Targets[target].Within})
}

func (c *checkedCall) progress(attempt int) {
	for _, g := range c.of(c.seq.Attempts()[attempt].Target) {
		c.groups[g].progressed = true
	}
}

// judgeDial says whether an attempt may begin now.
func (c *checkedCall) judgeDial(a Action) {
	attempts := c.seq.Attempts()
	if c.peer {
		c.t.Fatalf("%v while the peer is asked", a)
	}
	if c.dialled[a.Target] || !c.cfg.Targets[a.Target].Dialable {
		c.t.Fatalf("%v: dialled before, or not dialable", a)
	}
	fork := attempts[a.Attempt].Fork
	if (fork != 0) != c.cfg.Groups[c.cfg.Targets[a.Target].Group].Parallel || len(c.live) >= MaxBranches {
		c.t.Fatalf("%v in fork %d beside %v", a, fork, c.alive())
	}
	for _, other := range c.alive() {
		at := attempts[other]
		if fork == 0 || at.Fork != fork || c.farEnd(at.Target) == c.farEnd(a.Target) {
			c.t.Fatalf("%v while attempt %d is alive", a, other)
		}
	}
	for _, g := range c.of(a.Target) {
		u, setup := &c.groups[g], c.cfg.Groups[g].Setup
		if u.first.IsZero() {
			u.first = c.now
		}
		if setup > 0 && !u.progressed && !c.now.Before(u.first.Add(setup)) {
			c.t.Fatalf("%v at %v, after the setup time of its group", a, c.now.Sub(c.zero))
		}
	}
}

// judgeGroups says whether the groups keep their bounds.
func (c *checkedCall) judgeGroups() {
	dials := make([]int, len(c.cfg.Groups))
	for i := range c.seq.Attempts() {
		a := &c.seq.Attempts()[i]
		if !a.Dialed || a.Site != "" {
			continue
		}
		for _, g := range c.of(a.Target) {
			dials[g]++
		}
	}
	for g, n := range dials {
		if limit := c.cfg.Groups[g].MaxAttempts; limit > 0 && n > limit {
			c.t.Fatalf("%d attempts of group %d, limit %d", n, g, limit)
		}
	}
	for _, attempt := range c.alive() {
		for _, g := range c.of(c.seq.Attempts()[attempt].Target) {
			u, setup := &c.groups[g], c.cfg.Groups[g].Setup
			end := u.first.Add(setup)
			if at := c.seq.Deadline(); setup > 0 && !u.progressed && (at.IsZero() || at.After(end)) {
				c.t.Fatalf("attempt %d may take until %v, the setup time ends at %v", attempt, at.Sub(c.zero), end.Sub(c.zero))
			}
		}
	}
}
