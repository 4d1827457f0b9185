package b2bua

import (
	"cmp"
	"time"
)

// CallInfo is one call as an operator sees it.
type CallInfo struct {
	ID, Direction        string
	Ingress, Customer    string
	Group, Member, Site  string // of the winner, or of the attempt in flight
	State                string // trying, ringing, answered, ending
	Start, Answer        time.Time
	Attempts             int
	HandedOver, HandedOn bool // by a peer site to us, by us to a peer site
}

// Snapshot returns up to limit of the shard's calls.
func (s *Shard) Snapshot(limit int) []CallInfo {
	list := make([]CallInfo, 0, min(limit, len(s.calls)))
	for c := range s.calls {
		if len(list) == limit {
			break
		}
		list = append(list, c.info())
	}
	return list
}

func (c *Call) info() CallInfo {
	i := CallInfo{
		ID: c.id, Direction: c.dir.String(), Start: c.times.start, Answer: c.times.answer,
		State: c.stateName(), HandedOver: c.token.yes, HandedOn: c.hand != nil,
	}
	if c.ingress != nil {
		i.Ingress = c.ingress.Name
	}
	if c.customer != nil {
		i.Customer = c.customer.Name
	}
	if r := c.rec; r != nil {
		i.Group, i.Member, i.Site, i.Attempts = r.EgressGroup, r.EgressMember, r.EgressSite, len(r.Attempts)
		i.HandedOn = r.HandedOff
		return i
	}
	if n := len(c.tries); n > 0 {
		m := c.tries[n-1].cand.Member
		// One that registers stands in the site of its binding, which is this one.
		i.Group, i.Member, i.Site, i.Attempts = m.Group.Name, m.ID, cmp.Or(m.Site, c.s.cfg.Site), n
	}
	return i
}

func (c *Call) stateName() string {
	switch {
	case c.phase == hunting && c.times.progress.IsZero():
		return "trying"
	case c.phase == hunting:
		return "ringing"
	case c.phase == ending:
		return "ending"
	}
	return "answered"
}
