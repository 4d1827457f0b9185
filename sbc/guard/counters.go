package guard

import "sync/atomic"

// Cause says why something was dropped.
type Cause uint8

// The causes, in the order in which they are looked at.
const (
	CauseACL     Cause = iota // the listener's access list
	CauseBan                  // a ban
	CauseBucket               // the source sends too much
	CauseScanner              // the signature of a scanner
	causes
)

// String is the word for metrics.
func (c Cause) String() string { return [...]string{"acl", "ban", "bucket", "scanner"}[c] }

// Counters counts what was dropped. All only grow and may be read at any time.
type Counters struct {
	messages, connections [causes]atomic.Uint64
}

// Each calls fn for every cause with the messages and the connections that were
// dropped for it.
func (c *Counters) Each(fn func(cause Cause, messages, connections uint64)) {
	for i := range causes {
		fn(i, c.messages[i].Load(), c.connections[i].Load())
	}
}
