package sbc

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/registry"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// shelf keeps bindings in the index alone.
type shelf struct {
	index *registry.Registry
	now   time.Time
	room  int // for so many more
	puts  int
}

func (s *shelf) Index() *registry.Registry                        { return s.index }
func (s *shelf) Update(fn func(now time.Time, tx BindingChanges)) { fn(s.now, s) }
func (s *shelf) Remove(r *registrar.Record)                       { s.index.Remove(r.AOR, r.ID) }

func (s *shelf) at(id string) *registrar.Record { return s.index.Record(shelfAOR, id) }

func (s *shelf) records() []*registrar.Record { return s.index.Records(shelfAOR) }

func (s *shelf) decide(g *registrations, r *registrar.Request) (res string) {
	return g.decide(s.now, s, r).Result
}

func (s *shelf) Put(r *registrar.Record) error {
	s.puts++
	if s.index.Record(r.AOR, r.ID) == nil {
		if s.room == 0 {
			return errors.New("full")
		}
		s.room--
	}
	s.index.Set(r)
	return nil
}

const shelfAOR = "sip:pbx@sip.example.com"

// newShelf returns the goroutine's own part, to be called by the test.
func newShelf(room int) (*shelf, *registrations) {
	s := &shelf{index: registry.New(registrar.Node{Name: "dal-1", Site: "dallas", Boot: 1}), now: time.Unix(1_800_000_000, 0), room: room}
	g := &registrations{
		server: &Server{cfg: Config{Node: "dal-1"}}, bindings: s, wake: make(chan struct{}, 1), flows: flows{}, churn: newChurn(),
		alive: func(f transport.Flow) bool { return f < 100 },
	}
	return s, g
}

var shelfSeq uint32

func request(flow uint64, ids ...string) *registrar.Request {
	shelfSeq++
	r := &registrar.Request{
		AOR: shelfAOR, Member: &trunkgroup.Member{Registration: &trunkgroup.Registration{AOR: shelfAOR, Contacts: 3}},
		From: registrar.Origin{Source: netip.MustParseAddrPort("198.51.100.7:5060"), Transport: trunkgroup.UDP, Flow: flow}, CallID: flow, CSeq: shelfSeq,
	}
	reach := trunkgroup.ReachAny
	if flow != 0 {
		r.From.Transport, reach = trunkgroup.TCP, trunkgroup.ReachFlow
	}
	for _, id := range ids {
		r.Contacts = append(r.Contacts, registrar.Contact{ID: id, URI: "sip:" + id, Expires: time.Hour, Reach: reach, Addr: r.From.Source})
	}
	return r
}

// DEC-15: with its connection a binding ends to be reached, and shows since when;
// one that came by another connection since is not concerned.
func TestDEC15_EndOfAConnection(t *testing.T) {
	s, g := newShelf(10)
	if got := s.decide(g, request(1, "a", "b")); got != "registered" {
		t.Fatal(got)
	}
	s.decide(g, request(2, "c"))
	g.follow(s.at("b"), nil)
	b := *s.at("b")
	b.Flow = 2
	s.index.Set(&b)
	g.follow(nil, &b)
	s.now = s.now.Add(time.Minute)
	g.end(s.now, s, 1)
	if a := s.at("a"); !a.Gone() || !a.Changed.Equal(s.now) || a.Expires.Sub(s.now) != 59*time.Minute {
		t.Errorf("%+v", a)
	}
	if s.at("b").Gone() || s.at("c").Gone() {
		t.Error("another connection's binding is gone too")
	}
	g.end(s.now, s, 1)
	g.end(s.now, s, 77) // nobody's
	if len(g.flows) != 1 {
		t.Errorf("%v", g.flows)
	}
}

// A proxy's connection carries the bindings of many users and lives for months: what
// expires by itself is not kept for as long, and those that stand all end with it.
func TestBindingsOfALongConnectionAreSwept(t *testing.T) {
	s, g := newShelf(1 << 30)
	register := func(user, id string) {
		r := request(1, id)
		r.AOR = user
		if got := s.decide(g, r); got != "registered" {
			t.Fatal(got)
		}
	}
	for i := range 100 {
		register(fmt.Sprint("stays-", i), "a")
	}
	for i := range 10_000 {
		register(fmt.Sprint("goes-", i), "a")
		s.index.Remove(fmt.Sprint("goes-", i), "a") // expired
	}
	if n := len(g.flows[1].records); n < 100 || n > 300 {
		t.Errorf("%d bindings are kept, and 100 stand", n)
	}
	g.end(s.now, s, 1)
	for i := range 100 {
		if rec := s.index.Record(fmt.Sprint("stays-", i), "a"); !rec.Gone() {
			t.Errorf("%+v still looks alive", rec)
		}
	}
	if len(g.flows) != 0 {
		t.Errorf("%v", g.flows)
	}
}

// A REGISTER whose connection ended while it waited leaves no binding that looks
// alive.
func TestDEC15_RegisterOfAConnectionThatHasEnded(t *testing.T) {
	s, g := newShelf(10)
	if got := g.decide(s.now, s, request(100, "a")); got.Refusal == nil || len(s.records()) != 0 {
		t.Errorf("%+v", got)
	}
}

