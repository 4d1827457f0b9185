package simulation

import (
	"time"

	"github.com/tandem-sbc/tandem/cluster/lease"
	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	admitWait = 500 * time.Millisecond // for a larger share (DEC-10)
	waiters   = 1000
	// dialEvery is the pause between two tries to reach a node that was lost: a
	// machine that says there is no such process has told that it is gone.
	dialEvery = 500 * time.Millisecond
	rateHold  = limit.RateSpan
)

// rights are a node's part in the limits: its shares, and the engine that shares
// out.
type rights struct {
	set    *limit.Set
	engine *lease.Engine
	queue  *limit.Queue
	poke   bool // a call has begun to wait
	dead   []bool
}

func newRights(n *node) rights {
	if n.witness {
		return rights{}
	}
	set := limit.NewSet()
	return rights{
		set: set, queue: limit.NewQueue(set, waiters), dead: make([]bool, len(n.w.nodes)),
		engine: lease.New(lease.Config{Node: n.name, Site: n.site, Boot: uint64(n.boot)}, set, n.now()),
	}
}

// limitsOf lists the limits of a table.
func limitsOf(t *trunkgroup.Table) (list []lease.Limit) {
	add := func(scope limit.Scope, name string, l *trunkgroup.Limits) {
		if l.CallShares != nil {
			list = append(list, lease.Limit{Key: limit.Key{Kind: limit.Calls, Scope: scope, Name: name}, Shares: l.CallShares, Hold: l.MaxDuration})
		}
		if l.RateShares != nil {
			list = append(list, lease.Limit{Key: limit.Key{Kind: limit.Rate, Scope: scope, Name: name}, Shares: l.RateShares, Hold: rateHold})
		}
	}
	for _, c := range t.Customers() {
		add(limit.Customer, c.Name, &c.Limits)
	}
	for _, g := range t.Groups() {
		add(limit.Group, g.Name, &g.Limits)
	}
	for _, m := range t.Members() {
		add(limit.Member, m.Key, &m.Limits)
	}
	return list
}

// admit takes uses at a node, or lets the call wait.
func (n *node) admit(shard int, ref uint64, uses []limit.Use) limit.Verdict {
	v := n.rights.set.Admit(n.now(), uses)
	switch v {
	case limit.Granted:
		n.w.checkLimits(n, uses)
	case limit.Refused:
		n.w.say("%s refuses at once: %s", n.name, n.w.shares(uses))
		n.w.checkRefusal(n, uses)
	case limit.Waiting:
		n.w.say("%s waits: %s", n.name, n.w.shares(uses))
		n.rights.poke = true
		if !n.rights.queue.Add(limit.Waiter{Shard: shard, Ref: ref, Uses: uses, Deadline: n.now().Add(admitWait)}) {
			return limit.Refused
		}
	}
	return v
}

func (n *node) release(uses []limit.Use) {
	n.w.noteFull(uses)
	n.rights.set.Release(uses)
	n.rights.poke = n.rights.poke || n.rights.queue.Len() > 0
}

// shareOut ends a step: who has waited goes on, and what the engine has to say
// leaves.
func (n *node) shareOut() {
	r := &n.rights
	if r.engine == nil {
		return
	}
	for r.poke {
		r.poke = false
		now := n.now()
		r.engine.Advance(now)
		n.stepQueue(now)
	}
	for _, m := range r.engine.Output() {
		x := n.w.nodeNamed(m.To)
		n.frame(x, m.Frame, func() {
			if err := x.rights.engine.Receive(x.now(), n.name, m.Frame); err != nil {
				n.w.fault("%s cannot read limits of %s: %v", x.name, n.name, err)
			}
			x.rights.poke = x.rights.poke || x.rights.queue.Len() > 0
		})
	}
}

func (n *node) stepQueue(now time.Time) {
	for _, o := range n.rights.queue.Step(now) {
		if o.OK {
			n.w.checkLimits(n, o.Uses)
		} else {
			n.w.say("%s has waited in vain: %s", n.name, n.w.shares(o.Uses))
			n.w.checkRefusal(n, o.Uses)
		}
		n.shards[o.Shard].Admitted(now, o.Ref, o.OK)
	}
}

// rightsDue is when the limits need the node next.
func (n *node) rightsDue() time.Time {
	if n.rights.engine == nil {
		return time.Time{}
	}
	return earlier(n.rights.engine.Deadline(), n.rights.queue.Deadline())
}

// advanceRights does what is due.
func (n *node) advanceRights(now time.Time) {
	if d := n.rightsDue(); !d.IsZero() && !now.Before(d) {
		n.rights.poke = true
	}
}

// tellRights says which nodes live.
func (n *node) tellRights() {
	if n.rights.engine == nil {
		return
	}
	list := make([]lease.Node, 0, len(n.w.nodes))
	for i, x := range n.w.nodes {
		if x == n {
			continue
		}
		state := lease.Silent
		switch {
		case n.peers[i].up:
			state = lease.Up
		case n.rights.dead[i]:
			state = lease.Dead
		}
		list = append(list, lease.Node{Name: x.name, Site: x.site, Boot: uint64(n.peers[i].boot), State: state, Witness: x.witness})
	}
	n.rights.engine.SetNodes(n.now(), list)
}

// dial tries to reach a lost node again: where the machine is there and the process
// is not, the node is dead and not only silent.
func (n *node) dial(x *node) {
	if n.rights.engine == nil {
		return
	}
	boot := n.boot
	n.w.after(dialEvery, func() {
		if n.boot != boot || n.peers[x.index].up {
			return
		}
		n.step(func() {
			if n.boot != boot || n.peers[x.index].up {
				return
			}
			if !x.alive && !x.powerless && n.w.open(n, x) && n.w.open(x, n) {
				n.rights.dead[x.index] = true
				n.tellRights()
				return
			}
			n.dial(x)
		})
	})
}
