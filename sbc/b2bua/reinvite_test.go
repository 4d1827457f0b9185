package b2bua

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// RFC 3261 14.2: one INVITE at a time from one side; the next one is welcome
// once it is over, whatever its end was.
func TestRFC3261_14_2_OneReinviteAtATime(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "INVITE", 2, "", offer))
	first := w.take(pbx1Addr, "INVITE")
	w.from(carrierAddr, inside(ok, "INVITE", 3, "", offer))
	if got := w.take(carrierAddr, "SIP/2.0 500"); !got.Has(sip.RetryAfter) {
		t.Error("500 without Retry-After")
	}
	w.none(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(first, 200, "callee", answerSDP))
	re := w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, inside(ok, "INVITE", 4, "", offer)) // before the ACK
	w.take(carrierAddr, "SIP/2.0 500")
	w.from(carrierAddr, ackFor(re, "z9hG4bKre", ""))
	w.from(carrierAddr, inside(ok, "INVITE", 5, "", offer))
	second := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(second, 488, "callee", ""))
	w.take(carrierAddr, "SIP/2.0 488")
	w.from(carrierAddr, inside(ok, "INVITE", 6, "", offer))
	w.take(pbx1Addr, "INVITE")
}

// RFC 3261 14.2, 13.3.1.4: the 2xx to a re-INVITE is repeated until its ACK;
// without one in 64*T1 the call ends.
func TestReinviteAnswerIsRepeatedUntilItsAck(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "INVITE", 2, "", offer))
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 200, "callee", answerSDP))
	w.take(carrierAddr, "SIP/2.0 200")
	w.advance(510 * time.Millisecond)
	w.take(carrierAddr, "SIP/2.0 200")
	w.none(pbx1Addr, "BYE")
	w.advance(32 * time.Second)
	w.take(carrierAddr, "BYE")
	w.take(pbx1Addr, "BYE")
	if got := w.records[0].HangupCause; got != causeNoAck {
		t.Errorf("cause %s", got)
	}
}

// A late offer inside the dialog: the ACK to the callee carries the answer.
func TestDEC23_LateOfferInAReinvite(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	w.sent = nil
	w.from(carrierAddr, inside(ok, "INVITE", 2, "", ""))
	re := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(re, 200, "callee", answerSDP))
	w.none(pbx1Addr, "ACK")
	w.from(carrierAddr, ackFor(w.take(carrierAddr, "SIP/2.0 200"), "z9hG4bKre", offer))
	if ack := w.take(pbx1Addr, "ACK"); string(ack.Body()) != offer {
		t.Errorf("the ACK carries %q", ack.Body())
	}
	// DLG-06: the BYE comes first; the ACK that is owed goes before ours.
	w.from(carrierAddr, inside(ok, "INVITE", 3, "", ""))
	re = w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(re, 200, "callee", answerSDP))
	w.sent = nil
	w.from(carrierAddr, inside(ok, "BYE", 4, "", ""))
	var order []string
	for _, x := range w.sent {
		if x.dest() == pbx1Addr {
			order = append(order, x.m.Method())
		}
	}
	if len(order) != 2 || order[0] != sip.ACK || order[1] != sip.BYE {
		t.Errorf("the callee got %v", order)
	}
	_ = b
}

// DLG-06: a peer that hangs up while our re-INVITE is open and answers that 481.
func TestDLG06_ByeAndThe481ToAnOpenReinvite(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "INVITE", 2, "", offer))
	re := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(re, 100, "", ""))
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 7, "", ""))
	w.take(pbx1Addr, "SIP/2.0 200")
	failed := w.take(carrierAddr, "SIP/2.0 487") // RFC 3261 15.1.2
	w.from(carrierAddr, ackFor(failed, "z9hG4bKinINVITE2", ""))
	bye := w.take(carrierAddr, "BYE")
	w.none(carrierAddr, "BYE")
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "CANCEL"), 481, "callee", ""))
	w.from(pbx1Addr, reply(re, 481, "callee", ""))
	w.take(pbx1Addr, "ACK")
	w.from(carrierAddr, reply(bye, 200, "caller", ""))
	w.none(pbx1Addr, "BYE")
	w.quiet()
	if len(w.records) != 1 {
		t.Errorf("%d records", len(w.records))
	}
}

// RFC 3261 15.1.2: whoever waits for an answer inside a call that ends gets one.
func TestRequestsUnderWayWhenTheCallEnds(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "INFO", 2, "", ""))
	info := w.take(pbx1Addr, "INFO")
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 7, "", ""))
	if got := w.take(carrierAddr, "SIP/2.0 487"); got.CSeqMethod() != sip.INFO {
		t.Errorf("487 to %s", got.CSeqMethod())
	}
	w.from(pbx1Addr, reply(info, 200, "callee", ""))
	w.from(carrierAddr, reply(w.take(carrierAddr, "BYE"), 200, "caller", ""))
	w.none(carrierAddr, "SIP/2.0 200")
	w.quiet()
}

