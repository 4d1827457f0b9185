package trunkgroup

import (
	"fmt"
	"slices"
)

// Validate returns every fault of the document at once, and nothing for a good
// one. Paths are as in YAML: trunk_groups[2].members[0].address. It repairs
// nothing.
func (d *Document) Validate() Faults {
	v := &validator{
		document:  d,
		providers: make(map[string]Role),
		plans:     make(map[string]bool),
		aors:      make(map[string]string),
		look:      lookupsOf(d),
	}
	v.sites()
	for i := range d.TrunkGroups {
		v.providers[d.TrunkGroups[i].Name] = d.TrunkGroups[i].Role
	}
	v.routePlans()
	v.customers()
	v.dno()
	v.groups()
	v.numberPolicies()
	v.numbers()
	v.expressions()
	v.sources()
	v.credentials()
	return v.faults
}

// validator gathers the faults of one document.
type validator struct {
	faults    Faults
	document  *Document
	siteNames []string
	providers map[string]Role // all groups, by name
	plans     map[string]bool
	aors      map[string]string // paths of registrations by canonical AOR
	look      lookups

	customerNames []string
}

func (v *validator) sites() {
	d := v.document
	v.name("cluster", d.Cluster)
	if len(d.Sites) == 0 {
		v.faults.add("sites", "there is no site", "add one, like: sites: [{name: dallas}]")
	}
	seen := make(map[string]int)
	for i, s := range d.Sites {
		path := index("sites", i)
		if v.name(path+".name", s.Name) {
			v.unique(seen, s.Name, i, path+".name", "sites")
			v.siteNames = append(v.siteNames, s.Name)
		}
	}
	for i, s := range d.Sites {
		peers := make(map[string]int)
		for j, peer := range s.Peers {
			path := index(index("sites", i)+".peers", j)
			switch {
			case peer == s.Name:
				v.faults.addf(path, "take it out", "site %q is its own peer", peer)
			case v.knownSite(path, peer):
				v.unique(peers, peer, j, path, index("sites", i)+".peers")
			}
		}
	}
}

func (v *validator) routePlans() {
	seen := make(map[string]int)
	for i := range v.document.RoutePlans {
		plan := &v.document.RoutePlans[i]
		path := index("route_plans", i)
		if v.name(path+".name", plan.Name) {
			v.unique(seen, plan.Name, i, path+".name", "route_plans")
			v.plans[plan.Name] = true
		}
		if len(plan.Routes) == 0 && plan.Decision == nil && plan.Deck == nil {
			v.faults.add(path+".routes", "the plan has no routes", `add one, like: {prefix: "*", providers: [carrier-a]}`)
		}
		prefixes := make(map[string]int)
		for j := range plan.Routes {
			v.route(&plan.Routes[j], j, path+".routes", prefixes)
		}
		v.decided(path, plan)
		v.deck(path+".deck", plan)
		v.carrierQuality(path+".carrier_quality", plan)
		v.policy(path+".policy", plan)
	}
}

func (v *validator) route(r *RouteSpec, j int, routes string, prefixes map[string]int) {
	path := index(routes, j)
	canonical := "*"
	if n, ok := routePrefix(r.Prefix); ok {
		canonical = n.String()
	} else if r.Prefix != "*" {
		v.faults.addf(path+".prefix", `write "+" and digits, or "*" for all other numbers`, "%q is not a prefix", r.Prefix)
		canonical = ""
	}
	if canonical != "" {
		v.unique(prefixes, canonical, j, path+".prefix", routes)
	}
	if len(r.Providers) == 0 {
		v.faults.add(path+".providers", "the route has no providers", "name at least one group of role pstn-provider")
	}
	seen := make(map[string]int)
	for k, name := range r.Providers {
		at := index(path+".providers", k)
		if v.provider(at, name) {
			v.unique(seen, name, k, at, path+".providers")
		}
	}
}

func (v *validator) providerNames() []string {
	var names []string
	for name, role := range v.providers {
		if role == PSTNProvider {
			names = append(names, name)
		}
	}
	return names
}

func (v *validator) planNames() []string {
	names := make([]string, 0, len(v.plans))
	for name := range v.plans {
		names = append(names, name)
	}
	return names
}

// name checks an identifier. Names stand in metrics, headers and keys.
func (v *validator) name(path, name string) bool {
	switch {
	case name == "":
		v.faults.add(path, "is missing", "give it a name of letters, digits, and - . _")
	case len(name) > 63:
		v.faults.addf(path, "use at most 63 characters", "%.20q... is too long", name)
	case !isName(name):
		v.faults.addf(path, "use letters, digits, and - . _ inside", "%q is not a name", name)
	default:
		return true
	}
	return false
}

func isName(s string) bool {
	for i := range len(s) {
		inner := i > 0 && (s[i] == '-' || s[i] == '.' || s[i] == '_')
		if !isAlnum(s[i]) && !inner {
			return false
		}
	}
	return s != ""
}

func (v *validator) knownSite(path, site string) bool {
	if slices.Contains(v.siteNames, site) {
		return true
	}
	v.faults.addf(path, v.look.suggest(site, func() []string { return v.siteNames }, "name a site of the document"), "there is no site %q", site)
	return false
}

// unique reports a name that stands twice in one list.
func (v *validator) unique(seen map[string]int, name string, i int, path, list string) {
	if first, ok := seen[name]; ok {
		v.faults.addf(path, "rename or remove one of them", "%q stands already at %s", name, index(list, first))
		return
	}
	seen[name] = i
}

// refuse reports a key that has no meaning in a group of this role.
func (v *validator) refuse(set bool, path string, role Role, remedy string) {
	if set {
		v.faults.add(path, fmt.Sprintf("means nothing in a group of role %s", role), remedy)
	}
}
