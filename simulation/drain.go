package simulation

import (
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/drain"
)

const (
	// drainTick is the pause between two looks at what is left.
	drainTick = 100 * time.Millisecond
	// lastWords is how long a node that ends waits for its far ends.
	lastWords = 5 * time.Second
)

// draining is a node's way out of service (DEC-19).
type draining struct {
	m      *drain.Machine
	phase  drain.Phase
	refuse bool
	told   b2bua.DrainOrder
	over   func() // what follows the end of the process
}

func newDraining() draining {
	return draining{m: drain.New(drain.Config{Announce: 12 * time.Second, Quiet: 3 * time.Second, Timeout: 40 * time.Second})}
}

// drain gives an order. over is called once the process has ended.
func (n *node) drain(o drain.Order, hurry bool, over func()) {
	n.step(func() {
		now := n.now()
		n.draining.m.Observe(now, n.drainFacts())
		if n.draining.over = over; hurry {
			n.draining.m.Hurry(now, o)
		} else {
			n.draining.m.Begin(now, o)
		}
		n.carryOut()
		n.drainLater()
	})
}

// undrain takes an order back, if that can still be done.
func (n *node) undrain() {
	n.step(func() {
		if n.draining.m.Undo(n.now()) == nil {
			n.carryOut()
		}
	})
}

// drainLater looks again soon, while this boot drains.
func (n *node) drainLater() {
	boot := n.boot
	n.w.after(drainTick, func() {
		if n.boot != boot || !n.alive {
			return
		}
		n.step(func() {
			if p := n.draining.phase; n.boot != boot || p == drain.Serving || p == drain.Ending {
				return
			}
			n.draining.m.Observe(n.now(), n.drainFacts())
			n.carryOut()
			n.drainLater()
		})
	})
}

// drainFacts are what the drain goes by.
func (n *node) drainFacts() (f drain.Facts) {
	for _, s := range n.shards {
		st := s.Stats()
		f.Calls += st.Calls
		f.Passed += st.Passed
		f.Streams += st.PassedStreams
		if at := s.LastInvite(); at.After(f.LastInvite) {
			f.LastInvite = at
		}
	}
	return f
}

// carryOut makes the machine's phase the node's.
func (n *node) carryOut() {
	d := &n.draining
	was, st := d.phase, d.m.Status()
	now := st.Phase
	if was == now && d.refuse == st.Refuse {
		return
	}
	d.phase, d.refuse = now, st.Refuse
	n.w.say("%s drain: %v, %+v", n.name, now, n.drainFacts())
	switch {
	case was == drain.Serving:
		n.drained.begin(n.w.now)
		n.publish("state", []byte("draining"))
	case now == drain.Serving:
		n.drained.end(n.w.now)
		n.publish("state", []byte("ready"))
	}
	if now == drain.Ending {
		n.endCalls()
		return
	}
	n.tellDrain()
}

// tellDrain gives the shards their order when it has changed.
func (n *node) tellDrain() {
	d := &n.draining
	o := b2bua.DrainOrder{Announce: d.phase != drain.Serving, Pass: d.phase == drain.Passing, Refuse: d.refuse}
	if o.Pass {
		o.Siblings = n.siblings()
	}
	if o.Announce == d.told.Announce && o.Pass == d.told.Pass && o.Refuse == d.told.Refuse && slices.Equal(o.Siblings, d.told.Siblings) {
		return
	}
	d.told = o
	for _, s := range n.shards {
		s.Drain(n.now(), o)
	}
}

// siblings are the nodes of the site that a new call can be passed to.
func (n *node) siblings() (list []string) {
	for i, x := range n.w.nodes {
		if x != n && x.site == n.site && n.peers[i].up && !n.thinksDraining(x) {
			list = append(list, x.name)
		}
	}
	return list
}

// endCalls is phase 3, and then the end of the process.
func (n *node) endCalls() {
	n.trouble.begin(n.w.now)
	n.closing = true
	for _, s := range n.shards {
		s.Shutdown(n.now())
	}
	boot, end := n.boot, n.w.now+lastWords
	var look func()
	look = func() {
		if n.boot != boot || !n.alive {
			return
		}
		n.step(func() {
			if n.drainFacts().Calls > 0 && n.w.now < end {
				n.w.after(drainTick, look)
				return
			}
			n.w.end(n, false)
			n.trouble.end(n.w.now)
			if over := n.draining.over; over != nil {
				over()
			}
		})
	}
	n.w.after(0, look)
}
