package trunkgroup

import "time"

// Transfer returns the view of one table for another one, by the keys of members:
// what is known of a member holds for the one of the same key there.
func (v *View) Transfer(from, to *Table) *View {
	next := NewView(to)
	next.Panic, next.Registry = v.Panic, v.Registry
	if v.Sessions != nil {
		next.Sessions = transferred{v.Sessions, from}
	}
	for i, m := range to.members {
		old := from.byKey[m.Key]
		if old == nil {
			continue
		}
		next.copy(i, m, v, old)
	}
	return next
}

// transferred counts calls of members of another table.
type transferred struct {
	SessionCounter
	from *Table
}

// Sessions implements SessionCounter.
func (c transferred) Sessions(m *Member, b *Binding) int {
	if old := c.from.byKey[m.Key]; old != nil {
		return c.SessionCounter.Sessions(old, b)
	}
	return 0
}

// copy takes over what is known of a member.
func (v *View) copy(i int, m *Member, from *View, old *Member) {
	if !m.Disabled && (m.Group.Monitoring.Enabled || from.States[old.Index].Administrative()) && !old.Disabled {
		v.States[i] = from.States[old.Index]
	}
	if m.FQDN != "" && m.FQDN == old.FQDN && m.Port == old.Port {
		v.Addrs[i] = from.Addrs[old.Index]
	}
	if from.Weights != nil && from.Weights[old.Index] > 0 {
		v.Weigh(m, from.Weights[old.Index])
	}
	if from.Barred != nil && from.Barred[old.Index] != "" {
		if v.Barred == nil {
			v.Barred = make([]string, len(v.States))
		}
		v.Barred[i] = from.Barred[old.Index]
	}
	if from.Latency != nil {
		if v.Latency == nil {
			v.Latency = make([]time.Duration, len(v.States))
		}
		v.Latency[i] = from.Latency[old.Index]
	}
}
