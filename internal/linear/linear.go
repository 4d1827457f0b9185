package linear

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Impossible is a revision that no cluster reaches: a change that expects it is a read.
const Impossible = math.MaxUint64

// Change is what a client asks for.
type Change struct {
	Document string
	// Expect is the revision that must be the current one; nil expects none.
	Expect *uint64
}

// Outcome is what a client was answered.
type Outcome struct {
	// Unknown: no answer; the change may be applied at any time after the call.
	Unknown bool
	// Conflict: another revision than the expected one is current, namely Revision.
	Conflict   bool
	Generation uint64 // of the revision made, or of the current one; 0 when it was not told
	Revision   uint64
}

// History collects what clients saw. It is safe for concurrent use.
type History struct {
	mu  sync.Mutex
	ops []porcupine.Operation
}

// Add records one change of a client, with the moments at which it was asked and
// answered. The clients of a history use one clock.
func (h *History) Add(client int, c Change, asked time.Time, o Outcome, answered time.Time) {
	op := porcupine.Operation{ClientId: client, Input: c, Call: asked.UnixNano(), Output: o, Return: answered.UnixNano()}
	if o.Unknown {
		op.Return = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
}

// Counts returns how many changes were made, how many were conflicts or reads, and of
// how many the outcome is unknown.
func (h *History) Counts() (made, conflicts, unknown int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, op := range h.ops {
		switch o := op.Output.(Outcome); {
		case o.Unknown:
			unknown++
		case o.Conflict:
			conflicts++
		default:
			made++
		}
	}
	return made, conflicts, unknown
}

// Start is the document in force when a history begins; its zero value is a cluster
// without one.
type Start struct {
	Generation uint64
	Revision   uint64
	Document   string
}

// Check reports whether the history is linearizable. The error names what was checked;
// it is another one when that took longer than the limit.
func (h *History) Check(start Start, limit time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{start} },
		Step: func(state, input, output any) []any { return step(state.(Start), input.(Change), output.(Outcome)) },
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%+v -> %+v", input, output)
		},
	}
	switch porcupine.CheckOperationsTimeout(model.ToModel(), h.ops, limit) {
	case porcupine.Ok:
		return nil
	case porcupine.Illegal:
		return fmt.Errorf("linear: a history of %d changes is not linearizable", len(h.ops))
	}
	return fmt.Errorf("linear: a history of %d changes was not decided within %v", len(h.ops), limit)
}

// step returns the states that one copy of the document may be in after a change was
// answered so; none when it could not have been.
func step(s Start, c Change, o Outcome) []any {
	next := s
	if c.Document != s.Document || s.Revision == 0 {
		next.Document = c.Document
		next.Revision++
	}
	wanted := c.Expect == nil || *c.Expect == s.Revision
	told := func(v Start) bool {
		return o.Revision == v.Revision && (o.Generation == 0 || o.Generation == v.Generation)
	}
	switch {
	case o.Unknown && wanted:
		return []any{s, next}
	case o.Unknown:
		return []any{s}
	case o.Conflict && !wanted && told(s):
		return []any{s}
	case !o.Conflict && wanted && told(next):
		return []any{next}
	}
	return nil
}
