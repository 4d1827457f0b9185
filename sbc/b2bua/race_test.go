package b2bua

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The callee has its ACK and asks for something before the caller has
// confirmed, perhaps before it even has the answer: the request must wait.
func TestRFC3261_15_RequestTowardsAnUnconfirmedCallerWaits(t *testing.T) {
	for _, method := range []string{"UPDATE", "INFO", "MESSAGE"} {
		w := newWorld(t)
		w.from(carrierAddr, invite{body: offer}.String())
		b := w.take(pbx1Addr, "INVITE")
		w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
		ok := w.take(carrierAddr, "SIP/2.0 200")
		w.from(pbx1Addr, calleeRequest(b, "callee", method, 7, "", ""))
		if got := w.take(pbx1Addr, "SIP/2.0 500"); !got.Has(sip.RetryAfter) {
			t.Errorf("%s: 500 without Retry-After", method)
		}
		w.none(carrierAddr, method)
		w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
		w.from(pbx1Addr, calleeRequest(b, "callee", method, 8, "", ""))
		w.take(carrierAddr, method)
	}
}

// Whatever ends a call that the caller has not confirmed: the 2xx goes on being
// repeated, and the BYE waits for the ACK (RFC 3261 15).
func TestRFC3261_15_ByeToAnUnconfirmedCallerWaits(t *testing.T) {
	doc := document()
	doc.TrunkGroups[0].Limits.MaxDuration = 2e9
	w := newWorldOf(t, "dal-1", "dallas", doc)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.advance(2100 * time.Millisecond)
	w.take(pbx1Addr, "BYE")
	w.none(carrierAddr, "BYE")
	w.sent = nil
	w.advance(4 * time.Second)
	w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.take(carrierAddr, "BYE")
}

// DEC-23 inside a dialog: what one leg is asked says nothing on the other.
func TestDEC23_ChallengesInsideADialogStayOnTheirLeg(t *testing.T) {
	for code, want := range map[int]string{401: "SIP/2.0 500", 407: "SIP/2.0 500", 420: "SIP/2.0 500", 421: "SIP/2.0 500", 494: "SIP/2.0 500", 302: "SIP/2.0 480", 488: "SIP/2.0 488"} {
		for _, method := range []string{"INVITE", "UPDATE", "INFO"} {
			w := newWorld(t)
			_, ok := w.answeredCall()
			w.from(carrierAddr, inside(ok, method, 2, "", offer))
			re := w.take(pbx1Addr, method)
			w.from(pbx1Addr, reply(re, code, "callee", "", "WWW-Authenticate: Digest realm=\"pbx\", nonce=\"1\"\r\n"))
			got := w.take(carrierAddr, want)
			if strings.Contains(string(got.Raw()), "realm") {
				t.Errorf("%s %d leaked:\n%s", method, code, got.Raw())
			}
			w.none(carrierAddr, "BYE")
		}
	}
}

// RFC 3261 12.2.1.2: a far end without the dialog ends it, whatever it was
// asked.
func TestRFC3261_12_2_1_2_NoSuchDialogEndsTheCall(t *testing.T) {
	for _, method := range []string{"INVITE", "UPDATE", "INFO", "MESSAGE"} {
		w := newWorld(t)
		_, ok := w.answeredCall()
		w.from(carrierAddr, inside(ok, method, 2, "", offer))
		w.from(pbx1Addr, reply(w.take(pbx1Addr, method), 481, "callee", ""))
		w.take(carrierAddr, "SIP/2.0 481")
		w.take(carrierAddr, "BYE")
	}
}

// RFC 3261 16.7: a forking proxy passes a 2xx on even after a failure. Nobody
// waits for it any more; it is confirmed and hung up.
func TestDEC02_AnswerOfAForkAfterTheFailure(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 486, "x", ""))
	w.take(pbx1Addr, "ACK")
	w.take(carrierAddr, "SIP/2.0 486")
	w.advance(time.Second)
	w.from(pbx1Addr, reply(b, 486, "x", "")) // RSP-05: each is ACKed
	w.take(pbx1Addr, "ACK")
	late := reply(b, 200, "y", answerSDP, "Contact: <sip:other@198.51.100.99:5060>\r\n")
	w.from(pbx1Addr, late)
	ack := w.take("198.51.100.99:5060", "ACK")
	if string(ack.Branch()) == string(b.Branch()) {
		t.Error("the ACK of a 2xx is a transaction of its own (RFC 3261 13.2.2.4)")
	}
	bye := w.take("198.51.100.99:5060", "BYE")
	w.from(pbx1Addr, late)
	w.take("198.51.100.99:5060", "ACK")
	w.none("198.51.100.99:5060", "BYE")
	w.from("198.51.100.99:5060", reply(bye, 200, "y", ""))
	w.quiet()
}

