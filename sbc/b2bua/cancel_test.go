package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// cancelOf writes the CANCEL of a caller's request.
func cancelOf(text, method string) string {
	text = strings.Replace(strings.Replace(text, method, "CANCEL", 1), " "+method+"\r\n", " CANCEL\r\n", 1)
	head, _, _ := strings.Cut(text, "Content-")
	return head + "Content-Length: 0\r\n\r\n"
}

// A far end that has spoken is there: an ICMP error about an earlier copy of the
// INVITE ends nothing (RFC 3261 17.1.1.2).
func TestTransportErrorAfterAProvisionalIsIgnored(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	var ref uint64
	for _, x := range w.sent {
		if x.m.Method() == sip.INVITE {
			ref = x.ref
		}
	}
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 100, "", ""))
	w.s.Failed(w.now, ref, &transport.ICMPError{})
	w.none(pbx2Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
	w.take(carrierAddr, "SIP/2.0 200")
}

// CAN-04: the 487 says that the CANCEL arrived, whatever became of its 200.
func TestCAN04_CancelEndsWithTheInvite(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 180, "x", ""))
	w.from(carrierAddr, cancelOf(invite{body: offer}.String(), "INVITE"))
	w.take(pbx1Addr, "CANCEL")
	w.advance(600 * time.Millisecond)
	w.take(pbx1Addr, "CANCEL") // timer E
	w.from(pbx1Addr, reply(b, 487, "x", ""))
	w.sent = nil
	w.advance(5 * time.Second)
	w.none(pbx1Addr, "CANCEL")
	for range 3 { // and each repetition of it has its ACK
		w.from(pbx1Addr, reply(b, 487, "x", ""))
		ack := w.take(pbx1Addr, "ACK")
		if string(ack.Branch()) != string(b.Branch()) {
			t.Error("the ACK of a failure has its INVITE's branch")
		}
		w.advance(4 * time.Second)
	}
	w.quiet()
}

// RFC 3261 9: a re-INVITE can be cancelled too, and the call goes on.
func TestCancelOfAReinvite(t *testing.T) {
	for name, heard := range map[string]bool{"after the 100": true, "before any word": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, ok := w.answeredCall()
			text := inside(ok, "INVITE", 2, "", offer)
			w.from(carrierAddr, text)
			re := w.take(pbx1Addr, "INVITE")
			if heard {
				w.from(pbx1Addr, reply(re, 100, "", ""))
			}
			w.from(carrierAddr, cancelOf(text, "INVITE"))
			w.take(carrierAddr, "SIP/2.0 200")
			if !heard {
				w.none(pbx1Addr, "CANCEL") // RFC 3261 9.1
				w.from(pbx1Addr, reply(re, 100, "", ""))
			}
			cancel := w.take(pbx1Addr, "CANCEL")
			if string(cancel.ToTag()) != "callee" || string(cancel.RequestURI()) != string(re.RequestURI()) {
				t.Errorf("not the INVITE's:\n%s", cancel.Raw())
			}
			w.from(pbx1Addr, reply(cancel, 200, "callee", ""))
			w.from(pbx1Addr, reply(re, 487, "callee", ""))
			w.take(carrierAddr, "SIP/2.0 487")
			w.none(carrierAddr, "BYE")
			w.from(carrierAddr, inside(ok, "BYE", 3, "", ""))
			w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, "callee", ""))
			w.quiet()
		})
	}
}

// The answer to a re-INVITE that crosses its CANCEL counts.
func TestCancelOfAReinviteCrossesItsAnswer(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	text := inside(ok, "INVITE", 2, "", offer)
	w.from(carrierAddr, text)
	re := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(re, 100, "", ""))
	w.sent = nil
	w.from(carrierAddr, cancelOf(text, "INVITE"))
	w.take(carrierAddr, "SIP/2.0 200")
	w.from(pbx1Addr, reply(re, 200, "callee", answerSDP))
	if got := w.take(carrierAddr, "SIP/2.0 200"); got.CSeqMethod() != sip.INVITE || string(got.Body()) != answerSDP {
		t.Errorf("the caller got\n%s", got.Raw())
	}
	w.take(pbx1Addr, "ACK")
	w.none(pbx1Addr, "BYE")
}

// Only who sent the INVITE may cancel it (DEC-03), from whatever port.
func TestDEC03_CancelFromElsewhere(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(pbx1Addr, "INVITE")
	text := cancelOf(invite{body: offer}.String(), "INVITE")
	w.from("203.0.113.66:5060", text)
	w.take("203.0.113.66:5060", "SIP/2.0 481")
	w.none(carrierAddr, "SIP/2.0 487")
	w.from("192.0.2.10:49152", text)
	w.take(carrierAddr, "SIP/2.0 487")
}

// The other nodes hear of the final response when it is given, not when the
// call is over: the same INVITE is a new call from then on (DEC-03).
func TestDEC03_ClosedWithTheFinalResponse(t *testing.T) {
	for _, code := range []int{200, 486} {
		w := newWorld(t)
		w.from(carrierAddr, invite{body: offer}.String())
		w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), code, "x", answerSDP))
		if last := w.shared[len(w.shared)-1]; last.State != OpenClosed {
			t.Errorf("%d: the last news is %+v", code, last)
		}
	}
}
