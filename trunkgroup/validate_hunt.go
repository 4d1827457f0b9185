package trunkgroup

import "slices"

// hunt checks what says how a call goes through the members of a group: final
// responses that are the last word, the setup time, and members that are all
// called at once.
func (v *validator) hunt(path string, g *GroupSpec) {
	v.codes(path+".never_advance", g.NeverAdvance, false)
	for i, code := range g.NeverAdvance {
		at := index(path+".never_advance", i)
		for _, list := range [...]struct {
			name  string
			codes []int
		}{{"advance_on", g.AdvanceOn}, {"handoff_on", g.HandoffOn}} {
			if slices.Contains(list.codes, code) {
				v.faults.addf(at, "leave it in one of the two", "%d stands in %s too, and cannot both end the call and lead on", code, list.name)
			}
		}
	}
	if g.Role == TerminationCustomer {
		v.refuse(len(g.NeverAdvance) > 0, path+".never_advance", g.Role, "its calls follow the rules of the carriers that are tried")
		v.refuse(g.Timers.Setup != 0, path+".timers.setup", g.Role, "put it into the carriers that are tried")
		return
	}
	v.setup(path+".timers.setup", g)
	if g.Distribution.Method == Parallel {
		v.parallel(path, g)
	}
}

// setup checks the setup time against the other timers, all of which would be
// without meaning beside it if they were longer.
func (v *validator) setup(path string, g *GroupSpec) {
	s := &g.Timers
	if !v.duration(path, s.Setup, true) || s.Setup <= 0 || s.BTimer < 0 || s.MaxPDD < 0 && s.MaxPDD != Off {
		return
	}
	t := compileTimers(g.Role, *s)
	if t.Setup < t.BTimer {
		v.faults.addf(path, "raise setup or lower b_timer", "%s is below b_timer, %s, which no member would have", t.Setup, t.BTimer)
	}
	if s.Progress > 0 && t.Setup < t.Progress {
		v.faults.addf(path, "raise setup or lower progress", "%s is below progress, %s, which no member would have", t.Setup, t.Progress)
	}
	if t.MaxPDD > 0 && t.Setup >= t.MaxPDD {
		v.faults.addf(path, "lower setup or raise max_pdd", "%s is not below max_pdd, %s, which ends the call before", t.Setup, t.MaxPDD)
	}
}

// parallel checks a group whose members are called at once (DEC-25: never carriers,
// two of which may bill).
func (v *validator) parallel(path string, g *GroupSpec) {
	at := path + ".distribution.method"
	if g.Role != OriginationCustomer {
		v.faults.addf(at, "use another method, like failover", "parallel is for groups of role %s: of carriers called at once, two may bill the call", OriginationCustomer)
	}
	for i := range g.Members {
		if g.Members[i].Group != "" {
			v.faults.add(index(path+".members", i)+".group", "stands in a group whose method is parallel, which calls members and no groups",
				"name that group's members here, or use another method")
		}
	}
	for _, place := range v.look.places[g.Name] {
		v.faults.addf(at, "use another method, or name its members there",
			"group %q stands as a member at %s, where it cannot be called at once", g.Name, place)
	}
}
