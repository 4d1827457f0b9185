package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/hunt"
)

// Rehearsal is how a hunt goes when all far ends do the same.
type Rehearsal struct {
	Attempts []hunt.Attempt // with the peer site's
	// HandedOff: the peer site was asked, after so many attempts here.
	HandedOff bool
	Before    int
	// Code and Cause are the caller's final response; Forwarded: it is a far end's
	// own.
	Code      int
	Cause     string
	Forwarded bool
	// After is the time from the INVITE to it.
	After time.Duration
}

// Rehearse plays a hunt with the real sequence engine. Each far end gives a final
// response at once, or with code 0 none at all; the peer site, when it is asked,
// says what peer says.
func Rehearse(cfg hunt.Config, code int, peer hunt.HandoffResult) Rehearsal {
	r := rehearsal{start: time.Unix(0, 0), code: code, peer: peer}
	r.now = r.start
	r.seq = hunt.New(cfg, r.now)
	r.take(r.seq.Start(r.now))
	// Each step ends an attempt, the peer's or a timer's wait.
	for range 4*len(cfg.Targets) + 16 {
		if r.seq.State().Done() || !r.step() {
			break
		}
	}
	r.out.Attempts = r.seq.Attempts()
	r.out.After = r.now.Sub(r.start)
	return r.out
}

type rehearsal struct {
	seq        *hunt.Sequence
	start, now time.Time
	code       int
	peer       hunt.HandoffResult
	flying     []int // attempts
	asked      bool  // the peer has yet to answer
	out        Rehearsal
}

// take notes what the engine wants.
func (r *rehearsal) take(actions []hunt.Action) {
	for _, a := range actions {
		switch {
		case a.Kind == hunt.Dial:
			r.flying = append(r.flying, a.Attempt)
		case a.Kind == hunt.Handoff:
			r.asked, r.out.HandedOff, r.out.Before = true, true, len(r.seq.Attempts())
		case a.Kind.Final():
			r.out.Code, r.out.Cause = a.Code, a.Cause
			if a.Kind == hunt.Fail {
				r.out.Code, r.out.Cause = failureOf(r.seq.Attempts(), a.Code, a.Cause)
			}
			r.out.Forwarded = a.Kind == hunt.Forward || a.Kind == hunt.ForwardHandoff
		}
	}
}

// step lets one thing happen.
func (r *rehearsal) step() bool {
	switch {
	case r.asked:
		r.asked = false
		r.take(r.seq.HandoffDone(r.now, r.peer))
	case r.code != 0 && len(r.flying) > 0:
		attempt := r.flying[0]
		r.flying = r.flying[1:]
		r.take(r.seq.Final(r.now, attempt, r.code))
	default:
		d := r.seq.Deadline()
		if d.IsZero() {
			return false
		}
		r.now, r.flying = d, nil
		r.take(r.seq.Expire(d))
	}
	return true
}
