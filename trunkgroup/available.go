package trunkgroup

// Takes tells whether a group has a far end in a site that gets calls now.
func (v *View) Takes(g *Group, site string) bool {
	panicking := v.Panic[site]
	for _, m := range g.At(site) {
		if v.dialable(m, panicking) == "" && (m.Registration == nil || v.takesRegistered(m, site)) {
			return true
		}
	}
	for _, n := range g.nests {
		if !n.Disabled && v.Takes(n.Nested, site) {
			return true
		}
	}
	return false
}

func (v *View) takesRegistered(m *Member, site string) bool {
	if v.Registry == nil {
		return false
	}
	for _, b := range v.Registry.Bindings(m.Registration.AOR) {
		if at, cause := v.Registry.Reach(b); at == site && cause == "" {
			return true
		}
	}
	return false
}

// CarriersOf returns the groups that some call of a customer may go to: those of
// all routes of its plan; all carriers without a plan (P-12), and with one that asks others. A group may be
// there more than once.
func (t *Table) CarriersOf(customer *Group) []*Group {
	if customer.plan == nil || customer.plan.Asks() {
		return t.providers
	}
	var groups []*Group
	for _, r := range customer.plan.routes {
		groups = append(groups, r.groups...)
	}
	return groups
}

// Reached returns the groups that calls from carriers may go to: those with
// numbers.
func (t *Table) Reached() []*Group { return t.reached }
