package soft

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// tester is what testing.T and rapid.T have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// world is some stores and a network between them, in virtual time.
type world struct {
	t      tester
	now    time.Time
	names  []string
	stores map[string]*Store
	boots  map[string]uint64
	cut    map[[2]string]bool
	loss   int // of 100 frames
	dup    int
	way    time.Duration // of a frame, beside
	delay  time.Duration // of up to so much; frames overtake each other
	rng    *rand.Rand
	wire   []flight
	rules  map[Kind]Rule
	limits Config
	octets int
}

type flight struct {
	at       time.Time
	n        int
	from, to string
	boot     uint64 // of the receiver when it was sent
	frame    []byte
}

func newWorld(t tester, seed uint64, names ...string) *world {
	w := &world{
		t: t, now: epoch, stores: map[string]*Store{}, boots: map[string]uint64{}, cut: map[[2]string]bool{},
		way: time.Millisecond,
		rng: rand.New(rand.NewPCG(seed, 1)),
	}
	for _, n := range names {
		w.start(n)
	}
	return w
}

// start begins a new process of a node, which all living ones that reach it see.
func (w *world) start(name string) *Store {
	w.boots[name]++
	cfg := w.limits
	cfg.Node, cfg.Boot, cfg.Rules = name, w.boots[name], w.rules
	s := New(cfg, w.now)
	w.stores[name] = s
	if !slices.Contains(w.names, name) {
		w.names = append(w.names, name)
	}
	for _, other := range w.names {
		if o := w.stores[other]; o != nil && other != name && !w.cut[pair(name, other)] {
			s.NodeUp(w.now, other, w.boots[other])
			o.NodeUp(w.now, name, w.boots[name])
		}
	}
	w.flush()
	return s
}

func (w *world) kill(name string) {
	delete(w.stores, name)
	for _, other := range w.names {
		if o := w.stores[other]; o != nil {
			o.NodeLost(w.now, name, time.Time{})
		}
	}
	w.flush()
}

func (w *world) split(a, b string, cut bool) {
	w.cut[pair(a, b)] = cut
	sa, sb := w.stores[a], w.stores[b]
	if sa == nil || sb == nil {
		return
	}
	if cut {
		sa.NodeLost(w.now, b, time.Time{})
		sb.NodeLost(w.now, a, time.Time{})
	} else {
		sa.NodeUp(w.now, b, w.boots[b])
		sb.NodeUp(w.now, a, w.boots[a])
	}
	w.flush()
}

func pair(a, b string) [2]string {
	if a > b {
		a, b = b, a
	}
	return [2]string{a, b}
}

// flush puts on the wire what the stores want to send.
func (w *world) flush() {
	for _, name := range w.names {
		s := w.stores[name]
		if s == nil {
			continue
		}
		for _, m := range s.Output() {
			w.octets += len(m.Frame)
			if w.stores[m.To] == nil || w.cut[pair(name, m.To)] || w.rng.IntN(100) < w.loss {
				continue
			}
			copies := 1
			if w.rng.IntN(100) < w.dup {
				copies = 2
			}
			for range copies {
				f := flight{n: len(w.wire), from: name, to: m.To, boot: w.boots[m.To], frame: m.Frame, at: w.now.Add(w.way)}
				if w.delay > 0 {
					f.at = f.at.Add(time.Duration(w.rng.Int64N(int64(w.delay))))
				}
				w.wire = append(w.wire, f)
			}
		}
	}
}

// run lets the time pass.
func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	w.flush()
	for {
		next := end
		for _, name := range w.names {
			if s := w.stores[name]; s != nil {
				if at := s.Deadline(); at.Before(next) {
					next = at
				}
			}
		}
		for _, f := range w.wire {
			if f.at.Before(next) {
				next = f.at
			}
		}
		if next.After(w.now) {
			w.now = next
		}
		w.step()
		w.flush()
		if !w.now.Before(end) {
			return
		}
	}
}

