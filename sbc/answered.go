package sbc

import (
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// CallChange is the begin or the end of an answered call.
type CallChange struct {
	ID string
	// Record is the encoded record so far (cdr.ParseBinary); nil when the call ended.
	Record []byte
	// Answered is when the call was; zero when it ended.
	Answered time.Time
}

// maxUp bounds the encoded record of a call that is up: it goes to every node.
const maxUp = 24 << 10

// encodeUp encodes the record of a call that was answered. A list of attempts that is
// too long for that is left out: only the call's own node can write it.
func encodeUp(r *cdr.Record) []byte {
	b := r.AppendBinary(make([]byte, 0, 512+96*len(r.Attempts)))
	if len(b) <= maxUp {
		return b
	}
	short := *r
	short.Attempts = nil
	return short.AppendBinary(nil)
}