// All of a REGISTER is done or nothing (RFC 3261 10.3).
func TestRegisterWithoutRoomChangesNothing(t *testing.T) {
	s, g := newShelf(2)
	if got := g.decide(s.now, s, request(0, "a", "b", "c")); got.Refusal == nil || got.Refusal.Code != 503 {
		t.Fatalf("%+v", got)
	}
	if len(s.records()) != 0 {
		t.Errorf("%d are left", len(s.records()))
	}
	s.room = 2
	if got := s.decide(g, request(0, "a", "b")); got != "registered" {
		t.Error(got)
	}
	// A refresh needs no room, and stays when what is new beside it has none.
	if got := s.decide(g, request(0, "a")); got != "refreshed" {
		t.Error(got)
	}
	if got := g.decide(s.now, s, request(0, "a", "c")); got.Refusal == nil || len(s.records()) != 2 {
		t.Errorf("%+v", got)
	}
}

// Refreshes of what stands come before what is new, and no queue grows without
// bound.
func TestRegisterQueueIsBoundedAndRefreshesComeFirst(t *testing.T) {
	s, g := newShelf(10)
	s.decide(g, request(0, "known"))
	fresh, known := request(0, "new"), request(0, "known")
	n := 0
	for g.push(registerOrder{r: fresh}) {
		n++
	}
	if n != maxRegisterQueue/2 {
		t.Errorf("%d new ones", n)
	}
	for g.push(registerOrder{r: known}) {
		n++
	}
	if n != maxRegisterQueue {
		t.Errorf("%d in all", n)
	}
	g.closed(5)
	orders, ended := g.take()
	if len(orders) != registerBatch || len(ended) != 1 {
		t.Errorf("%d %d", len(orders), len(ended))
	}
	for len(orders) > 0 {
		orders, _ = g.take()
	}
	if !g.push(registerOrder{r: fresh}) {
		t.Error("no room after the storm")
	}
}

// BenchmarkRegister is a refresh from the decision to the index.
func BenchmarkRegister(b *testing.B) {
	s, g := newShelf(1 << 30)
	r := request(0, "a")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.AOR, r.CSeq = fmt.Sprintf("sip:pbx-%d@sip.example.com", i%10_000), uint32(i)
		if got := g.decide(s.now, s, r); got.Refusal != nil && got.Refusal.Code != 400 {
			b.Fatal(got.Refusal)
		}
	}
}

// A far end that comes under another name each time fills no memory: what is
// removed is remembered at every node.
func TestChurnIsBounded(t *testing.T) {
	s, g := newShelf(1 << 30)
	taken := 0
	for i := range 1000 {
		r := request(0, fmt.Sprint("name-", i))
		for _, rec := range s.records() {
			r.Contacts = append(r.Contacts, registrar.Contact{ID: rec.ID})
		}
		if got := g.decide(s.now, s, r); got.Refusal == nil {
			taken++
		} else if got.Refusal.Code != 503 || got.Refusal.Result != "churn" {
			t.Fatalf("%+v", got.Refusal)
		}
	}
	if taken != churnBurst+3 {
		t.Errorf("%d were taken", taken)
	}
	if got := s.decide(g, request(0, s.records()[0].ID)); got != "refreshed" {
		t.Error(got)
	}
	s.now = s.now.Add(churnEvery / 3)
	if got := g.decide(s.now, s, request(0, "later")); got.Refusal != nil {
		t.Errorf("%+v", got.Refusal)
	}
	for i := range churnSweep {
		g.churn.take(s.now.Add(time.Hour), fmt.Sprint(i), 1, 3)
	}
	if n := len(g.churn.used); n > churnSweep {
		t.Errorf("%d are remembered", n)
	}
}

// DEC-15: a node that starts does not say that a binding is gone which it has not
// heard of yet: the others' news would bring it back.
func TestDEC15_RemovalAtANodeThatStarts(t *testing.T) {
	s, g := newShelf(10)
	g.born = s.now
	gone := func(id string) *registrar.Request {
		r := request(0, id)
		r.Contacts[0].Expires = 0
		return r
	}
	star := func() *registrar.Request {
		r := request(0)
		r.Star = true
		return r
	}
	result := func(r *registrar.Request) string {
		a := g.decide(s.now, s, r)
		if a.Refusal != nil {
			return fmt.Sprint(a.Refusal.Code, " ", a.Refusal.Result)
		}
		return a.Result
	}
	s.decide(g, request(0, "known"))
	for r, want := range map[*registrar.Request]string{
		gone("known"): "removed", gone("unknown"): "503 starting", star(): "503 starting", request(0, "new"): "registered",
	} {
		if got := result(r); got != want {
			t.Errorf("%+v: %s, want %s", r.Contacts, got, want)
		}
	}
	s.now = s.now.Add(settling)
	for _, r := range []*registrar.Request{gone("unknown"), star()} {
		if got := result(r); got != "removed" {
			t.Errorf("later: %s", got)
		}
	}
}
