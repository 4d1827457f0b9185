package tally

import "strings"

// Scope says by what is counted.
type Scope uint8

// The scopes.
const (
	Carrier     Scope = iota + 1 // carrier id of a route
	Group                        // trunk group that was dialled
	Site                         // where it was dialled from
	Destination                  // see DestinationOf
)

// Scopes lists all of them.
func Scopes() []Scope { return []Scope{Carrier, Group, Site, Destination} }

// String returns the scope as operators write it.
func (s Scope) String() string {
	switch s {
	case Carrier:
		return "carrier"
	case Group:
		return "trunk_group"
	case Site:
		return "site"
	case Destination:
		return "destination"
	}
	return "unknown"
}

// ParseScope reads what String writes.
func ParseScope(text string) (Scope, bool) {
	for _, s := range Scopes() {
		if s.String() == text {
			return s, true
		}
	}
	return 0, false
}

// Key is one thing that is counted apart.
type Key struct {
	Scope Scope
	Name  string
}

// text is the key as nodes tell each other of it.
func (k Key) text() string { return k.Scope.String() + " " + k.Name }

func parseKey(text string) (Key, bool) {
	scope, name, ok := strings.Cut(text, " ")
	s, known := ParseScope(scope)
	return Key{s, name}, ok && known && name != "" && clean(name) == name
}

// maxName bounds a name: carriers' ids come from outside.
const maxName = 128

// DestinationOf is the destination of a called number in E.164: its country code, in the
// North American plan with the area code behind it. A number that is none, like 911, is
// "short".
func DestinationOf(called string) string {
	digits, ok := strings.CutPrefix(called, "+")
	if !ok || len(digits) < 4 {
		return "short"
	}
	if digits[0] == '1' {
		return called[:5] // "+1214"
	}
	return called[:1+codeLength(digits)]
}

// codeLength is the number of digits of the country code that digits begin with (ITU-T
// E.164): one for 7, two for those below, else three.
func codeLength(digits string) int {
	if digits[0] == '7' {
		return 1
	}
	const two = " 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 " +
		"90 91 92 93 94 95 98 "
	if strings.Contains(two, " "+digits[:2]+" ") {
		return 2
	}
	return 3
}
