package trunkgroup

// routePlan is a compiled RoutePlanSpec.
type routePlan struct {
	name     string
	prefixes prefixIndex
	routes   []route
	fallback int // index into routes of the row "*", or -1
}

type route struct {
	prefix string
	groups []*Group
}

// lookup returns the row of the longest prefix, or an empty prefix and nil.
func (p *routePlan) lookup(e164 []byte) (prefix string, groups []*Group) {
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

func compileRoutePlan(spec *RoutePlanSpec, byName map[string]*Group) *routePlan {
	plan := &routePlan{name: spec.Name, fallback: -1}
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
