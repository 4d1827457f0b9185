package closing_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/closing"
)

// site is some nodes with soft state, closers and disks, in virtual time.
type site struct {
	now   time.Time
	nodes []*node
	files []*cdr.Record // of all disks: they outlive their nodes
	rng   *rand.Rand
	mail  []mail
}

type node struct {
	name   string
	store  *soft.Store
	closer *closing.Closer
	dead   bool
	alone  bool // cut off from the others
	queue  []pending
	taken  map[string]bool
}

type pending struct {
	at time.Time // when it is on disk
	r  *cdr.Record
}

type mail struct {
	at       time.Time
	from, to *node
	frame    []byte
}

const tick = 250 * time.Millisecond

func newSite(seed uint64, names ...string) *site {
	s := &site{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), rng: rand.New(rand.NewPCG(seed, 7))}
	for _, name := range names {
		s.nodes = append(s.nodes, &node{
			name: name, store: soft.New(soft.Config{Node: name, Boot: 1}, s.now), taken: map[string]bool{},
			closer: closing.New(closing.Config{Node: name, Site: "dallas"}),
		})
	}
	s.meet()
	return s
}

func (s *site) reach(a, b *node) bool { return a != b && !a.dead && !b.dead && !a.alone && !b.alone }

// meet tells everybody who can be reached.
func (s *site) meet() {
	for _, a := range s.nodes {
		for _, b := range s.nodes {
			switch {
			case a == b || a.dead:
			case s.reach(a, b):
				a.store.NodeUp(s.now, b.name, 1)
			default:
				a.store.NodeLost(s.now, b.name, time.Time{})
			}
		}
	}
}

func (s *site) run(d time.Duration) {
	for end := s.now.Add(d); s.now.Before(end); {
		for _, n := range s.nodes {
			if !n.dead {
				s.step(n)
			}
		}
		s.now = s.now.Add(tick)
		due := slices.Clone(s.mail)
		s.mail = slices.DeleteFunc(s.mail, func(m mail) bool { return !m.at.After(s.now) })
		for _, m := range due {
			if !m.at.After(s.now) && s.reach(m.from, m.to) {
				_ = m.to.store.Receive(s.now, m.from.name, m.frame)
			}
		}
	}
}

// step is what the shell of a node does.
func (s *site) step(n *node) {
	n.store.Advance(s.now)
	for len(n.queue) > 0 && !n.queue[0].at.After(s.now) {
		r := n.queue[0].r
		n.queue = n.queue[1:]
		s.files = append(s.files, r)
		if r.ClosedBy == "" {
			n.store.Delete(s.now, soft.KindCall, r.CallID)
			continue
		}
		_ = n.store.Put(s.now, soft.KindClosing, closing.Key(r.Kind, r.CallID), closing.AppendCount(nil, closing.Closings(r)), 24*time.Hour)
		n.store.Drop(s.now, soft.KindCall, r.CallID, "owner", 1)
		delete(n.taken, r.CallID)
	}
	for _, c := range n.store.Changes() {
		if c.Kind == soft.KindClosing && c.Reason == soft.Put {
			n.cameBack(s.now, c)
		}
	}
	s.closeDue(n)
	for _, m := range n.store.Output() {
		for _, to := range s.nodes {
			if to.name == m.To && s.reach(n, to) {
				s.mail = append(s.mail, mail{s.now.Add(tick), n, to, m.Frame})
			}
		}
	}
}

// cameBack is the owner's part: its entry says that survivors closed the call.
func (n *node) cameBack(now time.Time, c soft.Change) {
	id, _, _ := closing.ParseKey(c.Key)
	e, ok := n.store.Get(soft.KindCall, id)
	if !ok || e.Owner != n.name {
		return
	}
	before, answered, record, err := closing.ParseEntry(e.Value)
	if k := closing.ParseCount(c.Value); err == nil && k > before {
		_ = n.store.Put(now, soft.KindCall, id, closing.AppendEntry(nil, k, answered+now.Sub(e.Since), record), 0)
	}
}

