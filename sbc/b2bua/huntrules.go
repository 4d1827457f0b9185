package b2bua

import (
	"slices"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// huntRules turns the try-order into the sequence engine's targets, with the rules
// of the groups that they are of.
type huntRules struct {
	groups  []*trunkgroup.Group // by index in rules
	own     bool                // groups is nobody else's
	rules   []hunt.Group
	targets []hunt.Target
}

func rulesOf(order []trunkgroup.Candidate, groups []*trunkgroup.Group) huntRules {
	r := huntRules{
		groups: groups, rules: make([]hunt.Group, len(groups)), targets: make([]hunt.Target, len(order)),
	}
	for i, g := range groups {
		r.rules[i] = groupRules(g)
	}
	for i := range order {
		r.add(order, i)
	}
	return r
}

// routeRules is rulesOf for carriers that somebody has decided on, from one target on.
// Those before it keep their places.
func (r *huntRules) routeRules(order []trunkgroup.Candidate, from int, table *trunkgroup.Table, plan *trunkgroup.RoutePlan) {
	if r.groups == nil {
		r.groups = make([]*trunkgroup.Group, 0, len(order))
		r.rules = make([]hunt.Group, 0, len(order))
		r.own = true
	}
	r.targets = append(r.targets[:from:from], make([]hunt.Target, len(order)-from)...)
	for i := from; i < len(order); i++ {
		r.add(order, i)
		follow(&r.targets[i], &order[i], table, plan)
	}
}

// add makes the target of a candidate.
func (r *huntRules) add(order []trunkgroup.Candidate, i int) {
	cand := &order[i]
	g := cand.Member.Group
	t := &r.targets[i]
	*t = hunt.Target{
		Dialable: cand.Dialable, Cause: cand.Cause, BTimer: g.Timers.BTimer, Progress: g.Timers.Progress, Group: r.index(g),
	}
	t.Within = t.Group
	if cand.Outer != nil {
		t.Within = r.index(cand.Outer)
	}
	if i == 0 || !r.rules[t.Group].Parallel {
		return
	}
	before := &order[i-1]
	t.Tier = r.targets[i-1].Tier
	if !together(before, cand) {
		t.Tier++
	}
	t.Alternate = cand.Dialable && before.Dialable && cand.Binding == nil && cand.Member == before.Member
}

// index returns where a group's rules are, and takes up those of a group that
// stands in one of the route.
func (r *huntRules) index(g *trunkgroup.Group) int {
	if i := slices.Index(r.groups, g); i >= 0 {
		return i
	}
	if !r.own {
		r.groups, r.own = slices.Clip(r.groups), true
	}
	r.groups = append(r.groups, g)
	r.rules = append(r.rules, groupRules(g))
	return len(r.rules) - 1
}

func groupRules(g *trunkgroup.Group) hunt.Group {
	return hunt.Group{
		AdvanceOn: g.AdvanceOn, NeverAdvance: g.NeverAdvance, MaxAttempts: g.MaxAttempts, Setup: g.Timers.Setup,
		Parallel: g.Method == trunkgroup.Parallel,
	}
}

// together tells whether a fork calls two neighbours at once: members of one
// priority, and contacts of one preference (RFC 3261 16.6).
func together(a, b *trunkgroup.Candidate) bool {
	return a.Member.Group == b.Member.Group && a.Member.Priority == b.Member.Priority &&
		a.Member.LastResort == b.Member.LastResort && preference(a) == preference(b)
}

// preference is the q of a candidate's contact, in thousandths.
func preference(c *trunkgroup.Candidate) int {
	if c.Binding == nil {
		return 1000
	}
	return c.Binding.Q
}

// follow gives the target the timers and causes of its route: "route.reroute_causes >
// gateway.groups[].reroute_causes > lcr.reroute_causes > default" (S-036), and timeout_secs
// for the wait for progress, without which the plan's ring bound is it (S-030).
func follow(t *hunt.Target, cand *trunkgroup.Candidate, table *trunkgroup.Table, plan *trunkgroup.RoutePlan) {
	r := cand.Route
	t.Progress, t.RerouteAfterProgress = r.Timeout, r.RerouteAfterProgress
	switch {
	case !r.RerouteCauses.Empty():
		t.AdvanceOn = &r.RerouteCauses
	case plan != nil && !plan.RerouteCauses.Empty() && !table.SaysAdvance(cand.Member.Group):
		t.AdvanceOn = &plan.RerouteCauses
	}
}
