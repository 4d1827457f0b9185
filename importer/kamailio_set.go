package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// group makes the trunk group of a set.
func (k *kamailio) group(set int, rows []destination) {
	g := trunkgroup.GroupSpec{Name: k.taken.pick(nameOf(k.groupName(set), "set-"+strconv.Itoa(set))), Role: k.role(set)}
	at, algorithm, known := k.algorithm(set)
	if !known {
		at = rows[0].place
		k.Report.lost(at, fmt.Sprintf("set %d: algorithm", set), "stands in kamailio.cfg, where ds_select_dst is called; round-robin stands in",
			fmt.Sprintf("import kamailio.cfg too, or say it: --algorithm %d=NUMBER", set))
		algorithm = dsRoundRobin
	}
	k.from[g.Name] = at
	k.method(&g, at, algorithm, rows)
	k.attempts(&g, set, at)
	order := "in the order in which Kamailio holds it"
	if g.Distribution.Method == trunkgroup.HashMod {
		order = "in the order of its list: hash-mod turns it round as Kamailio does"
	}
	k.comment(g.Name, fmt.Sprintf("Set %d of Kamailio's dispatcher, algorithm %d, %s.", set, algorithm, order))
	ids := names{}
	index := make(map[string]int)
	var kept []destination
	for _, d := range rows {
		m, ok := k.member(&g, d, algorithm)
		if !ok {
			continue
		}
		if first, twice := index[far(&m)]; twice {
			k.twice(&g, &g.Members[first], &m, d)
			continue
		}
		m.ID = ids.pick(nameOf(cmp.Or(m.ID, far(&m)), "member"))
		index[far(&m)] = len(g.Members)
		key := g.Name + "/" + m.ID
		k.from[key] = d.place
		g.Members = append(g.Members, m)
		kept = append(kept, d)
		k.Report.same(d.place, d.uri, key)
		k.attributes(&g, &g.Members[len(g.Members)-1], d, algorithm)
	}
	if len(kept) > 0 {
		k.tiers(&g, kept, algorithm)
		g.Monitoring = k.monitoring(&g, kept)
		k.states(&g, kept)
	}
	if g.Distribution.Method == trunkgroup.HashMod {
		slices.Reverse(g.Members)
	}
	k.addGroup(g)
}

// algorithm finds what a set is selected with, and where that is said.
func (k *kamailio) algorithm(set int) (at place, algorithm int, known bool) {
	if a, ok := k.o.Algorithms[set]; ok {
		return place{file: "--algorithm"}, a, true
	}
	if k.o.Algorithm != nil {
		return place{file: "--algorithm"}, *k.o.Algorithm, true
	}
	var first *selection
	for i := range k.selections {
		s := &k.selections[i]
		switch {
		case s.set != set:
		case first == nil:
			first = s
		case s.algorithm != first.algorithm:
			k.Report.lost(s.place, s.text, fmt.Sprintf("set %d is selected with algorithm %d elsewhere, and a group has one method", set, first.algorithm),
				"make a second group with the same members, or settle on one algorithm")
		}
	}
	if first == nil {
		return place{}, 0, false
	}
	return first.place, first.algorithm, true
}

// attempts bounds how many far ends one call tries, as the module does (K-21).
func (k *kamailio) attempts(g *trunkgroup.GroupSpec, set int, at place) {
	if k.flags&2 == 0 {
		g.MaxAttempts = 1
		k.Report.same(k.params["flags"].place, fmt.Sprintf("set %d: flags without 2, no failover", set), g.Name+": max_attempts 1")
		return
	}
	for _, s := range k.selections {
		if s.set == set && s.limit > 0 && g.MaxAttempts == 0 {
			g.MaxAttempts = s.limit
			k.Report.same(at, s.text, fmt.Sprintf("%s: max_attempts %d", g.Name, s.limit))
		}
	}
}

// member makes a member of a destination, without weight and priority.
func (k *kamailio) member(g *trunkgroup.GroupSpec, d destination, algorithm int) (trunkgroup.MemberSpec, bool) {
	m := trunkgroup.MemberSpec{Site: k.site()}
	u, err := parseURI(d.uri)
	if err == nil {
		err = u.member(&m, k.number("ds_dns_mode", 0)&8 != 0)
	}
	if err != nil {
		k.Report.lost(d.place, d.uri, err.Error(), "write it like sip:198.51.100.10:5060;transport=tcp")
		return m, false
	}
	if u.user != "" {
		k.Report.adapted(d.place, "user "+u.user+" of "+d.uri, "", "calls have the called number in the Request-URI")
	}
	for _, p := range u.params {
		k.Report.lost(d.place, ";"+p+" of "+d.uri, "is no parameter that tells where to send", "")
	}
	for _, a := range splitAttrs(d.attrs) {
		if equalName(a.name, "duid") {
			m.ID = a.value
		}
		if w := rankOf(a.value); w > 0 && (algorithm == dsWeight && equalName(a.name, "weight") || algorithm == dsRelative && equalName(a.name, "rweight")) {
			m.Weight = w
		}
	}
	return m, true
}

