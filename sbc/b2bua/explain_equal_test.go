package b2bua

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// callsPerDocument are asked of each random document.
const callsPerDocument = 20

// D7: "explain runs the same code as routing". Random documents, views and calls:
// every far end answers 503, so that the whole order shows on the wire, and what
// the shard dialled and told the caller is what explain had said. The states are
// 10,000 calls over 500 documents; with -short a tenth of them.
func TestD07_ExplainEqualsLiveRouting(t *testing.T) {
	documents := 500
	if testing.Short() {
		documents /= 10
	}
	seen := map[string]int{}
	for i := range documents {
		s := newScene(t, uint64(i))
		for range callsPerDocument {
			s.compare(t, seen)
		}
		if t.Failed() {
			t.Fatalf("scene %d", i)
		}
	}
	t.Logf("%v", seen)
	if testing.Short() {
		return // too few to see everything
	}
	kinds := []string{
		"inbound", "outbound", "refused", "several", "several groups", "handed off", "peer first", "undialled", "binding", "digest",
		"401", "403", "404", "480", "484", "500", "503", "603",
	}
	for _, kind := range append(kinds, trunkgroup.MethodNames()...) {
		if seen[kind] < documents/25 {
			t.Errorf("%d calls were %s", seen[kind], kind)
		}
	}
}

// compare asks explain about one random call, places it, and compares.
func (s *scene) compare(t *testing.T, seen map[string]int) {
	c := s.call()
	chance := map[string]uint64{}
	did := s.place(t, &c, chance)
	x := trunkgroup.Explore(s.table, s.view, s.query(t, &c, chance))
	said := s.foretell(&x)
	if said.String() != did.String() {
		t.Errorf("%s\nexplain: %s\nlive:    %s\n%s", c, said, did, steps(&x.Explanation))
	}
	slices.Sort(did.dialled)
	if n := len(slices.Compact(did.dialled)); n < len(said.dialled) {
		t.Errorf("%s: a far end was asked twice: %v", c, said.dialled)
	}
	note(seen, &c, &x, &said)
}

func note(seen map[string]int, c *asking, x *trunkgroup.Explored, said *outcomeOf) {
	seen[fmt.Sprint(said.code)]++
	seen[x.Direction]++
	for kind, is := range map[string]bool{
		"refused": x.Code != 0, "several": len(said.dialled) > 1, "handed off": said.handed, "peer first": x.PeerFirst != "" && said.handed,
		"undialled": len(said.dialled) < len(x.Order), "digest": c.user != "" && x.Code == 0, "several groups": len(x.Course.Groups) > 1,
	} {
		if is {
			seen[kind]++
		}
	}
	for i := range x.Order {
		if x.Order[i].Binding != nil {
			seen["binding"]++
			break
		}
	}
	for _, g := range x.Course.Groups {
		seen[g.Method.String()]++
	}
}

// outcomeOf is what becomes of one call.
type outcomeOf struct {
	dialled []string
	handed  bool // the peer site was asked
	before  int  // so many were dialled before it
	code    int
}

func (o outcomeOf) String() string {
	return fmt.Sprintf("%d after %s, peer asked %v, after %d", o.code, strings.Join(o.dialled, " "), o.handed, o.before)
}

// foretell takes from an explanation what a call meets whose far ends all say 503.
func (s *scene) foretell(x *trunkgroup.Explored) outcomeOf {
	if x.Code != 0 {
		return outcomeOf{code: x.Code}
	}
	cfg := HuntConfig(&x.Decision, &x.Course, x.Order, x.PeerFirst != "")
	r := Rehearse(cfg, 503, hunt.HandoffResult{})
	o := outcomeOf{code: r.Code, handed: r.HandedOff}
	for i, a := range r.Attempts {
		if a.Dialed {
			if i < r.Before {
				o.before++
			}
			o.dialled = append(o.dialled, x.Order[a.Target].Addr.String())
		}
	}
	return o
}

// drawnWorld is a world that writes down what chance gives to a call in a group.
type drawnWorld struct {
	*world
	last   string
	chance map[string]uint64
}

