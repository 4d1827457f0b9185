package lease

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// bank is a grantor's book of one limit.
type bank struct {
	term     uint64
	began    time.Time
	full     bool // it holds all rights of the site that nobody has
	pool     int  // while not full: the rights that those who joined brought along
	accounts map[string]*account
	passed   []passed  // rights of processes that are gone, not yet free
	hungryTo time.Time // rights are short until then
	needed   time.Time // when they last were

	sites map[string]*site
	safe  rows // what every node of the site knows of what this site moved away
}

// account is one node's part of the book.
type account struct {
	name     string
	boot     uint64
	joined   bool
	share    int // the most that it can hold
	target   int // what it was granted last
	seq      uint64
	acked    uint64
	held     int // as reported
	used     int
	waiting  int // calls that wait for a right now
	missed   int // uses that were not to be had lately
	missedTo time.Time
	hungry   bool   // it reports each right that becomes idle
	knows    rows   // that it reported
	sent     uint64 // of its last report
	toldAt   time.Time
	told     byte // the flags that it was told last
	owed     bool // it has not been answered since its last report
}

// passed are rights of a process that is gone. Each process has its own end: of a
// node that crashes again and again the earlier ones become free nevertheless.
type passed struct {
	name  string
	share int
	free  time.Time
}

// reported takes a node's report.
func (x *entry) reported(from string, boot uint64, r *record) {
	e := x.e
	mine := e.grantor(x.limit.Key, e.cfg.Site) == e.cfg.Node
	if x.bank == nil {
		if !mine {
			return
		}
		x.open()
	}
	b := x.bank
	a := b.accounts[from]
	if a != nil && boot > a.boot {
		b.pass(a, e.now)
		a = nil
	}
	if r.term != b.term {
		switch {
		case !mine:
		case a != nil && a.joined && e.now.Sub(b.began) >= settle/10:
			x.open() // it has been away: nobody knows what moved meanwhile
		case e.now.Sub(b.began) >= settle/2:
			x.open() // it has left this term before its report came, and never returns to it
		default:
			x.send(from, record{kind: kindCall, term: b.term})
		}
		return
	}
	if a == nil && b.full {
		x.open() // somebody who was not counted on may have passed rights on elsewhere
		return
	}
	if a == nil {
		a = &account{name: from, boot: boot}
		b.accounts[from] = a
	}
	x.enter(a, r)
}

// open begins a term: all nodes of the site are called into it.
func (x *entry) open() {
	e := x.e
	e.term++
	b := &bank{
		term: e.cfg.Boot<<32 | e.term, began: e.now, accounts: make(map[string]*account),
		sites: make(map[string]*site), safe: make(rows),
	}
	if old := x.bank; old != nil {
		b.passed, b.sites = old.passed, old.sites
		for _, s := range b.sites {
			s.synced = false
		}
		for _, p := range b.passed {
			b.pool += p.share
		}
	}
	x.bank = b
	for _, name := range slices.Sorted(maps.Keys(e.nodes)) {
		if n := e.nodes[name]; e.mate(n) && n.State == Up {
			x.send(name, record{kind: kindCall, term: b.term})
		}
	}
	x.send(e.cfg.Node, record{kind: kindCall, term: b.term})
}

// enter writes a report into the book.
func (x *entry) enter(a *account, r *record) {
	b := x.bank
	if !a.joined {
		a.joined, a.target, a.share = true, r.share, r.share
		b.pool += r.share
	}
	a.acked = r.seq
	if a.acked == a.seq {
		a.share = r.share // it obeyed the last grant: this is what it holds
	}
	a.held, a.used, a.hungry, a.sent, a.knows = r.share, r.used, r.flags&flagHungry != 0, r.sent, r.rows
	a.waiting = r.waiting
	if a.missed = r.missed; a.missed > 0 {
		a.missedTo = x.e.now.Add(wantFor)
	}
	a.owed = true
}

// pass takes a process that is gone out of the accounts.
func (b *bank) pass(a *account, free time.Time) {
	delete(b.accounts, a.name)
	if a.share > 0 {
		b.passed = append(b.passed, passed{a.name, a.share, free})
	}
}

// grant does what is due as a grantor.
func (x *entry) grant() {
	e, b := x.e, x.bank
	if b == nil {
		return
	}
	x.bury()
	if !b.full && x.complete() {
		b.full = true
	}
	if e.knows() && b.full {
		x.exchange()
	}
	x.share()
	x.answer()
	x.due(e.now.Add(e.refresh()))
	for _, p := range x.peers() { // what is borrowed ends to the instant
		if end := x.heard[p].Add(e.cfg.Lease); x.rows.from(p, e.cfg.Site) > 0 && end.After(e.now) {
			x.due(end)
		}
	}
	if !b.full || len(b.passed) > 0 {
		x.due(e.now.Add(settle / 4))
	}
}

// bury frees the rights of the dead, once nobody may have taken them along who
// cannot be asked.
func (x *entry) bury() {
	e, b := x.e, x.bank
	for _, name := range slices.Sorted(maps.Keys(b.accounts)) {
		a, n := b.accounts[name], e.nodes[name]
		if n != nil && (e.dead(n) || n.Boot > a.boot) {
			b.pass(a, n.since.Add(e.granted()))
		}
	}
	if e.silent() {
		return
	}
	b.passed = slices.DeleteFunc(b.passed, func(p passed) bool {
		if e.now.Before(p.free) {
			return false
		}
		b.pool = max(0, b.pool-p.share)
		return true
	})
}

// crashed reports whether rights of an earlier process of a node are not free yet.
func (b *bank) crashed(name string) bool {
	return slices.ContainsFunc(b.passed, func(p passed) bool { return p.name == name })
}

// complete reports whether nobody can hold rights of the site that are not in
// the book.
func (x *entry) complete() bool {
	e, b := x.e, x.bank
	if !e.knows() {
		return false
	}
	for name, n := range e.nodes {
		if !e.mate(n) {
			continue
		}
		if a := b.accounts[name]; (a == nil || !a.joined) && !e.gone(n) {
			return false
		}
	}
	a := b.accounts[e.cfg.Node]
	return a != nil && a.joined && x.synced()
}

// supply is how many rights there are to hand out, those that are out included.
func (x *entry) supply() int {
	switch {
	case x.e.knows() && x.e.stranded():
		return x.part()
	case !x.bank.full:
		return max(0, x.bank.pool-x.doubtful())
	}
	return max(0, x.rights())
}

// part is what an island of the site has for itself, which has no way to know
// whether the others live: its proportion. What the others may hold is added,
// since out counts it.
func (x *entry) part() int {
	live := x.live()
	n := max(0, x.rights()) * len(live) / x.e.mates()
	n += x.bank.out()
	for _, a := range live {
		n -= a.share
	}
	return n
}

// out is the most that all nodes together hold.
func (b *bank) out() (n int) {
	for _, a := range b.accounts {
		n += a.share
	}
	for _, p := range b.passed {
		n += p.share
	}
	return n
}

// live returns the accounts of the nodes that can be granted something, in an
// order that differs from limit to limit.
func (x *entry) live() []*account {
	var list []*account
	for _, a := range x.bank.accounts {
		if n := x.e.nodes[a.name]; a.name == x.e.cfg.Node || n != nil && n.State == Up {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *account) int {
		return cmp.Or(cmp.Compare(rank(x.limit.Key, a.name), rank(x.limit.Key, b.name)), cmp.Compare(a.name, b.name))
	})
	return list
}
