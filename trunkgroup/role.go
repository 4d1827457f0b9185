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
