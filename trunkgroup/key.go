package trunkgroup

import (
	"fmt"
	"slices"
	"strings"
)

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

var keyNames = [...]string{
	"", "call-id", "from", "to", "request-user", "auth-user", "source-ip", "caller", "called", "header",
}

// headerKey begins the name of a key that is a header.
const headerKey = "header:"

// KeyNames lists the keys as a document names them; NAME stands for a header.
func KeyNames() []string {
	return append(slices.Clone(keyNames[KeyCallID:KeyHeader]), headerKey+"NAME")
}

// String returns the name as it stands in YAML; of a header only that it is one.
func (k Key) String() string {
	if int(k) < len(keyNames) {
		return keyNames[k]
	}
	return ""
}

// ParseKey reads a key as a document names it, and the header of one that is a
// header: header:X-Room-Id.
func ParseKey(s string) (k Key, header string, err error) {
	if name, ok := strings.CutPrefix(s, headerKey); ok {
		if len(name) > maxHeaderName || !isToken(name) {
			return KeyNone, "", fmt.Errorf("%.64q is not the name of a header", name)
		}
		return KeyHeader, name, nil
	}
	if i := slices.Index(keyNames[KeyCallID:KeyHeader], s); i >= 0 {
		return KeyCallID + Key(i), "", nil
	}
	return KeyNone, "", fmt.Errorf("unknown key %.64q", s)
}

// keyOf returns the key that a method has in its name, or KeyNone.
func (m Method) keyOf() Key {
	if m < HashCallID || m > HashCalled {
		return KeyNone
	}
	return KeyCallID + Key(m-HashCallID)
}

// Hashes tells whether the method goes by a key of the call.
func (m Method) Hashes() bool { return m >= Hash && m <= HashMod }

// compileKey finds what a distribution hashes; Validate has read the key before.
func (g *Group) compileKey(s *DistributionSpec) {
	g.Key = g.Method.keyOf()
	if g.Method == Hash || g.Method == HashMod {
		g.Key, g.KeyHeader, _ = ParseKey(s.Key)
	}
}

// NeedsTraits tells whether the group, or one that stands in it, goes by a key of
// the call: whoever plans for another one may leave Draw.Traits out.
func (g *Group) NeedsTraits() bool { return g.needsTraits }
