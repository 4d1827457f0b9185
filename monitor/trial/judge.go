package trial

import (
	"fmt"

	"github.com/tandem-sbc/tandem/cdr"
)

// Rules of a Judge.
const (
	// MinCalls is how many calls of the canary it takes to judge it.
	MinCalls = 20
	// Margin is by how much the share of failed calls must be above that before.
	Margin = 0.2
	// Blind is the share of failed calls that is too much for a node that had
	// fewer than MinCalls calls before.
	Blind = 0.5
	// Window is how many observations back a Judge looks: seconds, when it is
	// asked every second.
	Window = 600
)

// Failed reports whether a finished call counts against a canary. A call that
// the caller took back counts for nothing, and neither does a peer site's part or an
// operator's test call.
func Failed(r *cdr.Record) (failed, counts bool) {
	if r.Kind != cdr.KindCall || r.Test || r.SIPCode == 487 {
		return false, false
	}
	if !r.Answer.IsZero() {
		return false, true
	}
	dialed := false
	for i := range r.Attempts {
		dialed = dialed || r.Attempts[i].Dialed
	}
	return !dialed || r.SIPCode >= 500 && r.SIPCode < 600, true
}

// Tally counts finished calls since the start of the process.
type Tally struct{ Calls, Failed uint64 }

func (t Tally) minus(o Tally) Tally { return Tally{t.Calls - o.Calls, t.Failed - o.Failed} }

func (t Tally) share() float64 {
	if t.Calls == 0 {
		return 0
	}
	return float64(t.Failed) / float64(t.Calls)
}

// Judge compares. The zero value has seen nothing, and judges calls. It is not
// safe for concurrent use.
type Judge struct {
	// Doors judges INVITEs that came from nobody known instead: of the carriers
	// and customers that a canary forgot there are no calls. Such INVITEs come
	// from strangers at all times, so it takes a fall of those that are let in to
	// less than half, too, and is never said without calls before.
	Doors bool

	seen    [Window]Tally // totals, a ring
	n       int           // observations in the ring
	at      int           // of the next one
	canary  uint64        // revision that is tried, 0 for none
	before  Tally         // the calls before it
	beforeN int           // observations that before is of
	done    bool          // judged: said once
}

// Observe takes the totals of this moment and the revision that the node tries,
// 0 for none. It is asked at even intervals. A reason says that the node must go
// back; it comes once for a canary.
func (j *Judge) Observe(total Tally, canary uint64) (reason string) {
	if canary != j.canary {
		j.canary, j.done = canary, false
		j.before, j.beforeN = total.minus(j.oldest(total)), j.n
		j.n, j.at = 0, 0 // what comes is compared with before, not mixed with it
	}
	during := total.minus(j.oldest(total))
	j.seen[j.at] = total
	j.at = (j.at + 1) % Window
	j.n = min(j.n+1, Window)
	if canary == 0 || j.done || during.Calls < MinCalls {
		return ""
	}
	limit, what := Blind, "calls failed"
	if j.before.Calls >= MinCalls {
		limit = j.before.share() + Margin
	}
	if j.Doors {
		what = "INVITEs came from nobody known"
	}
	if during.share() < limit || j.Doors && !j.shut(during) {
		return ""
	}
	j.done = true
	return fmt.Sprintf("%d of %d %s, before it were %d of %d", during.Failed, during.Calls, what, j.before.Failed, j.before.Calls)
}

// shut reports whether less than half as many INVITEs are let in as before.
func (j *Judge) shut(during Tally) bool {
	if j.before.Calls < MinCalls {
		return false
	}
	let, was := float64(during.Calls-during.Failed)/float64(j.n), float64(j.before.Calls-j.before.Failed)/float64(j.beforeN)
	return let < was/2
}

// oldest returns the totals at the far end of the window.
func (j *Judge) oldest(now Tally) Tally {
	switch {
	case j.n == 0:
		return now
	case j.n < Window:
		return j.seen[0]
	}
	return j.seen[j.at]
}
