package lease

import (
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/limit"
)

// uses is what is in use in the cluster, as the grantors tell: seconds old.
type uses struct {
	site   int
	others map[string]int // by site; "" holds the sum where only that is known
}

func (u *uses) set(site string, n int) {
	if u.others == nil {
		u.others = make(map[string]int)
	}
	delete(u.others, "")
	u.others[site] = n
}

func (u *uses) elsewhere() (n int) {
	for _, v := range u.others {
		n += v
	}
	return n
}

// siteUsed is what the nodes of the site have in use, by their last reports.
func (x *entry) siteUsed() int { return x.inUse(x.live()) }

// Status is one limit as this node sees it.
type Status struct {
	Key limit.Key
	// Limit is the limit of the cluster, 0 for none; Own the site's own share of
	// it.
	Limit, Own int
	// Lent and Borrowed are rights that other sites have of this one, and the
	// reverse.
	Lent, Borrowed int
	// Share is this node's; Used what is in use of it, and Waiting the calls that
	// wait for more.
	Share, Used, Waiting int
	// SiteUsed and OtherUsed are in use in this site and in the others, as last
	// heard.
	SiteUsed, OtherUsed int
	// Grantor is the node of this site that hands the shares out.
	Grantor string
	// Note says what is not as it should be, and since when; empty when nothing.
	Note string
}

// Status returns all limits in their order, those that only count included.
func (e *Engine) Status(now time.Time) []Status {
	e.step(now)
	list := make([]Status, 0, len(e.order))
	for _, x := range e.order {
		s := Status{Key: x.limit.Key}
		s.Share, s.Used = x.meter.Read()
		s.SiteUsed, s.OtherUsed = x.uses.site, x.uses.elsewhere()
		if !x.limited() {
			s.Share, s.SiteUsed = 0, s.Used
			list = append(list, s)
			continue
		}
		for _, n := range x.limit.Shares {
			s.Limit += n
		}
		s.Own, s.Waiting, s.Grantor = x.limit.Shares[e.cfg.Site], x.meter.Waiting(), x.hold.grantor
		for _, p := range x.peers() {
			if n := x.rows.from(p, e.cfg.Site); n > 0 {
				s.Borrowed += n
			} else {
				s.Lent -= n
			}
		}
		if x.bank != nil {
			s.SiteUsed = x.siteUsed()
		}
		s.Note = x.note()
		list = append(list, s)
	}
	return list
}

// note says why a limit is not to be had in full.
func (x *entry) note() string {
	e := x.e
	switch {
	case !x.hold.until.IsZero() && !e.now.Before(x.hold.until):
		return fmt.Sprintf("nothing heard from the grantor since %s: no call is admitted", clock(x.hold.until.Add(-e.cfg.Lease)))
	case x.hold.grantor == "":
		return "no grantor yet"
	case x.bank != nil && !x.bank.full:
		return fmt.Sprintf("not all nodes of the site have joined since %s: only what they hold is shared", clock(x.bank.began))
	}
	for _, p := range x.peers() {
		if x.rows.from(p, e.cfg.Site) != 0 && e.since(x.heard[p]) >= e.cfg.Lease && x.bank != nil {
			return "site " + p + " cannot be reached: what is lent stays counted, what is borrowed is not used"
		}
	}
	return ""
}

func clock(t time.Time) string { return t.UTC().Format(time.TimeOnly) }
