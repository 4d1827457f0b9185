package trunkgroup

// direction checks which calls a member takes part in (only carriers have members
// that call).
func (v *validator) direction(path string, g *GroupSpec, m *MemberSpec) {
	at := path + ".direction"
	switch {
	case m.Direction == DirectionBoth:
		return
	case m.Direction > DirectionOut:
		v.faults.addf(at, Suggest("", DirectionNames()), "%d is not a direction", m.Direction)
	case g.Role != PSTNProvider:
		v.faults.addf(at, "take it out; who calls stands in sources of a termination-customer group", "means nothing in a group of role %s", g.Role)
	case m.Group != "":
		v.faults.add(at, "means nothing for a group in place of a member", "set it at the members of "+m.Group)
	case m.Direction == DirectionIn:
		v.inbound(path, g, m)
	}
}

// inbound checks a member that only calls: what is said of calls to it means nothing.
func (v *validator) inbound(path string, g *GroupSpec, m *MemberSpec) {
	const remedy = "take it out, or take direction: in out"
	if len(g.Sources) > 0 {
		v.faults.add(path+".direction", "nobody is known by this member: the group lists its sources", "write its address into sources and take the member out")
	} else if m.FQDN != "" {
		v.faults.add(path+".fqdn", "nobody is known by a name: callers are known by their addresses", "write address, or list the addresses in sources")
	}
	for _, key := range [...]struct {
		name string
		set  bool
	}{
		{"weight", m.Weight != 0},
		{"priority", m.Priority != 0},
		{"last_resort", m.LastResort},
		{"server_name", m.ServerName != ""},
		{"limits", m.Limits.Calls != 0 || m.Limits.CPS != 0},
		{"account.required", m.Account != nil && m.Account.Required},
	} {
		if key.set {
			v.faults.add(path+"."+key.name, "means nothing for a member that gets no calls", remedy)
		}
	}
}
