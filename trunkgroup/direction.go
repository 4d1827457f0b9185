package trunkgroup

import (
	"fmt"
	"slices"
)

// Direction says which calls a member takes part in.
type Direction uint8

// The directions. The zero value is DirectionBoth.
const (
	// DirectionBoth: it is called, and its address identifies its calls.
	DirectionBoth Direction = iota
	// DirectionIn: calls come from it, none is sent there, and it is not probed.
	DirectionIn
	// DirectionOut: it is called; calls from its address are strangers'.
	DirectionOut
)

var directionNames = [...]string{"both", "in", "out"}

// DirectionNames lists the directions as a document names them.
func DirectionNames() []string { return slices.Clone(directionNames[:]) }

// String returns the name as it stands in YAML.
func (d Direction) String() string {
	if int(d) < len(directionNames) {
		return directionNames[d]
	}
	return "invalid"
}

// MarshalText writes the name.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the name; empty text is both.
func (d *Direction) UnmarshalText(b []byte) error {
	*d = DirectionBoth
	if len(b) == 0 {
		return nil
	}
	i := slices.Index(directionNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown direction %q", b)
	}
	*d = Direction(i)
	return nil
}