// Timer C: a re-INVITE that the other side has taken and never answers does not
// hold the dialog for ever.
func TestCDR07_ReinviteWithoutAFinal(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "INVITE", 2, "", offer))
	re := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(re, 100, "", ""))
	w.advance(3*time.Minute + time.Second)
	cancel := w.take(pbx1Addr, "CANCEL")
	w.from(pbx1Addr, reply(cancel, 200, "callee", ""))
	w.from(pbx1Addr, reply(re, 487, "callee", ""))
	w.take(carrierAddr, "SIP/2.0 487")
	w.from(carrierAddr, inside(ok, "BYE", 3, "", ""))
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, "callee", ""))
	w.quiet()
}

// RFC 3261 15: a caller may end an early dialog by BYE. When our 2xx crosses
// that BYE and is lost, the INVITE still needs its final response.
func TestRFC3261_13_3_1_4_ByeDoesNotStopTheAnswer(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.take(carrierAddr, "SIP/2.0 200")
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, "callee", ""))
	w.advance(600 * time.Millisecond)
	if got := w.take(carrierAddr, "SIP/2.0 200"); got.CSeqMethod() != sip.INVITE {
		t.Error("the answer is not repeated")
	}
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.sent = nil
	if st := w.s.Stats(); st.Calls != 0 || st.Dialogs != 0 {
		t.Errorf("confirmed and hung up, and there is %+v", st)
	}
	w.advance(40 * time.Second)
	w.none(carrierAddr, "")
	w.quiet()
	if len(w.records) != 1 {
		t.Errorf("%d records", len(w.records))
	}
}

// The ACK that a late offer is owed goes out even when the callee hangs up first.
func TestDEC23_CalleeHangsUpBeforeTheLateOffersAck(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
	w.none(pbx1Addr, "ACK")
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 7, "", ""))
	w.take(pbx1Addr, "ACK")
	w.take(pbx1Addr, "SIP/2.0 200")
}

// RSP-05 also for a failure that a 2xx of another branch has overtaken.
func TestRSP05_FailureBehindTheAnswerIsAcknowledged(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
	w.take(pbx1Addr, "ACK")
	w.from(pbx1Addr, reply(b, 503, "other", ""))
	if ack := w.take(pbx1Addr, "ACK"); string(ack.ToTag()) != "other" {
		t.Errorf("ACK for %s", ack.ToTag())
	}
	w.none(pbx2Addr, "INVITE")
}

// An INVITE that waited for too long is refused without a trace, unless it is
// known: what is under way goes on.
func TestOverloadRefusesNewCallsOnly(t *testing.T) {
	w := newWorld(t)
	shed := func(text string) {
		m, fault := sip.Parse([]byte(text))
		if fault != nil {
			t.Fatal(fault)
		}
		w.s.Shed(w.now, &Packet{Packet: transport.Packet{
			Message: m, Transport: trunkgroup.UDP, Source: netip.MustParseAddrPort(carrierAddr),
		}})
	}
	shed(invite{body: offer, callID: "new", branch: "z9hG4bKnew"}.String())
	if got := w.take(carrierAddr, "SIP/2.0 503"); !got.Has(sip.RetryAfter) {
		t.Error("503 without Retry-After")
	}
	if st := w.s.Stats(); st != (Stats{}) || len(w.records) != 0 {
		t.Errorf("refused, and there is %+v", st)
	}
	counted := false
	for _, e := range w.events {
		counted = counted || e.Kind == EventReject && e.Reason == "overload"
	}
	if !counted {
		t.Error("not counted")
	}
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	shed(invite{body: offer}.String()) // a repetition
	w.take(carrierAddr, "SIP/2.0 100")
	w.none(carrierAddr, "SIP/2.0 503")
}
