package b2bua

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// pair is a node that drains and its siblings in one site. What they send to
// far ends is seen at who sends it; answers to what was passed leave by the
// node that drains.
type pair struct {
	t     *testing.T
	a     *world
	nodes map[string]*world
}

func newPair(t *testing.T, siblings ...string) *pair {
	p := &pair{t: t, a: newWorld(t), nodes: map[string]*world{}}
	p.nodes["dal-1"] = p.a
	for i, name := range siblings {
		w := newWorldOf(t, name, "dallas", document())
		w.random = uint64(i + 77)
		p.nodes[name] = w
	}
	p.pass(siblings...)
	return p
}

func (p *pair) pass(siblings ...string) {
	p.a.s.Drain(p.a.now, DrainOrder{Announce: true, Pass: true, Siblings: siblings})
}

// exchange carries what nodes have for each other until nothing is left.
func (p *pair) exchange() {
	p.t.Helper()
	for moved := true; moved; {
		moved = false
		for name, w := range p.nodes {
			passed, forward, shared := w.passed, w.forward, w.shared
			told := w.told
			w.passed, w.forward, w.shared, w.told = nil, nil, nil, nil
			for i := range passed {
				to, _, _ := strings.Cut(forward[i], " ")
				q := passed[i]
				q.Relay, moved = name, true
				m, _ := sip.Parse(bytes.Clone(q.Message.Raw()))
				q.Message = m
				peer := p.nodes[to]
				peer.step(func() { peer.s.Receive(peer.now, &q) })
			}
			for i, o := range shared {
				for other, peer := range p.nodes {
					// What was told to one node alone comes last in these tests.
					only := o.State == OpenReturned || o.State == OpenGiveUp || o.State == OpenParted
					if other != name && !(only && !slices.Contains(told, other)) && !w.down[other] {
						moved = true
						peer.s.Shared(peer.now, name, shared[i])
					}
				}
			}
		}
		for _, w := range p.nodes {
			for _, x := range w.sent {
				if via := p.nodes[x.to.ViaNode]; via != nil && via != w {
					moved = true
					y := x
					y.to.ViaNode = ""
					via.sent = append(via.sent, y)
				}
			}
			w.sent = slices.DeleteFunc(w.sent, func(x wire) bool { return x.to.ViaNode != "" })
		}
	}
}

func (p *pair) advance(d time.Duration) {
	for ; d > 0; d -= 100 * time.Millisecond {
		for _, w := range p.nodes {
			w.advance(100 * time.Millisecond)
		}
		p.exchange()
	}
}

func (p *pair) quiet() {
	p.t.Helper()
	p.advance(70 * time.Second)
	for name, w := range p.nodes {
		if st := w.s.Stats(); st != (Stats{Open: st.Open}) || len(w.s.passed) > 0 {
			p.t.Fatalf("left behind at %s: %+v, %d passed", name, st, len(w.s.passed))
		}
	}
}

func options(callID string) string {
	return strings.Replace(invite{callID: callID}.String(), "INVITE", "OPTIONS", 2)
}

func TestDEC19_PhaseOneRefusesOptionsAndTakesCalls(t *testing.T) {
	w := newWorld(t)
	w.s.Drain(w.now, DrainOrder{Announce: true})
	w.from(carrierAddr, options("probe"))
	w.take(carrierAddr, "SIP/2.0 503")
	if !w.s.LastInvite().IsZero() {
		t.Error("an OPTIONS counts as a call")
	}
	begin := w.now
	_, ok := w.answeredCall()
	if !w.s.LastInvite().Equal(begin) {
		t.Errorf("last INVITE %v", w.s.LastInvite())
	}
	w.s.Drain(w.now, DrainOrder{})
	w.from(carrierAddr, options("undrained"))
	w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, "callee", ""))
	w.quiet()
}

