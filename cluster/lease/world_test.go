package lease

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
)

// world is a cluster in virtual time: engines, a bad network, and calls. The
// calls in use are counted here, not by the engines.
type world struct {
	t                testing.TB
	rng              *rand.Rand
	now              time.Time
	nodes            []*sim
	mail             []mail
	cut              map[[2]int]bool // from, to
	loss             float64
	lan              time.Duration
	wan              time.Duration
	limits           []Limit
	trace            []string
	lease            time.Duration
	granted, refused int
}

type sim struct {
	i       int
	name    string
	site    string
	boot    uint64
	alive   bool
	paused  bool
	e       *Engine
	set     *limit.Set
	queue   *limit.Queue
	calls   []*call
	ref     uint64
	views   map[int]view
	waiting map[uint64]*call
}

type view struct {
	state State
	boot  uint64
	since time.Time // when reachability last changed
	raw   State
}

type call struct {
	uses []limit.Use
	key  limit.Key
	end  time.Time
	hold time.Duration
}

type mail struct {
	at       time.Time
	from, to int
	boot     uint64
	frame    []byte
}

func newWorld(t testing.TB, seed uint64, sites map[string]int, limits ...Limit) *world {
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		cut: make(map[[2]int]bool), lan: time.Millisecond, wan: 35 * time.Millisecond, limits: limits, lease: DefaultLease,
	}
	names := make([]string, 0, len(sites))
	for s := range sites {
		names = append(names, s)
	}
	slices.Sort(names)
	for _, site := range names {
		for k := range sites[site] {
			n := &sim{i: len(w.nodes), name: fmt.Sprintf("%s%d", site, k+1), site: site, views: make(map[int]view)}
			w.nodes = append(w.nodes, n)
		}
	}
	for _, n := range w.nodes {
		w.boot(n)
	}
	return w
}

func (w *world) boot(n *sim) {
	n.boot++
	n.alive, n.paused = true, false
	n.set = limit.NewSet()
	n.queue = limit.NewQueue(n.set, 1000)
	n.calls, n.waiting = nil, make(map[uint64]*call)
	n.e = New(Config{Node: n.name, Site: n.site, Boot: n.boot, Lease: w.lease}, n.set, w.now)
	n.e.SetLimits(w.now, w.limits)
	n.views = make(map[int]view)
	for i := range w.nodes { // the roster is on disk: who there is, not how it is
		if i != n.i {
			n.views[i] = view{state: Silent, raw: Silent}
		}
	}
	w.tell(n)
}

func (w *world) kill(n *sim) { n.alive, n.calls, n.waiting = false, nil, nil }

// look makes the nodes notice who can be reached, about a second late.
func (w *world) look() {
	for _, n := range w.nodes {
		if !n.alive || n.paused {
			continue
		}
		changed := false
		for i, p := range w.nodes {
			if i == n.i {
				continue
			}
			v := n.views[i]
			raw := Silent
			switch {
			case w.cut[[2]int{i, n.i}] || w.cut[[2]int{n.i, i}]:
			case p.alive && !p.paused:
				raw = Up
			case !p.alive:
				raw = Dead
			}
			if raw != v.raw {
				v.raw, v.since = raw, w.now.Add(time.Duration(w.rng.IntN(int(time.Second))))
			}
			if v.state != raw && !w.now.Before(v.since) || raw == Up && v.boot != p.boot && v.state == Up {
				v.state, changed = raw, true
				if raw == Up {
					v.boot = p.boot
				}
			}
			n.views[i] = v
		}
		if changed {
			w.tell(n)
		}
	}
}

func (w *world) tell(n *sim) {
	var list []Node
	for i, p := range w.nodes {
		if i != n.i {
			v := n.views[i]
			list = append(list, Node{Name: p.name, Site: p.site, Boot: v.boot, State: v.state})
		}
	}
	n.e.SetNodes(w.now, list)
}

func (w *world) step(d time.Duration) {
	w.now = w.now.Add(d)
	w.look()
	w.deliver()
	for _, n := range w.nodes {
		if n.alive && !n.paused {
			w.run(n)
		}
	}
	w.check()
}

