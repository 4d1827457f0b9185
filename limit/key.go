package limit

import "time"

// Kind is what a limit bounds.
type Kind uint8

// The kinds of limits.
const (
	Calls Kind = iota + 1 // calls that are up or being set up (P-33)
	Rate                  // calls that began within the last second (P-34)
)

// String returns the word for the kind in documents and metrics.
func (k Kind) String() string {
	switch k {
	case Calls:
		return "calls"
	case Rate:
		return "cps"
	default:
		return "unknown"
	}
}

// RateSpan is how long a use of kind Rate lasts: one second, and what the way to
// the far end may take longer for one call than for another, so that the far end
// does not see more calls within its second than there are rights.
const RateSpan = time.Second + 20*time.Millisecond

// Scope is whose limit it is.
type Scope uint8

// The scopes of limits.
const (
	Customer Scope = iota + 1 // all trunk groups of one customer together
	Group                     // a trunk group
	Member                    // a member of a trunk group
)

// String returns the word for the scope in documents and metrics.
func (s Scope) String() string {
	switch s {
	case Customer:
		return "customer"
	case Group:
		return "group"
	case Member:
		return "member"
	default:
		return "unknown"
	}
}

// Key names one limit. Name is the customer, the group, or "group/member".
type Key struct {
	Kind  Kind
	Scope Scope
	Name  string
}

// String returns the key for logs: kind, scope and name.
func (k Key) String() string { return k.Kind.String() + " of " + k.Scope.String() + " " + k.Name }