// The sibling owns a passed call whole: answers leave by the draining node, the
// Contact is the sibling's, and requests to the caller do not need the other.
func TestDEC19_PhaseTwoPassesTheCallWhole(t *testing.T) {
	p := newPair(t, "dal-2")
	b2 := p.nodes["dal-2"]
	inv := invite{body: offer}.String()
	p.a.from(carrierAddr, inv)
	p.a.from(carrierAddr, inv) // repeated before the sibling's news
	if n := len(p.a.s.calls); n != 0 || p.a.s.Stats().Passed != 1 {
		t.Fatalf("%d calls, %+v", n, p.a.s.Stats())
	}
	p.exchange()
	p.a.take(carrierAddr, "SIP/2.0 100")
	out := b2.take(pbx1Addr, "INVITE")
	b2.none(pbx1Addr, "INVITE")
	p.a.from(carrierAddr, inv) // and after
	p.exchange()
	b2.none(pbx1Addr, "INVITE")
	b2.from(pbx1Addr, reply(out, 180, "callee", ""))
	b2.from(pbx1Addr, reply(out, 200, "callee", answerSDP))
	p.exchange()
	ok := p.a.take(carrierAddr, "SIP/2.0 200")
	if p.a.s.Stats().Passed != 0 {
		t.Errorf("answered, and %+v", p.a.s.Stats())
	}
	b2.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	b2.from(pbx1Addr, calleeRequest(out, "callee", "BYE", 9, "", ""))
	bye := b2.take(carrierAddr, "BYE") // by its own socket
	b2.from(carrierAddr, reply(bye, 200, "caller", ""))
	if len(p.a.records) != 0 || len(b2.records) != 1 || b2.records[0].Kind != "call" {
		t.Errorf("records %v and %v", p.a.records, b2.records)
	}
	p.quiet()
}

func TestDEC19_CancelAndAckFollowThePassedInvite(t *testing.T) {
	for _, early := range []bool{true, false} {
		p := newPair(t, "dal-2")
		b2 := p.nodes["dal-2"]
		p.a.from(carrierAddr, invite{body: offer}.String())
		if !early {
			p.exchange()
		}
		cancel := strings.Replace(strings.Replace(invite{}.String(), "INVITE sip", "CANCEL sip", 1), "1 INVITE", "1 CANCEL", 1)
		p.a.from(carrierAddr, cancel)
		p.exchange()
		p.a.take(carrierAddr, "SIP/2.0 200")
		failed := p.a.take(carrierAddr, "SIP/2.0 487")
		p.a.from(carrierAddr, ackFor(failed, "z9hG4bKa1", ""))
		p.exchange()
		if out := b2.find(pbx1Addr, "INVITE"); out != nil {
			b2.from(pbx1Addr, reply(out, 100, "", ""))
			b2.from(pbx1Addr, reply(b2.take(pbx1Addr, "CANCEL"), 200, "c", ""))
			b2.from(pbx1Addr, reply(out, 487, "c", ""))
		}
		p.a.sent = nil
		p.advance(2 * time.Second)
		p.a.none(carrierAddr, "SIP/2.0 487") // the ACK has stopped it
		p.quiet()
	}
}

// The ACK of a final that the sibling gave without a call: the To tag is no
// identifier that says who gave it.
func TestDEC19_AckOfAStatelessFinalFollows(t *testing.T) {
	p := newPair(t, "dal-2")
	p.a.from(carrierAddr, invite{body: offer, lines: "Require: 100rel\r\n"}.String())
	p.exchange()
	failed := p.a.take(carrierAddr, "SIP/2.0 420")
	p.a.from(carrierAddr, ackFor(failed, "z9hG4bKa1", ""))
	p.exchange()
	p.advance(3 * time.Second)
	p.a.none(carrierAddr, "SIP/2.0 420")
	if p.a.s.Stats().Passed != 0 {
		t.Error("the INVITE counts as open though nobody tells of it")
	}
	p.quiet()
}

func TestDEC19_WithoutASiblingCallsAreTaken(t *testing.T) {
	p := newPair(t)
	p.a.answeredCall()
	if len(p.a.s.calls) != 1 || p.a.s.Stats().Passed != 0 {
		t.Errorf("%+v", p.a.s.Stats())
	}
	// A sibling that cannot be reached now is none.
	p.pass("dal-2")
	p.a.down["dal-2"] = true
	p.a.from(carrierAddr, invite{body: offer, callID: "second", branch: "z9hG4bKs"}.String())
	p.a.take(pbx1Addr, "INVITE")
}

