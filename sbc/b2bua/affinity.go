package b2bua

import (
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Sessions counts the calls at far ends and remembers where calls of one
// affinity value go. Shards call its methods, which must not block.
type Sessions interface {
	// Enter counts a call at a member, or at one binding of it, until it leaves
	// the seat; nil where nobody goes by that count.
	Enter(m *trunkgroup.Member, b *trunkgroup.Binding) Seat
	// Remembered returns the far end that calls of a key go to, or "".
	Remembered(now time.Time, key string) string
	// Remember tells all nodes where calls of a key go, for a time to live.
	Remember(now time.Time, key, farEnd string, ttl time.Duration)
}

// Seat is the place of one call at a far end.
type Seat interface {
	// Leave gives it up, once.
	Leave()
}

const (
	// maxAffinity bounds an affinity value, in octets. A longer one is none.
	maxAffinity = 256
	// affinityTTL is how long a far end is remembered at most. A binding is not
	// remembered for longer than it lasts.
	affinityTTL = time.Hour
)

// stick is the affinity value of a call in one group: room 7 of one customer is
// not room 7 of another.
type stick struct {
	group *trunkgroup.Group
	key   string
}

// affinity adds to a draw what the call sticks by in a group. It reports false
// for a call without a value: the group's own method orders then.
func (c *Call) affinity(g *trunkgroup.Group, d *trunkgroup.Draw) (stick, bool) {
	sessions := c.s.cfg.Sessions
	if g.AffinityHeader == "" || sessions == nil {
		return stick{}, false
	}
	value := valueOf(c.msg, g.AffinityHeader)
	if len(value) == 0 || len(value) > maxAffinity {
		return stick{}, false
	}
	k := stick{group: g}
	k.key, d.Affinity = Affinity(c.s.seed, g, value)
	d.Remembered = sessions.Remembered(c.s.now, k.key)
	return k, true
}

// Affinity returns the key under which a group's far end for a value is
// remembered, and the value's hash, which is never 0.
func Affinity(seed uint64, g *trunkgroup.Group, value []byte) (key string, hash uint64) {
	key = g.Name + "\x00" + string(value)
	return key, hash2(seed, []byte(key), nil) | 1
}

// valueOf returns the value of the first header of a name, also of one that the
// message model knows and that came in its short form.
func valueOf(m *sip.Message, name string) (value []byte) {
	m.Each(func(h sip.Header) bool {
		is := strings.EqualFold(h.ID.String(), name)
		if h.ID == sip.Other {
			is = len(h.Name) == len(name) && strings.EqualFold(string(h.Name), name)
		}
		if is {
			value = h.Value
		}
		return !is
	})
	return value
}

// plan fills in the try-order.
func (c *Call) plan(course *trunkgroup.Course) {
	var peer string
	c.cands, peer = course.Plan(c.cands, c)
	c.peerFirst = peer != ""
}

// Draw implements trunkgroup.Caster.
func (c *Call) Draw(g *trunkgroup.Group) trunkgroup.Draw {
	d := trunkgroup.Draw{Turn: c.s.env.Turn(g), Random: c.s.env.Random(), Turns: c.s.env, Unbounded: c.emergency()}
	if g.NeedsTraits() {
		d.Traits, c.hashed = c.traits(), true
	}
	if k, sticks := c.affinity(g, &d); sticks {
		c.sticks = append(c.sticks, k)
	}
	return d
}

// Asks implements trunkgroup.Caster: a call that a peer handed over is handed to
// nobody else.
func (c *Call) Asks(site string) bool {
	if c.token.yes {
		return false
	}
	for _, p := range c.s.env.Peers() {
		if p.Site == site && p.Fresh {
			return true
		}
	}
	return false
}

// Planned implements trunkgroup.Caster: the first far end in the order is the one
// that calls of the same affinity value go to, unless a peer site has theirs.
func (c *Call) Planned(g *trunkgroup.Group, d trunkgroup.Draw, part []trunkgroup.Candidate, peerFirst bool) {
	if d.Affinity == 0 || peerFirst {
		return
	}
	k := c.sticks[len(c.sticks)-1]
	for i := range part {
		if part[i].Dialable {
			c.remember(k, &part[i])
			return
		}
	}
}

// remember keeps the far end of a candidate for the calls to come.
func (c *Call) remember(k stick, cand *trunkgroup.Candidate) {
	ttl := affinityTTL
	if b := cand.Binding; b != nil && !b.Expires.IsZero() {
		ttl = min(ttl, b.Expires.Sub(c.s.now))
	}
	if ttl > 0 {
		c.s.cfg.Sessions.Remember(c.s.now, k.key, trunkgroup.FarEnd(cand.Member, cand.Binding), ttl)
	}
}

// settleAffinity remembers who answered: whoever was first in the order may have failed
//
func (c *Call) settleAffinity(t *try) {
	for _, k := range c.sticks {
		if t.node < 0 && (t.cand.Member.Group == k.group || t.cand.Outer == k.group) {
			c.remember(k, &t.cand)
		}
	}
	c.sticks = nil
}

// enter takes a seat at the attempt's far end.
func (t *try) enter() {
	if sessions := t.call.s.cfg.Sessions; sessions != nil && t.seat == nil && t.cand.Member.Index >= 0 {
		t.seat = sessions.Enter(t.cand.Member, t.cand.Binding)
	}
}

// leave gives a seat up, if there is one.
func leave(s *Seat) {
	if *s != nil {
		(*s).Leave()
		*s = nil
	}
}
