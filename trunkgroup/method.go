package trunkgroup

import "slices"

// Method is a distribution: how a group orders its selectable members for one
// call (P-30).
type Method uint8

// The methods. Inside each of them members of a lower priority number come
// first; the method orders the members of equal priority.
const (
	// LoadBalance takes turns: each call begins with the next member, and the
	// calls of one that fails spread over all others.
	LoadBalance Method = 1
	// Weighted draws members at random in proportion to their weights.
	Weighted Method = 2
	// Failover goes by priority, then by the order in the document.
	Failover Method = 3
	// LeastSessions begins with whoever has the fewest calls.
	LeastSessions Method = 4
	// RoundRobin takes turns and goes on in document order (K-06).
	RoundRobin Method = 5
	// RelativeWeight gives members their shares in turn, without chance (K-20).
	RelativeWeight Method = 6
	// Random draws members at random, all alike (K-08).
	Random Method = 7
	// Hash sends calls of one key, which the document names, to one member.
	Hash Method = 8
	// HashCallID sends all of one Call-ID to one member (K-03).
	HashCallID Method = 9
	// HashFrom goes by the caller's URI (K-04).
	HashFrom Method = 10
	// HashTo goes by the URI in To (K-05).
	HashTo Method = 11
	// HashRequestUser goes by the user of the Request-URI (K-20).
	HashRequestUser Method = 12
	// HashAuthUser goes by the digest user; a call without one takes its turn
	// (K-07).
	HashAuthUser Method = 13
	// HashSourceIP goes by the address that the call comes from.
	HashSourceIP Method = 14
	// HashCaller goes by the caller's number.
	HashCaller Method = 15
	// HashCalled goes by the called number.
	HashCalled Method = 16
	// HashMod places keys as Kamailio does, with what follows from it when a
	// member goes (C2).
	HashMod Method = 17
	// CallLoad begins with whoever has the fewest calls of ours, in document
	// order among equals, and leaves out who is full (K-20).
	CallLoad Method = 18
	// LeastBusy begins with whoever uses the smallest part of its limit.
	LeastBusy Method = 19
	// Latency begins with whoever answers probes fastest (K-20, K-29).
	Latency Method = 20
	// Parallel calls all members of a priority at once; the first to answer has
	// the call. For customers only: two carriers may bill (DEC-25).
	Parallel Method = 21
)

var methodNames = [...]string{
	"load-balance", "weighted", "failover", "least-sessions", "round-robin", "relative-weight", "random",
	"hash", "hash-call-id", "hash-from", "hash-to", "hash-request-user", "hash-auth-user", "hash-source-ip", "hash-caller", "hash-called", "hash-mod",
	"call-load", "least-busy", "latency", "parallel",
}

// MethodNames lists the methods as a document names them.
func MethodNames() []string { return slices.Clone(methodNames[:]) }

// String returns the name as it stands in YAML; empty for the zero value.
func (m Method) String() string {
	if m < LoadBalance || int(m) > len(methodNames) {
		return ""
	}
	return methodNames[m-1]
}

// CountsSessions tells whether the method goes by the calls of far ends.
func (m Method) CountsSessions() bool { return m == LeastSessions || m == CallLoad || m == LeastBusy }

// Weighs tells whether the method goes by weights: a member that starts slowly has
// a part of its weight there, and elsewhere is put back in a part of the calls.
func (m Method) Weighs() bool {
	return m == Weighted || m == RelativeWeight || m >= Hash && m < HashMod
}

// MarshalText writes the name.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the name, or another word for it (C1), which is written back
// as the name; empty text leaves the zero value.
func (m *Method) UnmarshalText(b []byte) error {
	*m = 0
	if len(b) == 0 {
		return nil
	}
	if i := slices.Index(methodNames[:], string(b)); i >= 0 {
		*m = Method(i + 1)
		return nil
	}
	other, err := aliased(string(b))
	*m = other
	return err
}