func (w *world) deliver() {
	slices.SortStableFunc(w.mail, func(a, b mail) int { return a.at.Compare(b.at) })
	var later []mail
	for _, m := range w.mail {
		to := w.nodes[m.to]
		switch {
		case m.at.After(w.now) || to.alive && to.paused:
			later = append(later, m)
		case to.alive && !w.cut[[2]int{m.from, m.to}] && to.boot == m.boot:
			if err := to.e.Receive(w.now, w.nodes[m.from].name, m.frame); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.mail = later
}

func (w *world) run(n *sim) {
	n.calls = slices.DeleteFunc(n.calls, func(c *call) bool {
		if w.now.Before(c.end) {
			return false
		}
		n.set.Release(c.uses)
		return true
	})
	if d := n.e.Deadline(); !d.IsZero() && !w.now.Before(d) || n.queue.Len() > 0 {
		n.e.Advance(w.now)
	}
	for _, m := range n.e.Output() {
		to := slices.IndexFunc(w.nodes, func(p *sim) bool { return p.name == m.To })
		for range 1 + w.rng.IntN(10)/9 { // some are repeated
			if w.rng.Float64() < w.loss {
				continue
			}
			d := w.lan
			if w.nodes[to].site != n.site {
				d = w.wan
			}
			d += time.Duration(w.rng.Int64N(int64(d)))
			w.mail = append(w.mail, mail{w.now.Add(d), n.i, to, w.nodes[to].boot, m.Frame})
		}
	}
	for _, o := range n.queue.Step(w.now) {
		c := n.waiting[o.Ref]
		delete(n.waiting, o.Ref)
		c.uses = o.Uses
		w.decided(n, c, o.OK)
	}
}

// place offers a call to a node.
func (w *world) place(n *sim, key limit.Key, hold time.Duration) *call {
	c := &call{uses: []limit.Use{{Key: key}}, key: key, hold: hold}
	switch n.set.Admit(w.now, c.uses) {
	case limit.Granted:
		w.decided(n, c, true)
	case limit.Waiting:
		n.ref++
		n.waiting[n.ref] = c
		if !n.queue.Add(limit.Waiter{Ref: n.ref, Uses: c.uses, Deadline: w.now.Add(500 * time.Millisecond)}) {
			w.t.Fatal("the queue is full")
		}
	default:
		w.decided(n, c, false)
	}
	return c
}

func (w *world) decided(n *sim, c *call, ok bool) {
	if !ok {
		w.refused++
		return
	}
	w.granted++
	c.end = w.now.Add(c.hold)
	n.calls = append(n.calls, c)
}

// open counts the calls that are up, whatever the nodes know of them.
func (w *world) open(k limit.Key) (total int) {
	for _, n := range w.nodes {
		for _, c := range n.calls {
			if c.key == k {
				total++
			}
		}
	}
	return total
}

// held counts what the nodes use or could use now.
func (w *world) held(k limit.Key) (total int) {
	for _, n := range w.nodes {
		if x := n.e.entries[k]; n.alive && x != nil && x.limited() {
			share, used := x.meter.Read()
			if !w.now.Before(x.hold.until) {
				share = 0
			}
			total += max(share, used)
		}
	}
	return total
}

func (w *world) check() {
	for _, l := range w.limits {
		total := 0
		for _, n := range l.Shares {
			total += n
		}
		if open := max(w.open(l.Key), w.held(l.Key)); open > total {
			for _, n := range w.nodes {
				w.t.Logf("%s alive %v paused %v: %s", n.name, n.alive, n.paused, n.e.dump(l.Key))
			}
			w.t.Fatalf("%s: %v: %d in use or to be had, limit %d; %v", w.now.Format("04:05.000"), l.Key, open, total, w.trace)
		}
	}
}

func (w *world) log(format string, args ...any) {
	w.trace = append(w.trace, w.now.Format("04:05.000 ")+fmt.Sprintf(format, args...))
}

func (w *world) pass(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); {
		w.step(5 * time.Millisecond)
	}
}

// dump shows what an engine knows of a limit.
func (e *Engine) dump(k limit.Key) string {
	x := e.entries[k]
	share, used := x.meter.Read()
	s := fmt.Sprintf("share %d used %d joined %s/%x lately %d rows %v", share, used, x.hold.grantor, x.hold.term, x.hold.lately, x.rows)
	if b := x.bank; b != nil {
		s += fmt.Sprintf(" | bank %x full %v supply %d out %d passed %v", b.term, b.full, x.supply(), b.out(), b.passed)
		for _, a := range b.accounts {
			s += fmt.Sprintf(" [%s share %d target %d held %d used %d waiting %d missed %d seq %d/%d hungry %v]", a.name, a.share, a.target, a.held, a.used, a.waiting, a.missed, a.acked, a.seq, a.hungry)
		}
	}
	return s
}
