package simulation

import "time"

// Silence after which the end of a stream is believed (DEC-21): four missed
// heartbeats of 250 ms, more over a long way.
const (
	silence     = 1000 * time.Millisecond
	silenceMore = 200 * time.Millisecond
	// rto is what one lost segment costs a stream.
	rto = 200 * time.Millisecond
)

// link is the stream between two nodes as TCP and heartbeats make it: in order,
// late under loss, and at an end once either side has heard nothing for too
// long. Frames that were on the way then are lost.
type link struct {
	w          *world
	ends       [2]*node
	latency    time.Duration
	epoch      int // of the stream: a new connection is a new epoch
	up         [2]bool
	blocked    [2]int // faults that stop what ends[i] sends
	cuts       [2]int // serial number of the latest cut of what ends[i] sends
	backlog    [2][]frame
	clear      [2]time.Duration // when the latest frame of ends[i] arrives
	connecting bool
	trouble    spans
	slow       spans
	delay      time.Duration // of a link that is slow now
}

type frame struct {
	epoch int
	do    func()
}

func (w *world) makeLinks() {
	for i, a := range w.nodes {
		for _, b := range w.nodes[i+1:] {
			l := &link{w: w, ends: [2]*node{a, b}, latency: w.plan.wan}
			if a.site == b.site {
				l.latency = w.plan.lan
			}
			w.links = append(w.links, l)
		}
	}
}

// link returns the link of two nodes and which end a is.
func (w *world) link(a, b *node) (l *link, end int) {
	for _, l := range w.links {
		switch {
		case l.ends[0] == a && l.ends[1] == b:
			return l, 0
		case l.ends[1] == a && l.ends[0] == b:
			return l, 1
		}
	}
	return nil, 0
}

// open tells whether what a sends to b arrives.
func (w *world) open(a, b *node) bool {
	l, end := w.link(a, b)
	return l.blocked[end] == 0
}

// frame sends something over the interconnect. text is what goes, for the
// trace. It reports false when there is no stream.
func (n *node) frame(x *node, text []byte, do func()) bool {
	if x == nil {
		return false
	}
	l, end := n.w.link(n, x)
	if !l.up[end] || !n.peers[x.index].up {
		return false
	}
	l.carry(end, frame{l.epoch, func() {
		n.w.happened('f', x.index, text)
		n.w.sayMessage(n.name, x.name, text)
		do()
	}})
	return true
}

func (l *link) carry(end int, f frame) {
	w := l.w
	if l.blocked[end] > 0 {
		l.backlog[end] = append(l.backlog[end], f)
		return
	}
	at := w.now + l.latency + l.delay + upTo(w.net, l.latency/4)
	for chance(w.net, w.loss()) {
		at += rto
	}
	l.clear[end] = max(l.clear[end], at)
	w.after(l.clear[end]-w.now, func() { l.arrive(end, f) })
}

func (l *link) arrive(end int, f frame) {
	x := l.ends[1-end]
	switch {
	case f.epoch != l.epoch || !x.alive || !x.paused && !l.up[1-end]:
	case l.blocked[end] > 0:
		l.backlog[end] = append(l.backlog[end], f)
	default:
		x.step(f.do)
	}
}

// block stops what one end sends.
func (l *link) block(end int) {
	l.blocked[end]++
	if l.blocked[end] > 1 {
		return
	}
	if l.blocked[1-end] == 0 {
		l.trouble.begin(l.w.now)
	}
	l.unheard(end)
}

// unheard lets the other end of a silent node notice.
func (l *link) unheard(end int) {
	w := l.w
	l.cuts[end]++
	serial, epoch := l.cuts[end], l.epoch
	wait := silence + upTo(w.net, silenceMore)
	if l.ends[0].site != l.ends[1].site {
		wait += upTo(w.net, 6*l.latency)
	}
	boot := l.ends[end].boot
	w.after(wait, func() {
		x := l.ends[end]
		still := l.blocked[end] > 0 && serial == l.cuts[end] || !x.runs() || x.boot != boot
		if still && epoch == l.epoch {
			l.close(1-end, epoch)
		}
	})
}

// unblock takes one cut back: what TCP has kept is sent on.
func (l *link) unblock(end int) {
	l.blocked[end]--
	if l.blocked[end] > 0 {
		return
	}
	kept := l.backlog[end]
	l.backlog[end] = nil
	for _, f := range kept {
		l.carry(end, f)
	}
	if l.blocked[1-end] == 0 {
		l.trouble.end(l.w.now)
	}
	l.consider()
	l.w.catchUp(l.ends[0])
	l.w.catchUp(l.ends[1])
}

// close ends the stream at one end and, when the way is open, at the other.
func (l *link) close(end, epoch int) {
	n, x := l.ends[end], l.ends[1-end]
	if !n.alive {
		return
	}
	n.step(func() {
		if l.epoch != epoch || !l.up[end] {
			return
		}
		l.up[end] = false
		n.lose(x)
		if l.blocked[end] == 0 {
			l.w.after(l.latency, func() { l.close(1-end, epoch) })
		}
		l.consider()
	})
}

// died ends the stream at a node whose process is gone. Its kernel says so,
// unless the whole machine went.
func (l *link) died(end int, power bool) {
	l.up[end] = false
	epoch := l.epoch
	if !power && l.blocked[end] == 0 {
		l.w.after(l.latency, func() { l.close(1-end, epoch) })
		return
	}
	l.unheard(end)
}

// consider connects the two nodes again when that is possible, and lets go of
// half a stream.
func (l *link) consider() {
	w, a, b := l.w, l.ends[0], l.ends[1]
	if !a.runs() || !b.runs() || l.blocked[0]+l.blocked[1] > 0 || l.connecting || l.up[0] && l.up[1] {
		return
	}
	if l.up[0] || l.up[1] {
		end, epoch := 0, l.epoch
		if l.up[1] {
			end = 1
		}
		w.after(l.latency, func() { l.close(end, epoch) })
		return
	}
	l.connecting = true
	w.after(between(w.net, 100*time.Millisecond, 900*time.Millisecond), func() {
		l.connecting = false
		if !a.runs() || !b.runs() || l.blocked[0]+l.blocked[1] > 0 || l.up[0] || l.up[1] {
			l.consider()
			return
		}
		l.epoch++
		l.up, l.backlog = [2]bool{true, true}, [2][]frame{}
		a.step(func() { a.meet(b) })
		b.step(func() { b.meet(a) })
		w.joined(a)
		w.joined(b)
	})
}

// consider looks at all links of a node.
func (w *world) consider(n *node) {
	for _, l := range w.links {
		if l.ends[0] == n || l.ends[1] == n {
			l.consider()
		}
	}
}

// linksOf calls fn for each link of a node with the end that the node is.
func (w *world) linksOf(n *node, fn func(l *link, end int)) {
	for _, l := range w.links {
		switch n {
		case l.ends[0]:
			fn(l, 0)
		case l.ends[1]:
			fn(l, 1)
		}
	}
}
