package trunkgroup

import (
	"maps"
	"slices"
)

// maxLimit bounds what a limit may say.
const maxLimit = 100_000_000

// CustomerSpec is a customer: limits for all of its trunk groups together, and
// what its calls may do before somebody looks at them.
type CustomerSpec struct {
	Name   string     `yaml:"name" json:"name"`
	Limits LimitsSpec `yaml:"limits,omitempty" json:"limits,omitzero"`
	Fraud  *FraudSpec `yaml:"fraud,omitempty" json:"fraud,omitempty"`
}

// Customer is a compiled customer. It is part of a Table and never changes.
type Customer struct {
	Name   string
	Limits Limits
	Groups []*Group // document order
	Fraud  *Fraud   // nil when nothing is bounded
}

// Customers returns all customers in document order. The caller must not change
// the slice.
func (t *Table) Customers() []*Customer { return t.customers }

// addCustomers compiles the customers and divides all limits among the sites.
func (t *Table) addCustomers(d *Document) {
	for i := range d.Customers {
		s := &d.Customers[i]
		c := &Customer{Name: s.Name, Limits: compileLimits(s.Limits)}
		if s.Fraud != nil {
			c.Fraud = compileFraud(s.Name, s.Fraud)
		}
		for _, g := range t.groups {
			if g.Customer == s.Name {
				c.Groups = append(c.Groups, g)
				g.Fraud = c.Fraud
			}
		}
		c.Limits.divide(t.sites, c.Groups)
		t.customers = append(t.customers, c)
	}
	for _, g := range t.groups {
		g.Limits.divide(t.sites, []*Group{g})
	}
	for _, m := range t.members { // only nodes of its own site dial a member
		if m.Registration != nil {
			m.Limits.divide(t.sites, nil)
			continue
		}
		m.Limits.CallShares = oneSite(m.Limits.Calls, m.Site)
		m.Limits.RateShares = oneSite(m.Limits.CPS, m.Site)
	}
}

func oneSite(n int, site string) map[string]int {
	if n == 0 {
		return nil
	}
	return map[string]int{site: n}
}

// divide gives each site its own part of the limits: what the document says, or
// a part by the weight of the members that stand there (DEC-10).
func (l *Limits) divide(sites []string, groups []*Group) {
	weights := make(map[string]int)
	for _, g := range groups {
		for _, m := range g.Members {
			weights[m.Site] += m.Weight
		}
		for _, n := range g.nests {
			for _, m := range n.Nested.Members {
				weights[m.Site] += m.Weight
			}
		}
	}
	if len(l.StaticShare) > 0 {
		weights = l.StaticShare
	}
	if l.CPS > 0 {
		l.RateShares = divide(l.CPS, sites, weights)
	}
	switch {
	case l.Calls == 0:
	case len(l.StaticShare) > 0:
		l.CallShares = maps.Clone(l.StaticShare)
		l.CallShares[sites[0]] += l.Calls - sum(l.StaticShare)
	default:
		l.CallShares = divide(l.Calls, sites, weights)
	}
}

// divide parts n among sites by weight, evenly when nothing has a weight; the
// remainder goes to the first site that has any.
func divide(n int, sites []string, weights map[string]int) map[string]int {
	total := sum(weights)
	out := make(map[string]int, len(sites))
	rest, first := n, ""
	for _, s := range sites {
		w, of := weights[s], total
		if total == 0 {
			w, of = 1, len(sites)
		}
		if w > 0 && first == "" {
			first = s
		}
		out[s] = int(int64(n) * int64(w) / int64(of))
		rest -= out[s]
	}
	out[first] += rest
	return out
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

func (v *validator) customers() {
	seen := make(map[string]int)
	for i := range v.document.Customers {
		c := &v.document.Customers[i]
		path := index("customers", i)
		if v.name(path+".name", c.Name) {
			v.unique(seen, c.Name, i, path+".name", "customers")
			v.customerNames = append(v.customerNames, c.Name)
		}
		v.limits(path+".limits", &c.Limits)
		if c.Limits.MaxDuration != 0 {
			v.faults.add(path+".limits.max_duration", "means nothing for a customer", "set it in the limits of its trunk groups")
		}
		if c.Limits.EmergencyCPS != 0 {
			v.faults.add(path+".limits.emergency_cps", "means nothing for a customer", "set it in the limits of its trunk groups")
		}
		if c.Fraud != nil {
			v.fraud(path+".fraud", c.Fraud)
			v.bounds(path+".fraud", c.Name)
		}
	}
}

// customer checks whose trunk group it is.
func (v *validator) customer(path string, g *GroupSpec) {
	switch {
	case g.Customer == "":
	case g.Role == PSTNProvider:
		v.refuse(true, path+".customer", g.Role, "take it out: a carrier is nobody's customer")
	case !slices.Contains(v.customerNames, g.Customer):
		v.faults.addf(path+".customer", v.look.suggest(g.Customer, func() []string { return v.customerNames }, "name a customer of the document"), "there is no customer %q", g.Customer)
	}
}

// bounded checks a number of calls.
func (v *validator) bounded(path string, n int) {
	if v.notNegative(path, n) && n > maxLimit {
		v.faults.addf(path, "lower it, or leave it out for no limit", "%d is above %d", n, maxLimit)
	}
}
