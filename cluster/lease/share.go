package lease

import (
	"slices"
	"time"
)

// share hands the rights out: to each live node what it needs, as evenly as the
// needs allow, and what is left over as room for what comes next. A node that has
// just crashed gets no room: it may do so again, and each time what it was given is
// nobody's for a lease.
func (x *entry) share() {
	e, b := x.e, x.bank
	live := x.live()
	avail := x.supply() - b.out()
	for _, a := range live {
		avail += a.share
	}
	needs, room := make([]int, len(live)), make([]bool, len(live))
	short, wanting, pressing := -max(avail, 0), false, x.pressing()
	for i, a := range live {
		needs[i], room[i] = x.needOf(a, pressing), !b.crashed(a.name)
		short += needs[i]
		wanting = wanting || needs[i] > a.share // somebody else may have just that idle
	}
	promised := x.promised(-short)
	avail = max(0, avail-promised)
	targets := spread(avail, needs, room)
	if short > 0 || promised > 0 || wanting || pressing {
		b.hungryTo, b.needed = e.now.Add(wantFor+wantFor/2), e.now
	}
	x.settle(live, targets)
	x.lend(live, short)
}

// pressing reports whether a call waits, here or in another site: then what was
// missed before counts no more.
func (x *entry) pressing() bool {
	if x.waits() {
		return true
	}
	for _, s := range x.bank.sites {
		if s.wants(x.e.now) > 0 {
			return true
		}
	}
	return false
}

// needOf is what a node should have: what it uses and what calls wait for, or what
// calls did not get within the last second, which may come again.
func (x *entry) needOf(a *account, pressing bool) int {
	switch {
	case pressing:
		return a.used + a.waiting
	case x.e.now.Before(a.missedTo):
		return a.used + a.missed
	}
	return a.used
}

// settle grants the targets: first less to some, then more to others, as far as
// rights are free.
func (x *entry) settle(live []*account, targets []int) {
	for i, a := range live {
		if targets[i] < a.target && targets[i] <= a.share && x.worth(a, targets[i]) {
			a.target, a.seq, a.owed = targets[i], a.seq+1, true
		}
	}
	free := x.supply() - x.bank.out()
	for i, a := range live {
		to := targets[i]
		if more := to - a.share; more > 0 {
			more = min(more, max(free, 0))
			free -= more
			to = a.share + more
		} // else it holds as much already and was about to lose it
		if to > min(a.target, a.share) { // who joined may hold less than it said: uses above its share
			a.target, a.seq, a.owed = to, a.seq+1, true
			a.share = max(a.share, to)
		}
	}
}

// worth reports whether a lower share is worth a message: not as long as nobody
// needs what it frees, the rights are there, and the difference is small.
func (x *entry) worth(a *account, target int) bool {
	return x.e.now.Before(x.bank.hungryTo) || x.bank.out() > x.supply() || a.target-target > (a.target+3)/4
}

// spread divides n among needs: to each what it needs, or as much of it as an
// even division gives, and an even part of what is left to those who have room.
func spread(n int, needs []int, room []bool) []int {
	out := make([]int, len(needs))
	if len(needs) == 0 {
		return out
	}
	order := make([]int, len(needs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return needs[a] - needs[b] })
	left := n
	for k, i := range order {
		out[i] = min(needs[i], left/(len(order)-k))
		left -= out[i]
	}
	for i := range out { // the remainder of the division, and then the room
		if left > 0 && out[i] < needs[i] {
			out[i]++
			left--
		}
	}
	with := 0
	for _, ok := range room {
		if ok {
			with++
		}
	}
	for i := range out {
		if room[i] {
			part := (left + with - 1) / with
			out[i] += part
			left -= part
			with--
		}
	}
	return out
}

// answer sends to the nodes what they are to know.
func (x *entry) answer() {
	e, b := x.e, x.bank
	hungry := e.now.Before(b.hungryTo)
	full := hungry && x.spent() && !x.hoping()
	for _, a := range x.live() {
		flags := flagIf(hungry, flagHungry) | flagIf(full && a.used >= a.target, flagFull)
		again := flags&flagFull != 0 && e.now.Sub(a.toldAt) >= wantFor/2
		if b.full && !a.knows.covers(x.rows, e.cfg.Site) {
			flags |= flagAsk // it has to know of what was moved, and to say so
			again = again || e.now.Sub(a.toldAt) >= siteRepeat
			x.due(e.now.Add(siteRepeat))
		}
		if !a.joined || !a.owed && flags == a.told && !again {
			continue
		}
		a.owed, a.told, a.toldAt = false, flags, e.now
		x.send(a.name, record{
			kind: kindGrant, flags: flags, term: b.term, seq: a.seq, share: a.target, sent: a.sent,
			used: x.siteUsed(), waiting: x.uses.elsewhere(),
		})
		if x.bank != b {
			return
		}
	}
	if hungry {
		x.due(e.now.Add(poll))
	}
}

// spent reports whether it is certain that all rights of the site are in use.
func (x *entry) spent() bool {
	b := x.bank
	if !b.full || x.supply() > b.out() {
		return false
	}
	for _, a := range x.live() {
		if !a.hungry || a.acked != a.seq || a.held > a.used {
			return false
		}
	}
	return true
}

// since is how long ago a time was; a very long time for the zero time.
func (e *Engine) since(t time.Time) time.Duration {
	if t.IsZero() {
		return 1 << 62
	}
	return e.now.Sub(t)
}