// rankOf reads a weight: 1 to 100, and 0 for everything else, as the module does.
func rankOf(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 100 {
		return 0
	}
	return n
}

// twice deals with a far end that stands in a set more than once: Kamailio gives
// it as many shares.
func (k *kamailio) twice(g *trunkgroup.GroupSpec, first, again *trunkgroup.MemberSpec, d destination) {
	key := g.Name + "/" + first.ID
	if first.Weight > 0 || again.Weight > 0 {
		first.Weight += again.Weight
		k.Report.adapted(d.place, d.uri, key, "stands in the set twice; the weights are added")
		return
	}
	k.Report.lost(d.place, d.uri, "stands in the set twice, which gave it two shares; "+key+" has one", "use method relative-weight with weight 2")
}

// tiers writes priorities and the last resort. Only algorithms that go by the
// order of priorities have them; others would get tiers that Kamailio has not.
func (k *kamailio) tiers(g *trunkgroup.GroupSpec, rows []destination, algorithm int) {
	switch m := g.Distribution.Method; {
	case m == trunkgroup.Failover || m == trunkgroup.Latency:
		rank := 0
		for i := range rows {
			if i > 0 && rows[i].priority != rows[i-1].priority {
				rank++
			}
			g.Members[i].Priority = rank
		}
	case algorithm == dsWeight || algorithm == dsRelative:
		k.weights(g, rows, algorithm)
	default:
		if i := slices.IndexFunc(rows, func(d destination) bool { return d.priority != rows[0].priority }); i > 0 {
			k.Report.same(rows[i].place, fmt.Sprintf("set %d: priorities", rows[0].set), g.Name+": the order of members; the algorithm knows no tiers")
		}
	}
	if last := len(rows) - 1; k.useDefault && last > 0 {
		g.Members[last].LastResort = true
		k.Report.same(rows[last].place, "use_default: "+rows[last].uri, g.Name+"/"+g.Members[last].ID+": last_resort")
	}
}

// weights fills the hundred places of the module's table: what weights leave over
// is the last entry's, what is beyond 100 gets nothing, and without any weight all
// calls go to the first entry.
func (k *kamailio) weights(g *trunkgroup.GroupSpec, rows []destination, algorithm int) {
	item := fmt.Sprintf("set %d: weights", rows[0].set)
	sum := 0
	for i := range g.Members {
		m := &g.Members[i]
		if algorithm == dsWeight && m.Weight > max(0, 100-sum) {
			k.Report.adapted(rows[i].place, rows[i].uri, g.Name+"/"+m.ID, "the weights pass 100: Kamailio gives it what is left")
			m.Weight = max(0, 100-sum)
		}
		sum += m.Weight
	}
	if sum == 0 || algorithm == dsWeight && g.Members[0].Weight == 0 {
		g.Distribution.Method = trunkgroup.Failover
		for i := range g.Members {
			g.Members[i].Weight = 0
		}
		k.Report.adapted(rows[0].place, item, g.Name+": method failover", "the first entry has no weight: Kamailio sends all calls there")
		return
	}
	if last := len(g.Members) - 1; algorithm == dsWeight && sum < 100 {
		g.Members[last].Weight += 100 - sum
		k.Report.same(rows[last].place, item, fmt.Sprintf("%s/%s: weight %d, with the %d that were left over", g.Name, g.Members[last].ID, g.Members[last].Weight, 100-sum))
	}
	for i := range g.Members {
		if m := &g.Members[i]; m.Weight == 0 {
			m.Priority = 1
			k.Report.same(rows[i].place, rows[i].uri+" without weight", g.Name+"/"+m.ID+": priority 1, called when the others have failed")
		}
	}
}

// routes makes a route plan of each call of ds_select_routes.
func (k *kamailio) routes() {
	taken := map[string]bool{}
	for _, c := range k.chains {
		plan := trunkgroup.RoutePlanSpec{Name: "routes", Routes: []trunkgroup.RouteSpec{{Prefix: "*"}}}
		for _, set := range c.sets {
			plan.Name += "-" + strconv.Itoa(set)
			for i := range k.Document.TrunkGroups {
				g := &k.Document.TrunkGroups[i]
				if g.Name == nameOf(k.groupName(set), "") && g.Role == trunkgroup.PSTNProvider && !slices.Contains(plan.Routes[0].Providers, g.Name) {
					plan.Routes[0].Providers = append(plan.Routes[0].Providers, g.Name)
				}
			}
		}
		if len(plan.Routes[0].Providers) == 0 || len(plan.Name) > maxName {
			k.Report.lost(c.place, c.text, "a route plan names carriers, and none of these sets is one", "give customers numbers instead")
			continue
		}
		if taken[plan.Name] {
			continue
		}
		taken[plan.Name] = true
		k.Document.RoutePlans = append(k.Document.RoutePlans, plan)
		k.Report.adapted(c.place, c.text, "route plan "+plan.Name, "customers name it with route_plan")
	}
}
