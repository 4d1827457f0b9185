package lease

import (
	"maps"
	"slices"
	"time"
)

// site is another site as the grantor of a limit sees it.
type site struct {
	synced  bool      // it told what it knows since this term began
	asked   time.Time // when it was last asked for rights, or for what it knows
	asking  time.Time // since when an answer is missing; zero when none is
	empty   time.Time // it has nothing to give until then
	want    int       // what it asked for
	wantTo  time.Time
	wrote   time.Time // when it was last written to
	pending bool      // it waits for an answer
}

// peers returns the other sites of the limit in their order.
func (x *entry) peers() []string {
	var list []string
	for s := range x.limit.Shares {
		if s != x.e.cfg.Site {
			list = append(list, s)
		}
	}
	for p := range x.rows {
		for _, s := range [...]string{p.from, p.to} {
			if s != x.e.cfg.Site && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	slices.Sort(list)
	return list
}

func (b *bank) site(name string) *site {
	s := b.sites[name]
	if s == nil {
		s = new(site)
		b.sites[name] = s
	}
	return s
}

// rights are the site's own share and what it borrowed, less what it lent. What
// it borrowed counts only while the lender confirms it.
func (x *entry) rights() int {
	own := x.limit.Shares[x.e.cfg.Site]
	n := own
	for _, p := range x.peers() {
		balance := x.rows.from(p, x.e.cfg.Site)
		if balance > 0 && x.e.since(x.heard[p]) >= x.e.cfg.Lease {
			balance = 0
		}
		n += balance
	}
	return n
}

// doubtful is what the site borrowed and nobody confirms: those who joined a
// grantor that is not full may hold all of it.
func (x *entry) doubtful() (n int) {
	for _, p := range x.peers() {
		if balance := x.rows.from(p, x.e.cfg.Site); balance > 0 && x.e.since(x.heard[p]) >= x.e.cfg.Lease {
			n += balance
		}
	}
	return n
}

// synced reports whether every other site that can be asked has told what it
// knows of the moves between the sites.
func (x *entry) synced() bool {
	e, b := x.e, x.bank
	all := true
	for _, p := range x.peers() {
		to := e.grantor(x.limit.Key, p)
		s := b.site(p)
		if to == "" || s.synced || e.now.Sub(b.began) >= e.cfg.Lease {
			continue
		}
		all = false
		if e.since(s.asked) >= siteRepeat {
			s.asked = e.now
			x.send(to, record{kind: kindSite, flags: flagAsk, rows: x.shown()})
		}
		x.due(e.now.Add(siteRepeat))
	}
	return all
}

// shown are the rows that another site may see: of this site's own moves only
// those that survive the loss of this node.
func (x *entry) shown() rows {
	out := make(rows, len(x.rows))
	for p, n := range x.rows {
		if x.bank != nil && x.bank.full && p.from == x.e.cfg.Site {
			n = x.bank.safe[p]
		}
		if n > 0 {
			out[p] = n
		}
	}
	return out
}

// exchange keeps the other sites informed, and asks them when rights are short.
func (x *entry) exchange() {
	e, b := x.e, x.bank
	x.secure()
	x.forgive()
	short := x.short()
	for _, p := range x.peers() {
		s, to := b.site(p), e.grantor(x.limit.Key, p)
		if to == "" {
			s.asking, s.pending = time.Time{}, false
			continue
		}
		r := record{kind: kindSite, rows: x.shown(), used: x.siteUsed()}
		if short > 0 && x.waits() && !e.now.Before(s.empty) && e.since(s.asked) >= siteRepeat {
			r.waiting, r.flags = short, flagAsk
			s.asked = e.now
			if s.asking.IsZero() {
				s.asking = e.now
			}
		}
		if short == 0 {
			s.asking = time.Time{}
		}
		if r.waiting > 0 || e.since(s.wrote) >= e.refresh() {
			s.wrote = e.now
			x.send(to, r)
		}
	}
	if short > 0 {
		x.due(e.now.Add(poll))
	}
}

// waits reports whether a call of this site waits.
func (x *entry) waits() bool {
	for _, a := range x.live() {
		if a.waiting > 0 {
			return true
		}
	}
	return false
}

// short is how many uses were not to be had in this site.
func (x *entry) short() int {
	n := -x.supply()
	for _, a := range x.bank.accounts {
		n += a.share
	}
	pressing := x.pressing()
	for _, a := range x.live() {
		n += x.needOf(a, pressing) - a.share
	}
	for _, p := range x.bank.passed {
		n += p.share
	}
	return max(n, 0)
}

// secure notes which moves all live nodes of the site know by now. Those that have
// become so are told at once to the sites that got them.
func (x *entry) secure() {
	for _, a := range x.live() {
		if a.name != x.e.cfg.Node && !a.knows.covers(x.rows, x.e.cfg.Site) {
			return
		}
	}
	for p, n := range x.rows {
		if p.from == x.e.cfg.Site && n > x.bank.safe[p] {
			x.bank.site(p.to).wrote = time.Time{}
		}
	}
	x.bank.safe = maps.Clone(x.rows)
}

// forgive takes back what was lent to a site that has been away for so long that
// no call there can use it any more: the borrower has given it back by now.
func (x *entry) forgive() {
	e := x.e
	for _, p := range x.peers() {
		last := later(later(x.heard[p], x.bank.began), e.lost(p)) // when it may have been confirmed
		if x.rows.from(e.cfg.Site, p) > 0 && e.grantor(x.limit.Key, p) == "" && e.since(last) >= e.granted()+x.limit.Hold {
			x.rows[pair{p, e.cfg.Site}] = x.rows[pair{e.cfg.Site, p}]
		}
	}
}

// asked takes what another site's node wrote.
func (x *entry) asked(from *node, r *record) {
	e, b := x.e, x.bank
	x.heard[from.Site] = e.now
	if b == nil {
		if r.flags&flagAsk != 0 && r.waiting == 0 {
			x.send(from.Name, record{kind: kindSite, rows: x.shown()})
		}
		return
	}
	s := b.site(from.Site)
	s.synced = true
	if r.used > 0 || r.flags == 0 {
		x.uses.set(from.Site, r.used)
	}
	if r.flags&flagFull != 0 && !r.rows.covers(x.rows, e.cfg.Site) {
		return // what was moved there has not arrived yet: it is asked again
	}
	s.asking = time.Time{}
	if r.flags&flagFull != 0 {
		s.empty = e.now.Add(wantFor / 2)
	} else if r.flags&flagAsk == 0 {
		s.empty = time.Time{}
	}
	if r.flags&flagAsk == 0 {
		return
	}
	if r.waiting == 0 {
		s.pending = true
		x.send(from.Name, record{kind: kindSite, rows: x.shown()})
		return
	}
	s.want, s.wantTo = max(0, r.waiting-x.underway(from.Site, r.rows)), e.now.Add(siteWant)
	s.pending = s.want > 0
	if !r.rows.covers(x.shown(), e.cfg.Site) {
		s.wrote = time.Time{}
	}
}

// underway is what was moved to a site that did not know of it yet when it told its
// rows: it asks again until that has arrived, and is not to get as much again.
func (x *entry) underway(site string, knows rows) int {
	p := pair{x.e.cfg.Site, site}
	return int(x.rows[p] - min(x.rows[p], knows[p]))
}

// promised is how many rights other sites are to get: what they asked for, as far
// as it is spare here or was theirs in the first place, and what was borrowed and
// is no longer needed.
func (x *entry) promised(spare int) (n int) {
	e, b := x.e, x.bank
	if !b.full {
		return 0
	}
	for _, p := range x.peers() {
		s := b.site(p)
		theirs := max(0, x.rows.from(p, e.cfg.Site))
		if want := s.wants(e.now); want > 0 {
			give := min(want, max(theirs, spare-n))
			n += max(give, 0)
		}
	}
	return n
}

func (s *site) wants(now time.Time) int {
	if now.Before(s.wantTo) {
		return s.want
	}
	return 0
}

// lend moves free rights to the sites that asked for them, and home what was
// borrowed and is not needed, and answers those who get nothing.
func (x *entry) lend(live []*account, short int) {
	e, b := x.e, x.bank
	if !b.full || !e.knows() {
		return
	}
	free := x.rightsHeld() - b.out()
	for _, p := range x.peers() {
		s := b.site(p)
		theirs := max(0, x.rows.from(p, e.cfg.Site))
		give := min(s.wants(e.now), max(theirs, -short), max(free, 0))
		lost := e.since(x.heard[p]) >= e.cfg.Lease
		if give == 0 && theirs > 0 && (lost || e.since(b.needed) >= idleFor) {
			give = min(theirs, max(0, x.rightsHeld()-x.inUse(live)))
			give = min(give, max(free, 0))
		}
		if give > 0 {
			x.rows[pair{e.cfg.Site, p}] += uint64(give)
			s.want, s.pending = max(0, s.want-give), false
			s.empty = time.Time{}
			free -= give
			x.due(e.now)
		} else if s.pending && s.want > 0 && x.spent() {
			if to := e.grantor(x.limit.Key, p); to != "" {
				x.send(to, record{kind: kindSite, flags: flagFull, rows: x.shown()})
			}
			s.pending = false
		}
	}
}

// rightsHeld is rights without the doubt of a cut: what may be given back.
func (x *entry) rightsHeld() int {
	n := x.limit.Shares[x.e.cfg.Site]
	for _, p := range x.peers() {
		n += x.rows.from(p, x.e.cfg.Site)
	}
	return n
}

func (x *entry) inUse(live []*account) (n int) {
	for _, a := range live {
		n += a.used
	}
	return n
}

// hoping reports whether another site may yet give something.
func (x *entry) hoping() bool {
	e, b := x.e, x.bank
	for _, p := range x.peers() {
		if e.grantor(x.limit.Key, p) == "" {
			continue
		}
		s := b.site(p)
		if e.now.Before(s.empty) {
			continue
		}
		if s.asking.IsZero() || e.now.Sub(s.asking) < siteAnswer {
			return true
		}
	}
	return false
}