// turnOf is whose turn it is in a group, for all that follows.
func turnOf(g *trunkgroup.Group) uint64 { return hash2(5, []byte(g.Name), nil) % 1000 }

func (w *drawnWorld) Turn(g *trunkgroup.Group) uint64 {
	w.last = g.Name
	return turnOf(g)
}

func (w *drawnWorld) Random() uint64 {
	r := w.world.Random()
	if _, drawn := w.chance[w.last]; !drawn {
		w.chance[w.last] = r
	}
	w.last = ""
	return r
}

// turns are those of groups that stand in groups.
type turns struct{}

func (turns) Turn(g *trunkgroup.Group) uint64 { return turnOf(g) }

// query puts a call to explain, with the chance that it had.
func (s *scene) query(t *testing.T, c *asking, chance map[string]uint64) trunkgroup.Query {
	q := trunkgroup.Query{
		Site: "dallas", Realm: "sip.example.com", Foreign: s.foreign,
		Source: trunkgroup.SourceKey{Source: c.from, Transport: trunkgroup.UDP},
		Asks:   func(site string) bool { return s.peerUp && site == "ashburn" },
	}
	m, fault := sip.Parse([]byte(c.text("")))
	if fault != nil {
		t.Fatal(fault)
	}
	i := Inquiry{Message: m, Source: c.from, User: c.user, Seed: OpenSeed([]byte(strings.Repeat("x", 32))), Sessions: s.memory}
	if err := i.Ask(&q); err != nil {
		t.Fatal(err)
	}
	traits := q.Draws
	q.Draws = func(d *trunkgroup.Decision, g *trunkgroup.Group) trunkgroup.Draw {
		draw := traits(d, g)
		draw.Turn, draw.Random, draw.Turns = turnOf(g), chance[g.Name], turns{}
		return draw
	}
	return q
}

// place lets the call happen.
func (s *scene) place(t *testing.T, c *asking, chance map[string]uint64) outcomeOf {
	w := newWorldOn(t, s.table, s.memory)
	w.view, w.random = s.view, s.Uint64()|1
	if s.peerUp {
		w.peers = []geo.PeerNode{{Name: "ash-1", Site: "ashburn", Fresh: true}}
	}
	w.down["ash-1"] = true
	w.s.env = &drawnWorld{world: w, chance: chance}
	from := c.from.String()
	w.from(from, c.text(""))
	var o outcomeOf
	for range 200 {
		if len(w.sent) == 0 {
			w.advance(200 * time.Millisecond)
			continue
		}
		x := w.sent[0]
		w.sent = w.sent[1:]
		if !o.handed && w.saw(EventHandoff) {
			o.handed, o.before = true, len(o.dialled)
		}
		switch {
		case x.m.Method() == sip.INVITE && x.m.IsRequest():
			o.dialled = append(o.dialled, x.to.Addr.String())
			w.from(x.to.Addr.String(), reply(x.m, 503, "far", ""))
		case x.m.Status() == 401 && c.user != "" && !c.proven:
			c.proven = true
			w.from(from, c.text(authorizeAs(t, c.user, x.m, c.uri())))
		case x.dest() == from && x.m.Status() >= 200:
			o.code = x.m.Status()
			return o
		}
	}
	t.Fatalf("no final response: %s", c)
	return o
}

// saw tells whether an event of this kind was counted.
func (w *world) saw(kind EventKind) bool {
	return slices.ContainsFunc(w.events, func(e Event) bool { return e.Kind == kind })
}

func steps(e *trunkgroup.Explanation) string {
	var b strings.Builder
	for _, s := range e.Steps {
		fmt.Fprintf(&b, "  %s: %s\n", s.Name, s.Text)
	}
	for _, o := range e.Order {
		fmt.Fprintf(&b, "  %+v\n", o)
	}
	return b.String()
}

// dice are what scenes are made with.
type dice struct{ *rand.Rand }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d dice, list ...T) T { return list[d.IntN(len(list))] }
