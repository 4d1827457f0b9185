package trunkgroup

import (
	"cmp"
	"net/netip"
	"slices"
)

// CauseUnresolved is the cause of a candidate whose name has no address.
const CauseUnresolved = "unresolved"

// Candidate is one entry of a try-order.
type Candidate struct {
	Member   *Member
	Binding  *Binding       // of a registration member, where it has one
	Addr     netip.AddrPort // zero when not dialable
	Dialable bool
	Cause    string // why it is not dialable: down, disabled, draining, cooldown, capacity, unresolved, unregistered, node_down, flow_gone
	// Route is what was decided of the carrier; nil when no route set was asked for.
	Route *CarrierRoute
	// Outer is the group that was planned, where the member's own group stands in it;
	// nil for a member of the planned group itself.
	Outer *Group
}

// Draw is what chance and turn give to one call.
type Draw struct {
	Turn   uint64 // the group's counter, one more for each call
	Random uint64 // seed of this call
	// Traits are what the methods that hash go by; nil has none, and such a method
	// takes turns.
	Traits *Traits
	// Turns gives the turns of groups that stand in the group; nil: they follow from
	// Turn.
	Turns Turner
	// Unbounded: no limit holds for the call (DEC-17), and nobody is left out for his.
	Unbounded bool
	// Affinity is a hash of the value by which the call sticks to a far end, all
	// nodes' the same; 0 = it has none. With it the method is least-sessions
	//
	Affinity uint64
	// Remembered names the far end that calls of this value go to, see FarEnd. It
	// comes first wherever it gets calls now; empty = nobody knows one.
	Remembered string
}

// onStack is how many far ends of a site a plan orders without allocation.
const onStack = 64

// slot is one far end in a distribution: a member, one binding of it, or a place that
// another group takes.
type slot struct {
	member  *Member
	binding *Binding
	rank    uint64 // by which it is ordered, the lowest first
	standing
	from, to int32 // of a group's place: its members in Planner.inner
}

// same tells whether a distribution may exchange two slots: members of one
// priority, and of one AOR the bindings of one preference.
func (s *slot) same(o *slot) bool {
	return s.tier == o.tier && (s.binding == nil && o.binding == nil || s.q() == o.q())
}

func (s *slot) q() int {
	if s.binding == nil {
		return maxQ
	}
	return s.binding.Q
}

// maxQ is the preference of a contact without q, in thousandths.
const maxQ = 1000

// Plan appends the whole try-order of a group in one site to dst and returns
// it (P-02, P-03). First stand the members that get no call now, by priority,
// with Dialable false and a cause; then all others by the group's
// distribution. A member by name yields one candidate per address, one that
// registers takes part with each of its bindings.
//
// In panic probe verdicts are not believed, an operator's word still holds
// (DEC-12). Without monitoring every member is active (P-08).
//
// Whoever plans many calls keeps a Planner: this function allocates for a group with
// more members in a site than onStack, or with groups in it.
func Plan(dst []Candidate, g *Group, site string, v *View, d Draw) []Candidate {
	var buffer [onStack]slot
	var p Planner
	dst, _ = p.plan(dst, buffer[:0], g, site, v, &d)
	return dst
}

// byPreference orders far ends of one priority by the preference of their
// contacts (RFC 3261 20.10).
func byPreference(order []slot) {
	slices.SortStableFunc(order, func(a, b slot) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(b.q(), a.q()))
	})
}

// registered sorts the bindings of a member into those that take calls of this
// site and those that cannot be reached. A binding of another site is that
// site's (DEC-15).
func (v *View) registered(dst []Candidate, order []slot, m *Member, site string) ([]Candidate, []slot) {
	begin, lost := len(order), len(dst)
	if v.Registry != nil {
		for _, b := range v.Registry.Bindings(m.Registration.AOR) {
			switch at, cause := v.Registry.Reach(b); {
			case at != site:
			case !m.Registration.has(b.User):
				dst = append(dst, Candidate{Member: m, Binding: b, Cause: CauseUserGone})
			case cause != "":
				dst = append(dst, Candidate{Member: m, Binding: b, Cause: cause})
			default:
				order = append(order, slot{member: m, binding: b})
			}
		}
	}
	if len(order) == begin && len(dst) == lost {
		dst = append(dst, Candidate{Member: m, Cause: CauseUnregistered})
	}
	return dst, order
}
