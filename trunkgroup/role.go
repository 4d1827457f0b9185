package trunkgroup

import "fmt"

// Role says what a trunk group is for.
type Role uint8

// The roles.
const (
	// OriginationCustomer groups take calls from the PSTN; the called number
	// finds them (P-01).
	OriginationCustomer Role = 1
	// TerminationCustomer groups place calls to the PSTN; source or digest
	// finds them (P-10, P-11).
	TerminationCustomer Role = 2
	// PSTNProvider groups are the carriers: the source of inbound calls and
	// the target of outbound calls (P-12).
	PSTNProvider Role = 3
)

// RoleNames lists the roles as a document names them.
func RoleNames() []string {
	return []string{"origination-customer", "termination-customer", "pstn-provider"}
}

// String returns the name as it stands in YAML; empty for the zero value.
func (r Role) String() string {
	if r < OriginationCustomer || r > PSTNProvider {
		return ""
	}
	return RoleNames()[r-1]
}

// MarshalText writes the name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the name; empty text leaves the zero value.
func (r *Role) UnmarshalText(b []byte) error {
	*r = 0
	if len(b) == 0 {
		return nil
	}
	for i, name := range RoleNames() {
		if name == string(b) {
			*r = Role(i + 1)
			return nil
		}
	}
	return fmt.Errorf("unknown role %q", b)
}

// Method is a distribution: how a group orders its selectable members for one
// call (P-30).
type Method uint8

// The methods. Inside each of them members of a lower priority number come
// first; the method orders the members of equal priority.
const (
	// LoadBalance takes turns: each call begins with the next member.
	LoadBalance Method = 1
	// Weighted draws members at random in proportion to their weights.
	Weighted Method = 2
	// Failover goes by priority, then by the order in the document.
	Failover Method = 3
	// LeastSessions begins with whoever has the fewest calls.
	LeastSessions Method = 4
)

// MethodNames lists the methods as a document names them.
func MethodNames() []string {
	return []string{"load-balance", "weighted", "failover", "least-sessions"}
}

// String returns the name as it stands in YAML; empty for the zero value.
func (m Method) String() string {
	if m < LoadBalance || m > LeastSessions {
		return ""
	}
	return MethodNames()[m-1]
}

// MarshalText writes the name.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the name; empty text leaves the zero value.
func (m *Method) UnmarshalText(b []byte) error {
	*m = 0
	if len(b) == 0 {
		return nil
	}
	for i, name := range MethodNames() {
		if name == string(b) {
			*m = Method(i + 1)
			return nil
		}
	}
	return fmt.Errorf("unknown method %q", b)
}