func (s *site) closeDue(n *node) {
	var live []closing.Node
	for _, o := range s.nodes {
		if o == n || s.reach(n, o) {
			live = append(live, closing.Node{Name: o.name, Site: "dallas"})
		}
	}
	count := func(key string) int {
		e, _ := n.store.Get(soft.KindClosing, key)
		return closing.ParseCount(e.Value)
	}
	for _, o := range n.store.Origins() {
		if o.Live {
			continue
		}
		var used []string
		n.store.EachOf(soft.KindCall, o.Node, o.Boot, func(e soft.Entry) bool {
			if n.taken[e.Key] {
				return true
			}
			v, r, err := n.closer.Decide(s.now, closing.Call{Value: e.Value, Since: e.Since, Lost: o.Lost, Heard: o.Heard}, count, live)
			switch {
			case err != nil:
				panic(err)
			case v == closing.Used:
				used = append(used, e.Key)
			case v == closing.Write:
				n.taken[e.Key] = true
				n.queue = append(n.queue, pending{s.now.Add(time.Duration(s.rng.IntN(5)) * tick), r})
			}
			return true
		})
		for _, id := range used {
			n.store.Drop(s.now, soft.KindCall, id, o.Node, o.Boot)
		}
	}
}

// up answers a call at the owner.
func (s *site) up(owner *node, id string) *cdr.Record {
	r := &cdr.Record{CallID: id, Kind: cdr.KindCall, Node: owner.name, Site: "dallas", Start: s.now, Answer: s.now, SIPCode: 200}
	_ = owner.store.Put(s.now, soft.KindCall, id, closing.AppendEntry(nil, 0, 0, r.AppendBinary(nil)), 0)
	return r
}

// down ends a call at the owner.
func (s *site) down(owner *node, r *cdr.Record) {
	n := 0
	if e, ok := owner.store.Get(soft.KindCall, r.CallID); ok && e.Owner == owner.name {
		n, _, _, _ = closing.ParseEntry(e.Value)
	}
	r.Version, r.Final, r.End = cdr.OwnerVersion(n), true, s.now
	owner.queue = append(owner.queue, pending{s.now.Add(time.Duration(s.rng.IntN(5)) * tick), r})
}

// DEC-24: whoever dies when, and whoever is cut off for how long: a consumer has each
// answered call once, the owner's record wins when there is one, and otherwise the call
// is billed until the owner's last heartbeat.
func TestDEC24_OneRecordPerCall(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newSite(rapid.Uint64().Draw(r, "seed"), "owner", "b", "c", "d")
		owner := s.nodes[0]
		pause := func(name string, most int) {
			s.run(time.Duration(rapid.IntRange(0, most).Draw(r, name)) * time.Second)
		}
		var calls []*cdr.Record
		for i := range rapid.IntRange(1, 8).Draw(r, "calls") {
			calls = append(calls, s.up(owner, fmt.Sprint("call-", i)))
		}
		s.run(2 * time.Second)
		for range rapid.IntRange(0, 2).Draw(r, "cuts") {
			owner.alone = true
			s.meet()
			pause("cut", 150)
			owner.alone = false
			s.meet()
			s.run(15 * time.Second)
		}
		ended := map[string]bool{}
		for _, c := range calls {
			if rapid.Bool().Draw(r, "ends") {
				s.down(owner, c)
				ended[c.CallID] = true
			}
		}
		pause("talk", 20)
		owner.dead = true
		died := s.now
		s.meet()
		pause("first", 70)
		if rapid.Bool().Draw(r, "more") {
			s.nodes[rapid.IntRange(1, 3).Draw(r, "victim")].dead = true
			s.meet()
		}
		s.run(6 * time.Minute)

		best := map[string]*cdr.Record{}
		for _, f := range s.files {
			if old := best[f.CallID]; old == nil || f.Version > old.Version {
				best[f.CallID] = f
			} else if f.Version == old.Version && (f.Final != old.Final || f.End.Sub(old.End).Abs() > 2*time.Second) {
				r.Fatalf("two records of one version differ: %+v %+v", f, old)
			}
		}
		for _, c := range calls {
			f := best[c.CallID]
			switch wrote := slices.Contains(s.files, c); {
			case f == nil:
				r.Fatalf("%s has no record", c.CallID)
			case wrote && f != c:
				r.Fatalf("the owner's record of %s, version %d, is superseded by %+v", c.CallID, c.Version, f)
			case !wrote && (f.Final || f.End.Sub(died).Abs() > 2*time.Second):
				r.Fatalf("%s (ended %v) was closed as %+v, its node died at %v", c.CallID, ended[c.CallID], f, died)
			}
		}
	})
}
