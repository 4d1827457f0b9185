package trunkgroup

import (
	"slices"
	"time"
)

func (v *validator) groups() {
	if len(v.document.TrunkGroups) == 0 {
		v.faults.add("trunk_groups", "there is no trunk group", "add one")
	}
	seen := make(map[string]int)
	for i := range v.document.TrunkGroups {
		g := &v.document.TrunkGroups[i]
		path := index("trunk_groups", i)
		if v.name(path+".name", g.Name) {
			v.unique(seen, g.Name, i, path+".name", "trunk_groups")
		}
		v.role(path, g)
		v.customer(path, g)
		v.acl(path+".acl", &g.ACL)
		v.codes(path+".advance_on", g.AdvanceOn, true)
		v.codes(path+".handoff_on", g.HandoffOn, true)
		v.codes(path+".passive_codes", g.PassiveCodes, false)
		if c := g.ExhaustedCode; c != 0 && (c < 400 || c > 699) {
			v.faults.addf(path+".exhausted_code", "use a failure code, 400 to 699", "%d is not a failure", c)
		}
		v.notNegative(path+".max_attempts", g.MaxAttempts)
		v.limits(path+".limits", &g.Limits)
		v.timers(path+".timers", g)
		v.hunt(path, g)
		v.monitoring(path+".monitoring", &g.Monitoring)
		v.numbering(path+".numbering", &g.Numbering)
		v.distribution(path+".distribution", &g.Distribution)
		v.members(path, g)
		v.maintenance(path+".maintenance", g)
		v.quality(path+".quality", g)
		v.charging(path+".charging", g)
		if g.RoutePlan != "" && !v.plans[g.RoutePlan] {
			v.faults.addf(path+".route_plan", v.look.suggest(g.RoutePlan, v.planNames, "name a route plan of the document"), "there is no route plan %q", g.RoutePlan)
		}
	}
}

// role checks what a group of its role needs and what means nothing in it.
func (v *validator) role(path string, g *GroupSpec) {
	switch g.Role {
	case OriginationCustomer:
		v.refuse(len(g.Sources) > 0, path+".sources", g.Role, "put it into the customer's termination-customer group")
		if !slices.ContainsFunc(g.Members, func(m MemberSpec) bool { return m.Registration != nil }) {
			v.refuse(len(g.Credentials) > 0, path+".credentials", g.Role, "put it into the customer's termination-customer group, or add a member that registers")
		}
		v.refuse(g.RoutePlan != "", path+".route_plan", g.Role, "put it into the customer's termination-customer group")
		if len(g.Members) == 0 {
			v.faults.add(path+".members", "the group has no members", "add at least one PBX")
		}
	case TerminationCustomer:
		v.refuse(len(g.Numbers) > 0, path+".numbers", g.Role, "put it into the customer's origination-customer group")
		v.refuse(len(g.Members) > 0, path+".members", g.Role, "put it into the customer's origination-customer group")
		v.refuse(g.Distribution != (DistributionSpec{}), path+".distribution", g.Role, "take it out")
		v.refuse(g.Monitoring.Profile != "", path+".monitoring", g.Role, "take it out")
		v.refuse(len(g.Maintenance) > 0, path+".maintenance", g.Role, "it has no members; take it out")
		v.refuse(g.Quality != nil, path+".quality", g.Role, "it is for who is called; take it out")
		if len(g.Sources) == 0 && len(g.Credentials) == 0 {
			v.faults.add(path, "no caller can be known as this customer", "add sources or credentials")
		}
	case PSTNProvider:
		v.refuse(len(g.Numbers) > 0, path+".numbers", g.Role, "numbers belong to origination-customer groups")
		v.refuse(len(g.Credentials) > 0, path+".credentials", g.Role, "carriers are known by their sources")
		v.refuse(g.RoutePlan != "", path+".route_plan", g.Role, "route plans belong to termination-customer groups")
		if len(g.Members) == 0 && len(g.Sources) == 0 {
			v.faults.add(path, "the carrier has neither members nor sources", "add at least one")
		}
	default:
		v.faults.add(path+".role", "is missing", Suggest("", RoleNames()))
	}
	if g.Role != PSTNProvider {
		v.refuse(g.ExhaustedCode != 0, path+".exhausted_code", g.Role, "it is for what carriers hear; take it out")
	}
}

