package trunkgroup

import "slices"

// nested checks a member that is the place of another group. Targets are the far ends
// of the group so far, by what tells them apart, with the members that have them.
func (v *validator) nested(path string, g *GroupSpec, m *MemberSpec, i int, targets map[string]int) {
	v.rank(path+".weight", m.Weight)
	v.rank(path+".priority", m.Priority)
	if m.Site != "" || m.Address != "" || m.FQDN != "" || m.Transport != 0 || m.ServerName != "" || m.Registration != nil ||
		m.Direction != 0 || m.Account != nil || m.Limits.any() {
		v.faults.add(path, "is the place of another group and has site, address, fqdn, transport, server_name, registration, direction, account or limits",
			"take them out: the members of that group have their own")
	}
	list := v.document.TrunkGroups
	j, known := v.look.groups[m.Group]
	at := path + ".group"
	switch {
	case m.Group == g.Name:
		v.faults.add(at, "is the group itself", "name another group, or an address")
	case !known:
		v.faults.addf(at, v.look.suggest(m.Group, func() []string { return v.groupNames(g.Role) }, "name a group of role "+g.Role.String()), "there is no trunk group %q", m.Group)
	case list[j].Role != g.Role:
		v.faults.addf(at, "name a group of role "+g.Role.String(), "trunk group %q has role %q", m.Group, list[j].Role)
	case slices.ContainsFunc(list[j].Members, func(in MemberSpec) bool { return in.Group != "" }):
		v.faults.addf(at, "name its groups here", "trunk group %q has groups as members itself: one level is all there is", m.Group)
	case len(list[j].Members) == 0:
		v.faults.addf(at, "give it members", "trunk group %q has nobody to call", m.Group)
	case slices.ContainsFunc(g.Members[:i], func(o MemberSpec) bool { return o.Group == m.Group }):
		v.faults.addf(at, "take one of them out", "trunk group %q has a place already", m.Group)
	default:
		v.sameFarEnds(path, &list[j], i, targets)
	}
}

// sameFarEnds reports members of a group that a call would reach twice.
func (v *validator) sameFarEnds(path string, in *GroupSpec, i int, targets map[string]int) {
	var mute validator // what is wrong with them is said at their own group
	for k := range in.Members {
		target := mute.target("", &in.Members[k])
		if target == "" {
			continue
		}
		if first, ok := targets[target]; ok {
			v.faults.addf(path, "take one of them out", "brings %s of group %s, the same far end as %s",
				in.Members[k].ID, in.Name, index("members", first))
			continue
		}
		targets[target] = i
	}
}

func (v *validator) groupNames(role Role) (names []string) {
	for i := range v.document.TrunkGroups {
		if v.document.TrunkGroups[i].Role == role {
			names = append(names, v.document.TrunkGroups[i].Name)
		}
	}
	return names
}

func (s *LimitsSpec) any() bool {
	return s.Calls != 0 || s.CPS != 0 || s.MaxDuration != 0 || s.EmergencyCPS != 0 || len(s.StaticShare) > 0
}
