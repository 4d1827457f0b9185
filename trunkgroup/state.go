package trunkgroup

// State is the state of a member.
type State uint8

// The states. A member leaves Disabled and Draining only by an operator's
// word, and all others by probes, by evidence from calls, or by time.
const (
	// Unknown: nothing heard yet. Selectable; the first probe decides.
	Unknown State = iota
	// Active: answers, or is not monitored (P-08).
	Active
	// Trying: has failed, less often than it takes to be down. Selectable.
	Trying
	// Down: failed as often as the profile asks. Probed, gets no call.
	Down
	// Probation: down, but has begun to answer. Gets no call until it has
	// answered as often as the profile asks.
	Probation
	// Cooldown: asked for a pause by Retry-After. Gets no call until the
	// time is over; good probes do not end it.
	Cooldown
	// Draining: takes no new call by an operator's word; still probed.
	Draining
	// Disabled: out of use by an operator's word; not probed.
	Disabled
)

var stateNames = [...]string{"unknown", "active", "trying", "down", "probation", "cooldown", "draining", "disabled"}

// States lists all states, for metrics that show each of them.
func States() []State {
	return []State{Unknown, Active, Trying, Down, Probation, Cooldown, Draining, Disabled}
}

// String returns the name in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "invalid"
}

// Selectable reports whether a member in this state gets calls.
func (s State) Selectable() bool { return s == Active || s == Trying || s == Unknown }

// Administrative reports whether an operator put the member into this state.
// Such a state holds even in panic (DEC-12).
func (s State) Administrative() bool { return s == Draining || s == Disabled }

// MarshalText writes the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// AdminState is an operator's word about one member.
type AdminState uint8

// The words. AdminUp takes the others back; it also ends a cooldown.
const (
	AdminUp AdminState = iota
	AdminDraining
	AdminDisabled
	// AdminInactive takes a member out until its probes are good again (K-27).
	AdminInactive
	// AdminTrying gives a member calls, probes it at once and forgets what failed
	// before. It takes the other words back, and holds for no longer than that.
	AdminTrying
)

var adminNames = [...]string{"up", "draining", "disabled", "inactive", "trying"}

// String returns the name in lower case.
func (a AdminState) String() string {
	if int(a) < len(adminNames) {
		return adminNames[a]
	}
	return "invalid"
}

// ParseAdminState reads up (or active), draining, disabled, inactive or trying.
func ParseAdminState(name string) (AdminState, bool) {
	switch name {
	case "up", "active":
		return AdminUp, true
	case "draining":
		return AdminDraining, true
	case "disabled":
		return AdminDisabled, true
	case "inactive":
		return AdminInactive, true
	case "trying":
		return AdminTrying, true
	}
	return 0, false
}