// Both nodes drain: what is passed is taken, it never goes on or back.
func TestDEC19_APassedInviteIsNotPassedOn(t *testing.T) {
	p := newPair(t, "dal-2")
	b2 := p.nodes["dal-2"]
	b2.s.Drain(b2.now, DrainOrder{Announce: true, Pass: true, Siblings: []string{"dal-1"}})
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	b2.take(pbx1Addr, "INVITE")
	if !b2.s.LastInvite().IsZero() {
		t.Error("a passed call keeps the sibling's own drain waiting")
	}
}

// A hand-off that reaches a draining node is taken: its token names this node.
func TestDEC19_HandOffsAreNotPassed(t *testing.T) {
	p := newTwoSites(t)
	p.ash.s.Drain(p.ash.now, DrainOrder{Announce: true, Pass: true, Siblings: []string{"ash-2"}})
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.ash.take(ashPBX, "INVITE")
	if len(p.ash.forward) != 0 {
		t.Errorf("passed: %v", p.ash.forward)
	}
}

// The sibling dies before it rang: the call is taken after all, by another
// sibling when there is one.
func TestDEC19_SiblingDiesBeforeItRings(t *testing.T) {
	for _, siblings := range [][]string{{"dal-2"}, {"dal-2", "dal-3"}} {
		p := newPair(t, siblings...)
		p.a.from(carrierAddr, invite{body: offer}.String())
		first, _, _ := strings.Cut(p.a.forward[0], " ")
		p.exchange()
		p.nodes[first].take(pbx1Addr, "INVITE")
		delete(p.nodes, first)
		p.a.down[first] = true
		p.a.s.NodeLost(p.a.now, first)
		p.exchange()
		taker := p.a
		for _, name := range siblings {
			if w := p.nodes[name]; w != nil {
				taker = w
			}
		}
		out := taker.take(pbx1Addr, "INVITE")
		taker.from(pbx1Addr, reply(out, 200, "callee", answerSDP))
		p.exchange()
		p.a.take(carrierAddr, "SIP/2.0 200")
	}
}

// Whose callee rings is not called twice: the caller gets 503 and tries again.
func TestDEC19_SiblingDiesWhileItRings(t *testing.T) {
	p := newPair(t, "dal-2")
	b2 := p.nodes["dal-2"]
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	b2.from(pbx1Addr, reply(b2.take(pbx1Addr, "INVITE"), 180, "callee", ""))
	p.exchange()
	delete(p.nodes, "dal-2")
	p.a.s.NodeLost(p.a.now, "dal-2")
	p.a.take(carrierAddr, "SIP/2.0 503")
	p.a.none(pbx1Addr, "INVITE")
	p.quiet()
}

// The frame was lost without the stream: the caller's repetition goes after it, and
// to the next in line when the sibling has gone meanwhile.
func TestDEC19_RepetitionWhenTheSiblingIsAway(t *testing.T) {
	p := newPair(t, "dal-2")
	inv := invite{body: offer}.String()
	p.a.from(carrierAddr, inv)
	p.a.passed, p.a.forward = nil, nil
	p.a.down["dal-2"] = true
	p.a.advance(500 * time.Millisecond)
	p.a.from(carrierAddr, inv)
	p.a.take(pbx1Addr, "INVITE")
	p.a.s.NodeLost(p.a.now, "dal-2")
	p.a.none(pbx1Addr, "INVITE")
	if len(p.a.s.calls) != 1 {
		t.Errorf("%d calls", len(p.a.s.calls))
	}
}

// The sibling is in its own phase 3 and its news are late: it gives the INVITE
// back instead of refusing the caller.
func TestDEC19_AClosingSiblingGivesItBack(t *testing.T) {
	p := newPair(t, "dal-2")
	p.nodes["dal-2"].s.Shutdown(p.a.now)
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.a.none(carrierAddr, "SIP/2.0 503")
	p.a.take(pbx1Addr, "INVITE")
	if st := p.a.s.Stats(); st.Calls != 1 || st.Passed != 0 {
		t.Errorf("%+v", st)
	}
}

