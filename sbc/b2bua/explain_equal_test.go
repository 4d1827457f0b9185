package b2bua

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// D7: "explain runs the same code as routing". Random documents, views and calls: all
// far ends answer the same or nothing, so that the whole order shows on the wire, and
// what the shard dialled, wrote down and told the caller, and when, is what explain had
// said. 10,000 documents with a call each, of which 7 in 10 find a group; with -short a
// twentieth of them.
func TestD07_ExplainEqualsLiveRouting(t *testing.T) {
	documents := 10_000
	if testing.Short() {
		documents /= 20
	}
	seen := map[string]int{}
	for i := range documents {
		s := newScene(t, uint64(i))
		if s.compare(t, seen); t.Failed() {
			t.Fatalf("scene %d", i)
		}
	}
	t.Logf("%v", seen)
	if testing.Short() {
		return // too few to see everything
	}
	if n := documents - seen["refused"]; n < documents*65/100 {
		t.Errorf("%d of %d calls found a group", n, documents)
	}
	kinds := []string{
		"inbound", "outbound", "refused", "several", "several groups", "handed off", "peer first", "undialled", "binding", "digest",
		"expression", "number table", "in", "last resort", "nested", "inner of customers", "maintenance", "quality", "capacity", "ramp", "max attempts",
		"never advance", hunt.CauseSetup, hunt.CauseSetupBudget, hunt.CauseReserve, hunt.CausePDD, hunt.CauseNoResponse, "fork of several", "panic", "emergency", "tried there",
		"401", "403", "404", "408", "480", "484", "486", "500", "502", "503", "603",
	}
	for _, kind := range append(kinds, trunkgroup.MethodNames()...) {
		if seen[kind] < documents/500 {
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
	said := s.foretell(&c, &x)
	if said.String() != did.String() {
		t.Errorf("%s\nexplain: %s\nlive:    %s\n%s", c, said, did, steps(&x.Explanation))
	}
	slices.Sort(did.dialled)
	if n := len(slices.Compact(did.dialled)); n < len(said.dialled) {
		t.Errorf("%s: a far end was asked twice: %v", c, said.dialled)
	}
	s.note(seen, &c, &x, &said)
}

// outcomeOf is what becomes of one call.
type outcomeOf struct {
	dialled []string
	handed  bool // the peer site was asked
	before  int  // so many were dialled before it
	code    int
	after   time.Duration
	record  []string // what the record says of the call, then of each attempt
	tried   []hunt.Attempt
}

func (o outcomeOf) String() string {
	return fmt.Sprintf("%d in %v after %s, peer asked %v, after %d\n  %s", o.code, o.after, strings.Join(o.dialled, " "), o.handed, o.before, strings.Join(o.record, "\n  "))
}

// foretell takes from an explanation what a call meets whose far ends all say the same.
func (s *scene) foretell(c *asking, x *trunkgroup.Explored) outcomeOf {
	if x.Code != 0 {
		return outcomeOf{code: x.Code}
	}
	cfg := HuntConfig(&x.Decision, &x.Course, x.Order, x.PeerFirst != "")
	peer := hunt.HandoffResult{}
	if s.peerUp && s.peerTries {
		peer = hunt.HandoffResult{Accepted: true, Code: 503, Attempts: []hunt.Attempt{triedThere}}
	}
	r := Rehearse(cfg, c.code, peer)
	o := outcomeOf{code: r.Code, handed: r.HandedOff, after: r.After, tried: r.Attempts}
	o.record = append(o.record, fmt.Sprintf("%s from %q for %q to %s (%s), attempts:", x.Direction, x.Ingress, x.Policy.Group, x.Called, x.RN))
	for i, a := range r.Attempts {
		if a.Site != "" { // the peer's
			o.record = append(o.record, fmt.Sprint(a.Group, "/", a.Member, " ", a.Dialed, " ", a.Code, " ", a.Cause, " ", a.Elapsed))
			continue
		}
		m := x.Order[a.Target].Member
		o.record = append(o.record, fmt.Sprint(m.Key, " ", a.Dialed, " ", a.Code, " ", a.Cause, " ", a.Elapsed))
		if a.Dialed {
			if i < r.Before {
				o.before++
			}
			o.dialled = append(o.dialled, x.Order[a.Target].Addr.String())
		}
	}
	return o
}

// triedThere is what the peer site did for a call that it took and could not complete.
var triedThere = hunt.Attempt{Group: "far", Member: "away", Site: "ashburn", Dialed: true, Final: true, Code: 503}

// written is what the record of a call says.
func written(r *cdr.Record) []string {
	list := []string{fmt.Sprintf("%s from %q for %q to %s (%s), attempts:", r.Direction, r.IngressGroup, r.Customer, r.Called, r.RN)}
	for _, a := range r.Attempts {
		list = append(list, fmt.Sprint(a.Group, "/", a.Member, " ", a.Dialed, " ", a.Code, " ", a.Cause, " ", a.Elapsed))
	}
	return list
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
	w.down["ash-1"] = !s.peerTries
	w.s.env = &drawnWorld{world: w, chance: chance}
	from := c.from.String()
	w.from(from, c.text(""))
	o, begin, asked := outcomeOf{}, w.now, map[string]bool{}
	for range 1000 {
		if len(w.sent) == 0 {
			next := w.s.Deadline()
			if next.IsZero() {
				break
			}
			w.advance(max(next.Sub(w.now), 0))
			continue
		}
		x := w.sent[0]
		w.sent = w.sent[1:]
		if !o.handed && w.saw(EventHandoff) {
			o.handed, o.before = true, len(o.dialled)
		}
		switch {
		case x.m.Method() == sip.INVITE && x.m.IsRequest() && x.to.Node != "":
			there := hunt.AppendAttempts(nil, []hunt.Attempt{triedThere}, false)
			w.packet("", x.to.Node, reply(x.m, 503, "peer", "", sip.Attempts.String()+": "+string(there)+"\r\n"))
		case x.m.Method() == sip.INVITE && x.m.IsRequest():
			if callID := string(x.m.CallID()); !asked[callID] { // else it is repeated
				asked[callID] = true
				o.dialled = append(o.dialled, x.to.Addr.String())
				if c.code != 0 {
					w.from(x.to.Addr.String(), reply(x.m, c.code, "far", ""))
				}
			}
		case x.m.Status() == 401 && c.user != "" && !c.proven:
			c.proven = true
			w.from(from, c.text(authorizeAs(t, c.user, x.m, c.uri())))
		case x.dest() == from && x.m.Status() >= 200:
			o.code = x.m.Status()
			if !w.saw(EventCallStarted) {
				return o
			}
			o.after = w.now.Sub(begin)
			for range 100 {
				if len(w.records) > 0 {
					o.record = written(w.records[0])
					return o
				}
				w.advance(time.Second)
			}
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
