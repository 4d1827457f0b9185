package trunkgroup

import "slices"

// maxReason bounds the text of a window, in octets: it is shown in lists.
const maxReason = 200

// maintenance checks the windows of a group.
func (v *validator) maintenance(path string, g *GroupSpec) {
	if len(g.Maintenance) > maxWindows {
		v.faults.addf(path, "write weekly windows as one with several days, and take out what is over", "%d windows are more than %d", len(g.Maintenance), maxWindows)
		return
	}
	for i := range g.Maintenance {
		v.window(index(path, i), &g.Maintenance[i], g)
	}
}

func (v *validator) window(path string, s *WindowSpec, g *GroupSpec) {
	if (s.Start != "" || s.End != "") && (s.From != "" || s.To != "" || len(s.Days) > 0 || s.Timezone != "") {
		v.faults.add(path, "is once and weekly at the same time", "keep start and end, or days, from, to and timezone")
		return
	}
	switch w, key := parseWindow(s); {
	case key == "days":
		v.faults.addf(path+".days", Suggest("", dayNames[:]), "%q is not a list of days", s.Days)
	case key != "":
		remedies := map[string]string{
			"start": `write a moment with its offset, like "2026-12-05T02:00:00-06:00"`, "end": "write a later moment in the same form as start",
			"from": `write a time of day like "02:00", or start and end for a window that does not come again`, "to": `write a time of day like "04:00"; one that is not after from is of the next day`,
			"timezone": "write a zone like America/Chicago, or UTC",
		}
		v.faults.add(path+"."+key, "cannot be read", remedies[key])
	case !w.ends():
		v.faults.add(path, "never ends", "write disabled: true at the members, or give the window a time of day")
	}
	if len(s.Reason) > maxReason || hasControl(s.Reason) {
		v.faults.addf(path+".reason", "write one line of at most 200 octets", "%.40q... is too long, or has control characters", s.Reason)
	}
	seen := make(map[string]int)
	for i, id := range s.Members {
		at := index(path+".members", i)
		m := slices.IndexFunc(g.Members, func(m MemberSpec) bool { return m.ID == id })
		switch {
		case m < 0:
			v.faults.addf(at, Suggest(id, memberIDs(g)), "the group has no member %q", id)
		case g.Members[m].Direction == DirectionIn:
			v.faults.addf(at, "take it out", "%q takes no calls at any time: direction in", id)
		default:
			v.unique(seen, id, i, at, path+".members")
		}
	}
}

func memberIDs(g *GroupSpec) []string {
	ids := make([]string, len(g.Members))
	for i := range g.Members {
		ids[i] = g.Members[i].ID
	}
	return ids
}
