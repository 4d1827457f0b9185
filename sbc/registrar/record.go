package registrar

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Record is a binding with what the registrar has to remember of it. It never
// changes.
type Record struct {
	trunkgroup.Binding
	// CallID is a hash of the Call-ID of its last REGISTER, CSeq the number: a
	// later one of the same Call-ID has a higher number (RFC 3261 10.3).
	CallID uint64
	CSeq   uint32
	// RegID is not 0 when it is known by its instance and this (RFC 5626).
	RegID uint32
	// Taken is when its node took the last REGISTER, by this node's clock, Changed
	// the same or later the end of its connection.
	Taken, Changed time.Time
}

// Gone reports that the connection by which alone the binding is reached has
// ended.
func (r *Record) Gone() bool { return r.Reach == trunkgroup.ReachFlow && r.Flow == 0 }

// WithoutFlow returns the record after the end of its connection.
func (r *Record) WithoutFlow(now time.Time) *Record {
	gone := *r
	gone.Flow, gone.Changed = 0, now
	return &gone
}
