package simulation

import (
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/sbc/drain"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// slowest is the most by which a link is slow: short of what ends the stream.
const slowest = 950 * time.Millisecond

// planFaults draws what breaks and when. All of it is whole again at the end of
// the trouble.
func (w *world) planFaults() {
	r := w.fate
	for range w.plan.faults {
		at := between(r, w.plan.trouble.from, w.plan.trouble.to-time.Second)
		length := between(r, 300*time.Millisecond, gone)
		switch r.IntN(3) { // short, some, long
		case 0:
			length /= 10
		case 1:
			length /= 3
		}
		length = min(length, w.plan.trouble.to-at)
		do := w.drawFault()
		w.after(at-w.now, func() {
			if undo := do(); undo != nil {
				w.after(length, undo)
			}
		})
	}
}

// drawFault draws one thing to break. Breaking it returns how it is mended; nil
// when there is nothing to mend.
func (w *world) drawFault() (do func() func()) {
	r := w.fate
	a := r.IntN(4)
	b := (a + 1 + r.IntN(3)) % 4
	agent := w.agents[r.IntN(len(w.agents))]
	mood := mood(1 + r.IntN(int(moods)-1))
	power := r.IntN(2) == 0
	doc := r.IntN(documents)
	oneWay := r.IntN(2)
	length := between(r, 100*time.Millisecond, slowest)
	group, site := r.IntN(len(groupsOfMembers)), r.IntN(2)
	switch r.IntN(20) {
	case 0, 1:
		return func() func() { return w.crash(w.nodes[a], power) }
	case 2:
		return func() func() { return w.pause(w.nodes[a]) }
	case 3:
		return func() func() { return w.cutSites(oneWay) }
	case 4:
		return func() func() { return w.cutNode(w.nodes[a]) }
	case 5:
		return func() func() { return w.cutPair(w.nodes[a], w.nodes[b], true) }
	case 6:
		return func() func() { return w.cutPair(w.nodes[a], w.nodes[b], false) }
	case 7, 8:
		return func() func() {
			agent.set(mood)
			return func() { agent.set(good) }
		}
	case 9, 18:
		return func() func() {
			w.change(w.nodes[a], doc)
			return nil
		}
	case 10, 15:
		return func() func() { return w.stop(w.nodes[a], power && oneWay == 0) }
	case 19:
		return func() func() { return w.slowLink(w.nodes[a], w.nodes[b], length) }
	case 16:
		return func() func() { return w.park(w.nodes[a]) }
	case 11, 12, 13, 14:
		return func() func() { return w.groupDown(groupsOfMembers[group], [...]string{dallas, ashburn}[site], mood) }
	default:
		return func() func() { return w.operate(w.nodes[a], agent) }
	}
}

// crash ends a process, or the whole machine; it starts again later.
func (w *world) crash(n *node, power bool) func() {
	if !n.alive || n.paused {
		return nil
	}
	w.sums.Crashes++
	w.say("%s crashes (power %v)", n.name, power)
	w.end(n, power)
	return func() { w.restart(n) }
}

func (w *world) end(n *node, power bool) {
	n.trouble.begin(w.now)
	n.powerless = power
	n.alive, n.waiting, n.unsent, n.next = false, nil, nil, -1
	w.linksOf(n, func(l *link, end int) { l.died(end, power) })
}

func (w *world) restart(n *node) {
	if n.alive {
		return
	}
	w.say("%s starts, boot %d", n.name, n.boot+1)
	n.start()
	n.trouble.end(w.now)
}

// pause stops a process without ending it.
func (w *world) pause(n *node) func() {
	if !n.runs() || n.closing {
		return nil
	}
	boot, since := n.boot, w.now
	w.say("%s pauses", n.name)
	n.paused = true
	n.trouble.begin(w.now)
	w.linksOf(n, func(l *link, end int) { l.unheard(end) })
	return func() {
		if n.boot != boot || !n.alive {
			return
		}
		w.say("%s goes on", n.name)
		n.paused = false
		n.trouble.end(w.now)
		if w.now-since > 10*time.Second {
			n.doubt()
		}
		waiting := n.waiting
		n.waiting = nil
		for _, do := range waiting {
			n.step(do)
		}
		n.rearm()
		w.consider(n)
		w.catchUp(n)
	}
}

// cutSites parts the two sites and leaves the witness with one of them, both or
// none of them: in both directions, or in one.
func (w *world) cutSites(oneWay int) func() {
	w.sums.Cuts++
	from, both := w.fate.IntN(2), w.fate.IntN(2) == 0
	w.say("the sites are cut, one way %v", oneWay == 1)
	var cuts []func()
	for _, a := range w.nodes[:2] {
		for _, b := range w.nodes[2:4] {
			x, y := a, b
			if from == 1 {
				x, y = b, a
			}
			cuts = append(cuts, w.cutPair(x, y, oneWay == 0))
		}
	}
	if both {
		for _, a := range w.nodes[2*from : 2*from+2] {
			cuts = append(cuts, w.cutPair(a, w.nodes[4], true))
		}
	}
	return all(cuts)
}

// cutNode takes a node from all other nodes; its far ends still reach it.
func (w *world) cutNode(n *node) func() {
	w.sums.Cuts++
	n.trouble.begin(w.now)
	var cuts []func()
	for _, x := range w.nodes {
		if x != n {
			cuts = append(cuts, w.cutPair(n, x, true))
		}
	}
	cuts = append(cuts, func() { n.trouble.end(w.now) })
	return all(cuts)
}

// cutPair stops what a sends to b, and the other way too.
func (w *world) cutPair(a, b *node, both bool) func() {
	w.sums.Cuts++
	w.say("%s to %s is cut, both ways %v", a.name, b.name, both)
	l, end := w.link(a, b)
	l.block(end)
	if both {
		l.block(1 - end)
	}
	return func() {
		w.say("%s to %s is whole", a.name, b.name)
		l.unblock(end)
		if both {
			l.unblock(1 - end)
		}
	}
}

// slowLink delays what two nodes send each other, by less than silence is.
func (w *world) slowLink(a, b *node, by time.Duration) func() {
	w.say("%s and %s are slow by %v", a.name, b.name, by)
	l, _ := w.link(a, b)
	if l.delay > 0 {
		return nil
	}
	l.delay = by
	l.slow.begin(w.now)
	return func() {
		w.say("%s and %s are quick again", a.name, b.name)
		l.delay = 0
		l.slow.end(w.now)
	}
}

func all(list []func()) func() {
	return func() {
		for _, do := range list {
			do()
		}
	}
}

// change proposes another document at a node.
func (w *world) change(n *node, doc int) {
	if !n.runs() {
		return
	}
	set := fsm.Set{Cluster: clusterID, Author: n.name, Reason: "sim", At: n.now(), Document: []byte(docName(doc, w.plan.limited))}
	if w.fate.IntN(2) == 0 {
		expect := n.state.Version().Revision
		set.Expect = &expect
	}
	switch w.fate.IntN(4) {
	case 0:
		w.propose(n, &fsm.Stage{Set: set, Site: [...]string{dallas, ashburn}[w.fate.IntN(2)]}, docName(doc, w.plan.limited))
	case 1:
		promote := w.fate.IntN(2) == 0
		w.propose(n, &fsm.Decide{Cluster: clusterID, Promote: promote, Author: n.name, Reason: "sim", At: n.now()}, docName(0, w.plan.limited))
	default:
		w.propose(n, &set, docName(doc, w.plan.limited))
	}
}

// stop lets a node end in order, in a hurry or not; it starts again.
func (w *world) stop(n *node, hurry bool) func() {
	if !n.runs() || n.closing {
		return nil
	}
	w.sums.Drains++
	w.say("%s is told to end (hurry %v)", n.name, hurry)
	n.drain(drain.Order{By: "ann", Reason: "the process is told to end", Final: true}, hurry, func() {
		w.after(between(w.net, 300*time.Millisecond, 5*time.Second), func() { w.restart(n) })
	})
	return nil
}

// park drains a node that stays, and takes that back.
func (w *world) park(n *node) func() {
	if !n.runs() || n.closing {
		return nil
	}
	w.sums.Drains++
	boot := n.boot
	w.say("%s is drained", n.name)
	n.drain(drain.Order{By: "ann", Reason: "to look at it", Stay: true}, false, n.draining.over)
	return func() {
		if n.boot == boot {
			n.undrain()
		}
	}
}

// operate is an operator's word on a member, and its end.
func (w *world) operate(n *node, a *agent) func() {
	if !n.runs() || n.table == nil {
		return nil
	}
	var member *trunkgroup.Member
	for _, m := range n.table.Members() {
		if m.Addr == a.addr {
			member = m
		}
	}
	if member == nil {
		return nil
	}
	a.ill.begin(w.now)
	said := func(n *node, state trunkgroup.AdminState) {
		n.step(func() {
			now := n.now()
			knob := n.watch.knobs.Set(now, member.Key, state, "ann", "because", n.name, time.Hour)
			w.say("%s: operator says %v of %s", n.name, state, member.Key)
			n.spreadKnob(now, knob)
		})
	}
	said(n, trunkgroup.AdminDisabled)
	return func() {
		x := n
		for i := 0; i < 4 && !x.runs(); i++ {
			x = w.nodes[i]
		}
		said(x, trunkgroup.AdminUp)
		a.ill.end(w.now)
	}
}

// groupsOfMembers are the groups that a site can lose.
var groupsOfMembers = [...]string{"acme-in", "acme-in", "bravo-in", "carrier-a", "carrier-b"}

// groupDown makes all members of a group in a site ill at once.
func (w *world) groupDown(group, site string, m mood) func() {
	table := w.lab.table(docName(0, w.plan.limited), firstVersion())
	var cured []func()
	for _, member := range table.Group(group).Members {
		if member.Site == site {
			a := w.byAddr[member.Addr]
			a.set(m)
			cured = append(cured, func() { a.set(good) })
		}
	}
	return all(cured)
}