// DLG-04: the route set of a 2xx is taken in reverse, that of the INVITE as it
// stands; a first router without lr is a strict one (RFC 3261 12.1, 12.2.1.1).
func TestDLG04_RouteSets(t *testing.T) {
	const p1, p2 = "<sip:198.51.100.1;lr>", "<sip:198.51.100.2;lr>"
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer, lines: "Record-Route: <sip:192.0.2.1;lr>, <sip:192.0.2.2;lr>\r\n"}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP, "Record-Route: "+p2+", "+p1+"\r\nContact: <sip:x@10.9.9.9>\r\n"))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	routes := func(m *sip.Message) (list []string) {
		m.EachOf(sip.Route, func(v []byte) bool { list = append(list, string(v)); return true })
		return list
	}
	check := func(m *sip.Message, uri string, want ...string) {
		t.Helper()
		got := routes(m)
		if string(m.RequestURI()) != uri || len(got) != len(want) {
			t.Fatalf("%s %s by %v, want %s by %v", m.Method(), m.RequestURI(), got, uri, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: route %d is %s, want %s", m.Method(), i, got[i], want[i])
			}
		}
	}
	check(w.take("198.51.100.1:5060", "ACK"), "sip:x@10.9.9.9", p1, p2)
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.from(pbx1Addr, calleeRequest(b, "callee", "INFO", 7, "", ""))
	check(w.take("192.0.2.1:5060", "INFO"), "sip:bob@"+carrierAddr, "<sip:192.0.2.1;lr>", "<sip:192.0.2.2;lr>")
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	check(w.take("198.51.100.1:5060", "BYE"), "sip:x@10.9.9.9", p1, p2)

	strict := newWorld(t)
	strict.from(carrierAddr, invite{body: offer}.String())
	b = strict.take(pbx1Addr, "INVITE")
	strict.from(pbx1Addr, reply(b, 200, "callee", answerSDP, "Record-Route: "+p2+", <sip:198.51.100.1>\r\nContact: <sip:x@10.9.9.9>\r\n"))
	check(strict.take("198.51.100.1:5060", "ACK"), "sip:198.51.100.1", p2, "<sip:x@10.9.9.9>")
}

// A Record-Route that is no URI never becomes one: a strict router's stands in
// the Request-URI.
func TestDLG04_BrokenRecordRouteIsLeftOut(t *testing.T) {
	for _, broken := range []string{"<si}:198.51.100.250>", "<sip:proxy.exam\xffle.com>", "<tel:+12145550100>", "<sip:>"} {
		w := newWorld(t)
		w.from(carrierAddr, invite{body: offer}.String())
		b := w.take(pbx1Addr, "INVITE")
		w.from(pbx1Addr, reply(b, 200, "callee", answerSDP, "Record-Route: "+broken+"\r\n"))
		if ack := w.take(pbx1Addr, "ACK"); ack.Has(sip.Route) {
			t.Errorf("%s became a route:\n%s", broken, ack.Raw())
		}
	}
}

// DEC-07: the node that lost is told so when it speaks, and its words about the
// call touch nothing any more.
func TestDEC07_SlowNodeSpeaksAfterTheOtherOneAnswered(t *testing.T) {
	for _, code := range []int{100, 180, 200, 503} {
		w := newWorld(t)
		setDown(w, "acme-in/dal-1", "acme-in/dal-2")
		w.peers = []geo.PeerNode{{Name: "ash-1", Site: "ashburn", Fresh: true}, {Name: "ash-2", Site: "ashburn", Fresh: true}}
		w.from(carrierAddr, invite{body: offer}.String())
		slow := w.take("ash-1", "INVITE")
		w.advance(600 * time.Millisecond)
		fast := w.take("ash-2", "INVITE")
		w.packet("", "ash-2", reply(fast, 200, "fast", answerSDP))
		ok := w.take(carrierAddr, "SIP/2.0 200")
		w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
		w.packet("", "ash-1", reply(slow, code, "slow", answerSDP))
		switch code {
		case 100, 180:
			w.take("ash-1", "CANCEL")
			w.packet("", "ash-1", reply(slow, 487, "slow", ""))
			w.take("ash-1", "ACK")
		case 200:
			w.take("ash-1", "ACK")
			w.packet("", "ash-1", reply(w.take("ash-1", "BYE"), 200, "slow", ""))
		default:
			w.take("ash-1", "ACK")
		}
		w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
		w.packet("", "ash-2", reply(w.take("ash-2", "BYE"), 200, "fast", ""))
		w.quiet()
	}
}
