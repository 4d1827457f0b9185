package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The node that passed the INVITE ends in time: its sibling answers the caller.
func TestDEC19_TheSiblingAnswersWhenThePassingNodeHasEnded(t *testing.T) {
	p := newPair(t, "dal-2")
	b2 := p.nodes["dal-2"]
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	out := b2.take(pbx1Addr, "INVITE")
	p.a.s.Shutdown(p.a.now)
	p.exchange()
	b2.s.NodeLost(b2.now, "dal-1")
	b2.from(pbx1Addr, reply(out, 200, "callee", answerSDP))
	ok := b2.take(carrierAddr, "SIP/2.0 200")
	b2.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	b2.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	b2.from(pbx1Addr, reply(b2.take(pbx1Addr, "BYE"), 200, "callee", ""))
	p.a.sent = nil
	p.quiet()
}

// The stream between them is lost and both live: one of them rings, not both.
func TestDEC19_OneNodeRingsWhenTheStreamIsLost(t *testing.T) {
	p := newPair(t, "dal-2")
	b2 := p.nodes["dal-2"]
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	out := b2.take(pbx1Addr, "INVITE")
	b2.from(pbx1Addr, reply(out, 100, "", ""))
	p.a.down["dal-2"], b2.down["dal-1"] = true, true
	p.a.s.NodeLost(p.a.now, "dal-2")
	b2.s.NodeLost(b2.now, "dal-1")
	p.a.take(pbx1Addr, "INVITE")
	b2.from(pbx1Addr, reply(b2.take(pbx1Addr, "CANCEL"), 200, "x", ""))
	b2.from(pbx1Addr, reply(out, 487, "x", ""))
	if len(b2.records) != 1 || b2.records[0].HangupCause != causePeerLost {
		t.Errorf("records %+v", b2.records)
	}
	b2.quiet()
}

// The passing node is lost between the answer and its ACK: the answer is repeated
// by the sibling's own socket.
func TestDEC19_AnAnswerOutlivesThePassingNode(t *testing.T) {
	p := newPair(t, "dal-2")
	b2 := p.nodes["dal-2"]
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	b2.from(pbx1Addr, reply(b2.take(pbx1Addr, "INVITE"), 200, "callee", answerSDP))
	b2.sent = nil
	delete(p.nodes, "dal-1")
	b2.s.NodeLost(b2.now, "dal-1")
	b2.advance(600 * time.Millisecond)
	for _, x := range b2.sent {
		if x.dest() == carrierAddr && x.to.ViaNode == "" && x.m.Status() == 200 {
			return
		}
	}
	t.Errorf("the answer is not repeated:\n%s", b2.trace())
}

// Nodes of a site may list their listeners in another order: what the sibling says
// of itself is its own listener of the same kind.
func TestDEC19_ListenersInAnotherOrder(t *testing.T) {
	p := newPair(t, "dal-2")
	b2 := p.nodes["dal-2"]
	b2.s.cfg.Listeners = []Listener{
		{Transport: trunkgroup.UDP, Advertise: "[2001:db8::2]:5060", IPv6: true},
		{Transport: trunkgroup.TCP, Advertise: "203.0.113.2:5060"},
		{Transport: trunkgroup.UDP, Advertise: "203.0.113.2:5060"},
	}
	p.a.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	out := b2.take(pbx1Addr, "INVITE")
	b2.from(pbx1Addr, reply(out, 200, "callee", answerSDP))
	for _, x := range b2.sent {
		if x.to.ViaNode == "dal-1" && x.to.Listener != 0 {
			t.Errorf("the answer leaves by listener %d of the other node", x.to.Listener)
		}
	}
	p.exchange()
	ok := p.a.take(carrierAddr, "SIP/2.0 200")
	if got := string(ok.Header(sip.Contact)); got != "<sip:203.0.113.2:5060>" {
		t.Errorf("Contact %s", got)
	}
	b2.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	b2.from(pbx1Addr, calleeRequest(out, "callee", "BYE", 9, "", ""))
	for _, x := range b2.sent {
		if x.m.Method() == sip.BYE && (x.to.Listener != 2 || !strings.Contains(string(x.m.Raw()), "Via: SIP/2.0/UDP 203.0.113.2:5060")) {
			t.Errorf("BYE by listener %d\n%s", x.to.Listener, x.m.Raw())
		}
	}
}

// A peer site's node in phase 3 refuses a hand-off at once, and the origin asks the
// next one.
func TestDEC19_AClosingPeerCostsAHandOffNothing(t *testing.T) {
	p := newTwoSites(t)
	p.dal.peers = append(p.dal.peers, geo.PeerNode{Name: "ash-2", Site: "ashburn", Fresh: true, RTT: 31 * time.Millisecond})
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.ash.s.Shutdown(p.ash.now)
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.dal.take("ash-2", "INVITE")
	p.dal.none(carrierAddr, "SIP/2.0 503")
}

func BenchmarkDEC19_PassAnInvite(b *testing.B) {
	w := newWorld(b)
	w.s.Drain(w.now, DrainOrder{Announce: true, Pass: true, Siblings: []string{"dal-2", "dal-3", "dal-4"}})
	m, fault := sip.Parse([]byte(invite{body: offer}.String()))
	if fault != nil {
		b.Fatal(fault)
	}
	p := &Packet{}
	p.Message, p.Transport, p.Source = m, trunkgroup.UDP, carrierTarget
	b.ReportAllocs()
	for b.Loop() {
		if !w.s.pass(p, 1) {
			b.Fatal("not passed")
		}
		w.s.passed[w.s.openKey(m)].drop()
		w.forward, w.passed, w.events = w.forward[:0], w.passed[:0], w.events[:0]
	}
}

// A node that holds the second half of a call, answered or ringing, ends it in phase
// 3 like any other: the other half and both far ends hear of it.
func TestDEC19_ANodeWithHandOffLegsEnds(t *testing.T) {
	t.Run("answered", func(t *testing.T) {
		p, _, ok := answeredOver(t)
		if p.ash.s.Stats().Calls != 1 || !p.ash.s.LastInvite().IsZero() {
			t.Errorf("%+v, last INVITE %v", p.ash.s.Stats(), p.ash.s.LastInvite())
		}
		p.ash.s.Shutdown(p.ash.now)
		p.ash.from(ashPBX, reply(p.ash.take(ashPBX, "BYE"), 200, "x", ""))
		p.exchange()
		bye := p.dal.take(carrierAddr, "BYE")
		if string(bye.CallID()) != string(ok.CallID()) {
			t.Errorf("BYE of another call\n%s", bye.Raw())
		}
		p.dal.from(carrierAddr, reply(bye, 200, "caller", ""))
		p.exchange()
		p.dal.quiet()
		p.ash.quiet()
		if len(p.dal.records) != 1 || len(p.ash.records) != 1 {
			t.Errorf("%d and %d records", len(p.dal.records), len(p.ash.records))
		}
	})
	t.Run("ringing", func(t *testing.T) {
		p, b := handedOverCall(t)
		p.ash.s.Shutdown(p.ash.now)
		p.exchange()
		p.dal.take(carrierAddr, "SIP/2.0 503")
		p.ash.from(ashPBX, reply(p.ash.take(ashPBX, "CANCEL"), 200, "x", ""))
		p.ash.from(ashPBX, reply(b, 487, "x", ""))
		p.exchange()
		p.dal.quiet()
		p.ash.quiet()
	})
}
