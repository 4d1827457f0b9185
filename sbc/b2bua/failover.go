package b2bua

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Scopes of a failover: how far a call had to go for somebody else.
const (
	ScopeMember = "member" // to another far end of the same group
	ScopeGroup  = "group"  // to another group of this site
	ScopeSite   = "site"   // to another site
)

// Reasons of failovers, and of hand-offs.
const (
	reasonNoActive  = "no_active_member" // nobody gets calls, so that nobody was asked
	reasonNoMember  = "no_member"        // by the document nobody is there to be asked
	reasonDrain     = "drain"            // nobody gets calls, by an operator's word
	reasonNoAnswer  = "no_response"      // who was asked said nothing, or did not ring in time
	reasonTransport = "transport_error"  // who was asked could not be reached
	reasonRefused   = "reroute_cause"    // who was asked refused
	reasonFull      = attemptCapacity    // a limit kept the call from being dialled
	reasonAffinity  = "affinity"         // what the call belongs to is at the other site
)

// failover is the last one of a call.
type failover struct {
	scope, to string        // to is a site; scope is empty before the first
	after     time.Duration // since the caller's INVITE
}

// failOver counts an attempt that begins because of what came before it: one after somebody of the same
// group, or the first one of another group. What a fork calls at once is counted once.
func (c *Call) failOver(attempt int, cand *trunkgroup.Candidate) {
	list := c.seq.Attempts()
	if attempt == 0 || attempt >= len(list) || c.test {
		return
	}
	if f := list[attempt].Fork; f != 0 && int(f) != attempt+1 {
		return
	}
	before := list[:attempt]
	if h := c.hand; h != nil && len(h.tries) > 0 && !c.asked(before[h.begun:], h.begun) {
		c.failOverSite(c.peerReason(), h.site, c.s.cfg.Site)
		return
	}
	to := plannedGroup(cand)
	same := len(before)
	for same > 0 && c.attemptGroup(&before[same-1]) == to {
		same--
	}
	switch part := before[same:]; {
	case c.asked(part, same):
		c.countFailover(ScopeMember, to, to, c.leavingReason(part, same))
	case same > 0:
		from := c.attemptGroup(&before[same-1])
		first := same
		for first > 0 && c.attemptGroup(&before[first-1]) == from {
			first--
		}
		c.countFailover(ScopeGroup, from, to, c.leavingReason(before[first:same], first))
	}
}

// failOverSite counts a call that goes to another site.
func (c *Call) failOverSite(reason, from, to string) {
	if c.test {
		return
	}
	c.failover = failover{ScopeSite, to, c.s.now.Sub(c.times.start)}
	c.s.env.Count(Event{
		Kind: EventFailover, Result: ScopeSite, Direction: c.dir.String(), Group: c.customer, Next: c.customer, From: from, To: to, Reason: reason,
	})
}

func (c *Call) countFailover(scope string, from, to *trunkgroup.Group, reason string) {
	site := c.s.cfg.Site
	c.failover = failover{scope, site, c.s.now.Sub(c.times.start)}
	c.s.env.Count(Event{Kind: EventFailover, Result: scope, Direction: c.dir.String(), Group: from, Next: to, From: site, To: site, Reason: reason})
}

// plannedGroup is the group that a far end was planned in, which is not its own where that stands in
// another one.
func plannedGroup(cand *trunkgroup.Candidate) *trunkgroup.Group {
	if cand.Outer != nil {
		return cand.Outer
	}
	return cand.Member.Group
}

// attemptGroup is the planned group of an attempt of this site, nil for one of the peer's.
func (c *Call) attemptGroup(a *hunt.Attempt) *trunkgroup.Group {
	if a.Site != "" || a.Target < 0 || a.Target >= len(c.cands) {
		return nil
	}
	return plannedGroup(&c.cands[a.Target])
}

// asked tells whether one of these attempts was meant to be dialled: the others were known not to take
// calls. The first of them is the one with this number.
func (c *Call) asked(part []hunt.Attempt, first int) bool {
	for i := range part {
		if c.try(first+i) != nil {
			return true
		}
	}
	return false
}

// leavingReason says in one word why these attempts, the first of which is the one with this number, led
// to somebody else: as the last one that was made says, else as those say that could not be.
func (c *Call) leavingReason(part []hunt.Attempt, first int) string {
	if len(part) == 0 {
		return reasonNoMember
	}
	told, full := 0, 0
	for i := len(part) - 1; i >= 0; i-- {
		a := &part[i]
		if c.try(first+i) != nil {
			return triedReason(a)
		}
		switch a.Cause {
		case attemptCapacity:
			full++
		case trunkgroup.Draining.String(), trunkgroup.Disabled.String():
			told++
		}
	}
	switch {
	case told == len(part):
		return reasonDrain
	case full > 0 && told+full == len(part):
		return reasonFull
	}
	return reasonNoActive
}

// triedReason says why an attempt that was made led to somebody else.
func triedReason(a *hunt.Attempt) string {
	switch {
	case a.Final:
		return reasonRefused
	case a.Cause == attemptCapacity:
		return reasonFull
	case !a.Dialed, a.Code == 503:
		return reasonTransport
	}
	return reasonNoAnswer
}

// peerReason says why a call comes back from the peer site.
func (c *Call) peerReason() string {
	if c.hand.refusal != nil {
		return reasonRefused
	}
	return reasonNoAnswer
}
