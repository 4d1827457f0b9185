package trunkgroup

// Key is what of a call a method hashes.
type Key uint8

// The keys.
const (
	KeyNone Key = iota
	KeyCallID
	KeyFrom
	KeyTo
	KeyRequestUser
	KeyAuthUser
	KeySourceIP
	KeyCaller
	KeyCalled
	KeyHeader
)