// A sibling that has just been started may have no table yet.
func TestDEC19_ASiblingWithoutATableGivesItBack(t *testing.T) {
	p := newPair(t, "dal-2")
	p.nodes["dal-2"].table, p.nodes["dal-2"].view = nil, nil
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.a.none(carrierAddr, "SIP/2.0 503")
	p.a.take(pbx1Addr, "INVITE")
}

// A sibling whose listeners differ cannot name itself to the caller.
func TestDEC19_ASiblingWithoutTheListenerGivesItBack(t *testing.T) {
	p := newPair(t, "dal-2")
	p.nodes["dal-2"].s.cfg.Listeners = []Listener{{Transport: trunkgroup.TLS, Advertise: "203.0.113.2:5061"}}
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.a.take(pbx1Addr, "INVITE")
}

// A caller whose connection is the only way to it stays with the node that has
// the connection.
func TestDEC19_CallersBehindAConnectionAreTaken(t *testing.T) {
	for contact, want := range map[string]int{
		"Contact: <sip:bob@10.0.0.7:5060;transport=tcp>\r\n":   0,
		"Contact: <sip:bob@192.0.2.10:5060;transport=tcp>\r\n": 1,
		"Contact: <sip:bob@pbx.example.com;transport=tcp>\r\n": 0,
	} {
		p := newPair(t, "dal-2")
		text := strings.Replace(invite{body: offer}.String(), "Contact: <sip:bob@"+carrierAddr+">\r\n", contact, 1)
		m, fault := sip.Parse([]byte(text))
		if fault != nil {
			t.Fatal(fault)
		}
		q := &Packet{}
		q.Message, q.Transport, q.Listener, q.Flow = m, trunkgroup.TCP, 1, 5
		q.Source = netip.MustParseAddrPort(carrierAddr)
		p.a.s.Receive(p.a.now, q)
		if got := p.a.s.Stats().Passed; got != want {
			t.Errorf("%s passed %d, want %d", contact, got, want)
		}
	}
}

// A fork that comes together with its twin goes after it, and is refused there.
func TestDEC19_AForkFollowsTheFirst(t *testing.T) {
	p := newPair(t, "dal-2", "dal-3")
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.a.from(carrierAddr, invite{body: offer, branch: "z9hG4bKother"}.String())
	p.exchange()
	p.a.take(carrierAddr, "SIP/2.0 482")
	rung := 0
	for _, w := range p.nodes {
		if w.find(pbx1Addr, "INVITE") != nil {
			rung++
		}
	}
	if rung != 1 {
		t.Errorf("%d INVITEs to the PBX", rung)
	}
}

// Undrained: what was passed stays where it is, new calls are taken.
func TestDEC19_UndrainLeavesPassedCallsAlone(t *testing.T) {
	p := newPair(t, "dal-2")
	inv := invite{body: offer}.String()
	p.a.from(carrierAddr, inv)
	p.exchange()
	p.a.s.Drain(p.a.now, DrainOrder{})
	p.a.from(carrierAddr, inv)
	p.exchange()
	p.a.none(pbx1Addr, "INVITE")
	p.a.from(carrierAddr, invite{body: offer, callID: "next", branch: "z9hG4bKn"}.String())
	p.a.take(pbx1Addr, "INVITE")
}

// A fault of ours in taking a lost call up leaves nothing behind.
func TestDEC19_FaultWhileALostCallIsTakenUp(t *testing.T) {
	p := newPair(t, "dal-2")
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.a.passed, p.a.forward = nil, nil
	p.a.trap = func(m *sip.Message) bool { return m.Method() == sip.INVITE }
	p.a.step(func() { p.a.s.NodeLost(p.a.now, "dal-2") })
	if p.a.faults != 1 {
		t.Fatalf("%d faults", p.a.faults)
	}
	p.a.trap = nil
	p.a.quiet()
}