// step delivers what has arrived and does what is due.
func (w *world) step() {
	var due []flight
	w.wire = slices.DeleteFunc(w.wire, func(f flight) bool {
		if f.at.After(w.now) {
			return false
		}
		due = append(due, f)
		return true
	})
	slices.SortStableFunc(due, func(a, b flight) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.n, b.n)) })
	for _, f := range due {
		s := w.stores[f.to]
		if s == nil || w.boots[f.to] != f.boot || w.cut[pair(f.from, f.to)] {
			continue
		}
		if err := s.Receive(w.now, f.from, f.frame); err != nil {
			w.t.Fatalf("%s refuses a frame of %s: %v: %x", f.to, f.from, err, f.frame)
		}
		w.stores[f.to].check(w.t)
	}
	for _, name := range w.names {
		if s := w.stores[name]; s != nil {
			if at := s.Deadline(); !w.now.Before(at) {
				s.Advance(w.now)
				if d := s.Deadline(); !w.now.Before(d) {
					w.t.Fatalf("%s: Advance left its deadline %v at %v", name, d.Sub(epoch), w.now.Sub(epoch))
				}
			}
		}
	}
}

// check verifies the counts and indexes of a store; large ones are looked at by
// their tests only.
func (s *Store) check(t tester) {
	t.Helper()
	if s.count > 2000 {
		return
	}
	s.verify(t)
}

func (s *Store) verify(t tester) {
	t.Helper()
	count, octets, expiring := 0, 0, 0
	var kinds [maxKind + 1]int
	for _, o := range s.order {
		alive := 0
		for r, e := range o.entries {
			if e.removed || e.origin != o || e.ref != r {
				t.Fatalf("%s holds a removed entry %v", s.cfg.Node, r)
			}
			count, octets = count+1, octets+e.size()
			if !e.tombstone {
				alive++
				kinds[r.kind]++
			}
			if e.pos >= 0 {
				expiring++
			}
			if s.cfg.Rules[r.kind].Versioned && s.latest[r] != e {
				t.Fatalf("%s holds %v of %s beside the latest", s.cfg.Node, r, o.node)
			}
		}
		if alive != o.alive || o.alive > len(o.entries) {
			t.Fatalf("%s: %d entries of %s, counted %d", s.cfg.Node, alive, o.node, o.alive)
		}
		if len(o.log)-o.stale != len(o.entries) {
			t.Fatalf("%s: log of %s has %d-%d slots for %d entries", s.cfg.Node, o.node, len(o.log), o.stale, len(o.entries))
		}
	}
	if count != s.count || octets != s.bytes || kinds != s.kinds || expiring != len(s.expiry) {
		t.Fatalf("%s counts %d entries %d octets %d expiring, has %d %d %d", s.cfg.Node, s.count, s.bytes, len(s.expiry), count, octets, expiring)
	}
}

// picture is what a reader of a store sees, as text.
func picture(s *Store, kinds ...Kind) string {
	var b bytes.Buffer
	for _, k := range kinds {
		var lines []string
		s.Each(k, func(e Entry) bool {
			lines = append(lines, fmt.Sprintf("%v %s %s/%d v%d %q\n", e.Kind, e.Key, e.Owner, e.Boot, e.Version, e.Value))
			return true
		})
		slices.Sort(lines)
		for _, l := range lines {
			b.WriteString(l)
		}
	}
	return b.String()
}

// vectors shows what everybody knows of everybody.
func (w *world) vectors() string {
	var b bytes.Buffer
	for _, name := range w.names {
		if s := w.stores[name]; s != nil {
			for _, o := range s.order {
				fmt.Fprintf(&b, "%s of %s/%d: tip %d floor %d live %v partial %v resync %v asked %q entries %d\n",
					name, o.node, o.boot, o.tip, o.floor, o.live, o.partial, o.resync, o.asked, len(o.entries))
			}
		}
	}
	return b.String()
}

// agreed tells whether all living stores show the same.
func (w *world) agreed(kinds ...Kind) bool {
	seen := map[string]bool{}
	for _, s := range w.stores {
		seen[picture(s, kinds...)] = true
	}
	return len(seen) == 1
}

// agree fails unless all living stores show the same.
func (w *world) agree(kinds ...Kind) string {
	w.t.Helper()
	var first, of string
	for _, name := range w.names {
		s := w.stores[name]
		if s == nil {
			continue
		}
		s.verify(w.t)
		switch p := picture(s, kinds...); {
		case of == "":
			first, of = p, name
		case p != first:
			w.t.Fatalf("after %v %s shows\n%s%s shows\n%s%s", w.now.Sub(epoch), of, first, name, p, w.vectors())
		}
	}
	return first
}