// codes checks a list of response codes. A 6xx ends every hunt (S-033, C7), so
// it cannot stand in a list that lets one go on.
func (v *validator) codes(path string, codes []int, goesOn bool) {
	if codes != nil && len(codes) == 0 {
		v.faults.add(path, "is empty, which would mean the default", "leave the key out, or name codes")
	}
	for i, c := range codes {
		at := index(path, i)
		switch {
		case c < 300 || c > 699:
			v.faults.addf(at, "use 300 to 699", "%d is not a code of a failed call", c)
		case goesOn && c >= 600:
			v.faults.addf(at, "take it out", "%d ends every hunt: a 6xx speaks for all places", c)
		case slices.Index(codes, c) < i:
			v.faults.addf(at, "take it out", "%d stands twice", c)
		}
	}
}

func (v *validator) notNegative(path string, n int) bool {
	if n < 0 {
		v.faults.addf(path, "use a number above zero, or leave it out for no limit", "%d is negative", n)
	}
	return n >= 0
}

func (v *validator) limits(path string, l *LimitsSpec) {
	v.bounded(path+".calls", l.Calls)
	v.bounded(path+".cps", l.CPS)
	v.bounded(path+".emergency_cps", l.EmergencyCPS)
	v.duration(path+".max_duration", l.MaxDuration, false)
	sum := 0
	for _, site := range sortedKeys(l.StaticShare) {
		at := path + ".static_share." + site
		v.knownSite(at, site)
		if v.notNegative(at, l.StaticShare[site]) {
			sum += l.StaticShare[site]
		}
	}
	if len(l.StaticShare) > 0 && sum > l.Calls {
		v.faults.addf(path+".static_share", "lower the shares or raise limits.calls", "the shares are %d together, limits.calls is %d", sum, l.Calls)
	}
}

// duration checks one duration; only some may be "off".
func (v *validator) duration(path string, d Duration, mayBeOff bool) bool {
	switch {
	case d == Off && !mayBeOff:
		v.faults.add(path, `"off" is not possible here`, "use a duration like 4s, or leave it out for the default")
	case d < 0 && d != Off:
		v.faults.add(path, "is negative", "use a duration like 4s")
	default:
		return true
	}
	return false
}

// maxBTimer is SIP timer B: the transaction gives up then by itself.
const maxBTimer = 32 * time.Second

func (v *validator) timers(path string, g *GroupSpec) {
	s := &g.Timers
	ok := v.duration(path+".b_timer", s.BTimer, false)
	ok = v.duration(path+".progress", s.Progress, false) && ok
	ok = v.duration(path+".max_pdd", s.MaxPDD, true) && ok
	ok = v.duration(path+".handoff_reserve", s.HandoffReserve, false) && ok
	ok = v.duration(path+".ring", s.Ring, true) && ok
	ok = v.duration(path+".retry_after_max", s.RetryAfterMax, false) && ok
	if !ok {
		return
	}
	t := compileTimers(g.Role, *s)
	if t.BTimer > maxBTimer {
		v.faults.addf(path+".b_timer", "use at most 32s", "%s is above SIP timer B", t.BTimer)
	}
	if t.MaxPDD > 0 && t.BTimer >= t.MaxPDD {
		v.faults.addf(path+".b_timer", "lower b_timer or raise max_pdd", "%s is not below max_pdd, %s", t.BTimer, t.MaxPDD)
	}
	if t.MaxPDD > 0 && s.Progress > Duration(t.MaxPDD) {
		v.faults.addf(path+".progress", "lower progress or raise max_pdd", "%s is above max_pdd, %s", t.Progress, t.MaxPDD)
	}
	switch {
	case s.HandoffReserve == 0:
	case t.MaxPDD == 0:
		v.faults.add(path+".handoff_reserve", "is a part of max_pdd, which is off", "set max_pdd or take it out")
	case t.HandoffReserve >= t.MaxPDD:
		v.faults.addf(path+".handoff_reserve", "lower it", "%s leaves nothing of max_pdd, %s, to this site", t.HandoffReserve, t.MaxPDD)
	}
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
