package clerk

import (
	"maps"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/peers"
)

// Status is what a clerk has done and has to do.
type Status struct {
	Online, Offline int // sessions
	// Requests counts what was sent, by kind and by what came of it: "ok", "denied", "failed",
	// "lost" or "unsent".
	Requests map[RequestCount]uint64
	// Seconds is the sum of the time to an answer, by kind.
	Seconds map[string]float64
	// Refused and Torn count calls by why; Uncontrolled those that went on without an answer.
	Refused, Torn map[string]uint64
	Uncontrolled  uint64
	// Kept is what has yet to be told; Dropped what was lost since too much was kept; Rejected what a
	// server took and did not accept.
	Kept              int
	Dropped, Rejected uint64
	Damaged           int
	// Disk is what is wrong with the spool's disk.
	Disk error
}

// RequestCount is the labels of a count.
type RequestCount struct{ Kind, Result string }

type counts struct {
	requests     map[RequestCount]uint64
	seconds      map[string]float64
	refusedCalls map[string]uint64
	torn         map[string]uint64
	uncontrolled uint64
	dropped      uint64
	refused      uint64
}

func newCounts() counts {
	return counts{
		requests: make(map[RequestCount]uint64), seconds: make(map[string]float64),
		refusedCalls: make(map[string]uint64), torn: make(map[string]uint64),
	}
}

func (n *counts) request(kind charging.Kind, reply *peers.Reply, took time.Duration) {
	n.requests[RequestCount{kind.String(), resultOf(reply)}]++
	if reply.Answered {
		n.seconds[kind.String()] += took.Seconds()
	}
}

func resultOf(r *peers.Reply) string {
	switch {
	case !r.Answered && r.Sent:
		return "lost"
	case !r.Answered:
		return "unsent"
	}
	return r.Answer.Word()
}

func (n *counts) notice(a *charging.Action, state string) {
	switch a.Kind {
	case charging.Refuse:
		n.refusedCalls[a.Why.String()]++
	case charging.Teardown:
		n.torn[a.Why.String()]++
	case charging.Grant:
		if state == "uncharged" {
			n.uncontrolled++
		}
	default:
	}
}

// Status returns the state as of the last second.
func (c *Clerk) Status() Status { return *c.page.Load() }

func (c *Clerk) publish() {
	s := &Status{
		Requests: maps.Clone(c.counts.requests), Seconds: maps.Clone(c.counts.seconds), Refused: maps.Clone(c.counts.refusedCalls),
		Torn: maps.Clone(c.counts.torn), Uncontrolled: c.counts.uncontrolled, Dropped: c.counts.dropped, Rejected: c.counts.refused,
	}
	s.Kept, s.Damaged, s.Disk = c.cfg.Spool.Status()
	for _, x := range c.sessions {
		if x.online != nil {
			s.Online++
		}
		if x.offline != nil {
			s.Offline++
		}
	}
	c.page.Store(s)
}
