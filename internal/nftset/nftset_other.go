//go:build !linux

package nftset

import (
	"errors"
	"net/netip"
	"time"
)

// ErrOverlap is returned for a network that overlaps another one of the set.
var ErrOverlap = errors.New("nftables: the set has an overlapping network")

var errNone = errors.New("nftables: this system has none; remove doors.nftables")

// Sets are two sets of one table.
type Sets struct{}

// New names a table and its sets.
func New(_, _, _ string) *Sets { return &Sets{} }

// Check says that there are no sets.
func (*Sets) Check() error { return errNone }

// Add puts a network into its set.
func (*Sets) Add(netip.Prefix, time.Duration) error { return errNone }

// Remove takes a network out of its set.
func (*Sets) Remove(netip.Prefix) error { return errNone }

// Has lists which networks are there.
func (*Sets) Has([]netip.Prefix) (map[netip.Prefix]bool, error) { return nil, errNone }
