package trunkgroup

import (
	"cmp"
	"time"
)

// RoutePlan is a compiled RoutePlanSpec. It is part of a Table and never changes.
type RoutePlan struct {
	Name     string
	Decision *DecisionServer // nil when no server decides
	// RerouteCauses of routes whose group says nothing itself; empty = S-035's.
	RerouteCauses CauseSet
	Ring          time.Duration // 0 = no bound (S-065)
	MaxMembers    int           // of one route's group that are tried; at least 1
	Policy        *RoutePolicy  // nil when it has no rules
	Quality       *Quality      // what the calls of its carriers must achieve; nil demands nothing

	spec     *RoutePlanSpec
	prefixes prefixIndex
	routes   []route
	fallback int // index into routes of the row "*", or -1
}

type route struct {
	prefix string
	groups []*Group
}

// Plan is the route plan of a customer's calls; nil for none.
func (g *Group) Plan() *RoutePlan { return g.plan }

// Asks reports whether somebody else than the rows decides.
func (p *RoutePlan) Asks() bool { return p != nil && (p.spec.Decision != nil || p.spec.Deck != nil) }

// Patience is how long a call may have to wait for who decides.
func (p *RoutePlan) Patience() time.Duration {
	if p.Decision == nil {
		return 0
	}
	return p.Decision.Timeout
}

// Spec is what it was compiled from. The caller must not change it.
func (p *RoutePlan) Spec() *RoutePlanSpec { return p.spec }

// lookup returns the row of the longest prefix, or an empty prefix and nil.
func (p *RoutePlan) lookup(e164 []byte) (prefix string, groups []*Group) {
	at := p.fallback
	if n, ok := pack(e164); ok {
		if length, owner := p.prefixes.longest(n, nil); length > 0 {
			at = int(owner)
		}
	}
	if at < 0 {
		return "", nil
	}
	return p.routes[at].prefix, p.routes[at].groups
}

func compileRoutePlan(spec *RoutePlanSpec, byName map[string]*Group) *RoutePlan {
	plan := &RoutePlan{
		Name: spec.Name, Decision: compileDecision(spec.Decision), RerouteCauses: Causes(spec.RerouteCauses...),
		Ring: spec.Ring.or(defaultRing), MaxMembers: cmp.Or(spec.MaxMembers, 1), Quality: compileCarrierQuality(spec.CarrierQuality),
		Policy: compilePolicy(spec.Policy), spec: spec, fallback: -1,
	}
	for i, r := range spec.Routes {
		row := route{prefix: r.Prefix}
		for _, name := range r.Providers {
			row.groups = append(row.groups, byName[name])
		}
		plan.routes = append(plan.routes, row)
		if n, ok := routePrefix(r.Prefix); ok {
			plan.prefixes.add(n, uint32(i))
		} else {
			plan.fallback = i
		}
	}
	return plan
}

// routePrefix reads the prefix of a route, which may end in "*"; not ok means
// "*" alone.
func routePrefix(s string) (number, bool) {
	if len(s) > 1 && s[len(s)-1] == '*' {
		s = s[:len(s)-1]
	}
	return pack(s)
}
