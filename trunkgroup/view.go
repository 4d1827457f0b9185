package trunkgroup

import (
	"net/netip"
	"time"
)

// View is the live facts beside a Table, as one node sees them. It is
// immutable and swapped whole. Its slices go by Member.Index.
type View struct {
	States []State
	Addrs  [][]netip.AddrPort // where each member is reached; empty = not resolved
	Panic  map[string]bool    // by site: probe verdicts are not believed (DEC-12)
	// Weights are an operator's, in place of those of the document: 0 for the
	// document's. Nil: he has said nothing (DEC-25).
	Weights []int
	// Carriers are the addresses that a member with a registered account calls from:
	// its own and its registrar's. Nil: nobody has resolved them.
	Carriers [][]netip.AddrPort
	// Lapsed are the members that take no calls because our registration there has
	// failed. Nil: none.
	Lapsed []bool
	// Barred says why a member gets no calls beside its state: quality. Nil, or
	// empty: nothing does.
	Barred []string
	// BarredCarriers says of carriers of route plans why they get no calls now, by
	// CarrierKey; nil bars none.
	BarredCarriers map[string]string
	// Ramps are the shares, in percent, that members have of their own while they
	// start slowly. Nil, or 0: the full share.
	Ramps []uint8
	// Latency is how long members take to answer a probe; nil, or 0: nobody knows.
	Latency []time.Duration
	// Registry knows the far ends of registration members; nil knows none.
	Registry Registry
	// Sessions counts the calls of far ends; nil counts none.
	Sessions SessionCounter
}

// Weigh gives a member another weight while the view is being made.
func (v *View) Weigh(m *Member, weight int) {
	if v.Weights == nil {
		v.Weights = make([]int, len(v.States))
	}
	v.Weights[m.Index] = weight
}

// weight is what a member counts in a weighted draw.
func (v *View) weight(m *Member) uint64 {
	if v.Weights != nil && m.Nested == nil && v.Weights[m.Index] > 0 {
		return uint64(v.Weights[m.Index])
	}
	return uint64(m.Weight)
}

// NewView returns the view of a node that has heard nothing yet: monitored
// members are unknown, the others active, and members by address are resolved.
func NewView(t *Table) *View {
	v := &View{
		States: make([]State, len(t.members)),
		Addrs:  make([][]netip.AddrPort, len(t.members)),
		Panic:  make(map[string]bool),
	}
	for i, m := range t.members {
		switch {
		case m.Disabled:
			v.States[i] = Disabled
		case !m.Group.Monitoring.Enabled || m.Registration != nil || m.Direction == DirectionIn:
			v.States[i] = Active
		}
		if m.Addr.IsValid() {
			v.Addrs[i] = []netip.AddrPort{m.Addr}
		}
	}
	return v
}

// dialable returns the cause why a member gets no call, or "".
func (v *View) dialable(m *Member, panicking bool) string {
	s := v.States[m.Index]
	switch {
	case m.Disabled:
		return Disabled.String()
	case s.Administrative():
		return s.String()
	case v.Lapsed != nil && v.Lapsed[m.Index]:
		return CauseNotRegistered
	case v.Barred != nil && v.Barred[m.Index] != "":
		return v.Barred[m.Index]
	case m.Registration != nil:
		return "" // each binding answers for itself
	case len(v.Addrs[m.Index]) == 0:
		return CauseUnresolved
	case !m.Group.Monitoring.Enabled || panicking || s.Selectable():
		return "" // P-08: without monitoring all members are active
	case s == Probation:
		return Down.String()
	}
	return s.String()
}
