package b2bua

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestCallFromCarrierToPBX(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	if string(b.Body()) != offer || string(ok.Body()) != answerSDP {
		t.Errorf("SDP must cross byte for byte")
	}
	if b.MaxForwards() != 69 {
		t.Errorf("Max-Forwards %d, want 69", b.MaxForwards())
	}
	w.from(carrierAddr, inside(ok, "BYE", 2, "Reason: Q.850;cause=16\r\n", ""))
	w.take(carrierAddr, "SIP/2.0 200")
	bye := w.take(pbx1Addr, "BYE")
	if got := string(bye.Header(sip.Reason)); got != "Q.850;cause=16" {
		t.Errorf("Reason crossed as %q", got)
	}
	w.from(pbx1Addr, reply(bye, 200, "callee", ""))
	w.quiet()
	if len(w.records) != 1 || w.records[0].SIPCode != 200 || w.records[0].EgressMember != "dal-1" {
		t.Fatalf("records: %+v", w.records)
	}
}

// "no Via, Contact, Call-ID, Record-Route of one side on the other".
func TestTopologyStaysOnItsSide(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer, lines: "Record-Route: <sip:proxy.carrier.example;lr>\r\nSupported: 100rel, timer\r\n" +
		"Session-Expires: 1800\r\nX-Account: 42\r\nUser-Agent: CarrierSwitch\r\n"}.String())
	b := w.take(pbx1Addr, "INVITE")
	for _, secret := range []string{"carrier.example", "call-1", "bob@", "CarrierSwitch", "100rel", "Session-Expires", "192.0.2.10:5060>"} {
		if bytes.Contains(b.Raw()[:len(b.Raw())-len(b.Body())], []byte(secret)) {
			t.Errorf("%q of the caller's side reached the callee:\n%s", secret, b.Raw())
		}
	}
	if !bytes.Contains(b.Raw(), []byte("X-Account: 42")) {
		t.Errorf("a header that may cross did not:\n%s", b.Raw())
	}
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP, "Record-Route: <sip:198.51.100.9;lr>\r\nContact: <sip:x@10.9.9.9>\r\nServer: PBX\r\n"))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	for _, secret := range []string{"198.51.100.9", "10.9.9.9", "Server: PBX"} {
		if bytes.Contains(ok.Raw()[:len(ok.Raw())-len(ok.Body())], []byte(secret)) {
			t.Errorf("%q of the callee's side reached the caller:\n%s", secret, ok.Raw())
		}
	}
	if got := string(ok.Header(sip.RecordRoute)); got != "<sip:proxy.carrier.example;lr>" {
		t.Errorf("the caller's own Record-Route must come back, got %q", got)
	}
	ack := w.take("198.51.100.9:5060", "ACK")
	if got := string(ack.Header(sip.Route)); got != "<sip:198.51.100.9;lr>" || string(ack.RequestURI()) != "sip:x@10.9.9.9" {
		t.Errorf("ACK to %s by %q", ack.RequestURI(), got)
	}
}

func TestV01_NextMemberAfter503(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	first := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(first, 503, "x", ""))
	w.take(pbx1Addr, "ACK")
	second := w.take(pbx2Addr, "INVITE")
	if bytes.Equal(first.CallID(), second.CallID()) || bytes.Equal(first.FromTag(), second.FromTag()) {
		t.Error("S-003: each attempt is a dialog of its own")
	}
	w.from(pbx2Addr, reply(second, 200, "y", answerSDP))
	w.take(carrierAddr, "SIP/2.0 200")
}

func TestV02_BusyReachesTheCallerAsItIs(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 486, "x", "", "Reason: Q.850;cause=17\r\n"))
	got := w.take(carrierAddr, "SIP/2.0 486")
	if string(got.Header(sip.Reason)) != "Q.850;cause=17" || !strings.Contains(string(got.Header(sip.From)), "tag=caller") {
		t.Errorf("S-053, RSP-04:\n%s", got.Raw())
	}
	w.none(pbx2Addr, "INVITE")
	w.from(carrierAddr, ackFor(got, "z9hG4bKa1", ""))
	w.quiet()
}

func TestDEC23_ChallengeOfTheCarrierStaysInside(t *testing.T) {
	for code, want := range map[int]string{401: "SIP/2.0 500", 407: "SIP/2.0 500", 420: "SIP/2.0 500", 302: "SIP/2.0 480"} {
		w := newWorld(t)
		w.from(carrierAddr, invite{body: offer}.String())
		b := w.take(pbx1Addr, "INVITE")
		w.from(pbx1Addr, reply(b, code, "x", "", "WWW-Authenticate: Digest realm=\"pbx\", nonce=\"1\"\r\nContact: <sip:elsewhere@10.1.1.1>\r\n"))
		got := w.take(carrierAddr, want)
		if bytes.Contains(got.Raw(), []byte("realm")) || bytes.Contains(got.Raw(), []byte("elsewhere")) {
			t.Errorf("%d leaked:\n%s", code, got.Raw())
		}
		if rec := w.records[0]; rec.Attempts[0].Code != code {
			t.Errorf("recorded %d, want it as it was: %d", rec.Attempts[0].Code, code)
		}
	}
}

func TestV18_CallerCancelsWhileRinging(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 180, "x", ""))
	w.from(carrierAddr, strings.Replace(invite{}.String(), "INVITE", "CANCEL", 2))
	w.take(carrierAddr, "SIP/2.0 200")
	final := w.take(carrierAddr, "SIP/2.0 487")
	cancel := w.take(pbx1Addr, "CANCEL")
	if !bytes.Equal(cancel.Branch(), b.Branch()) || !bytes.Equal(cancel.RequestURI(), b.RequestURI()) {
		t.Error("a CANCEL has its INVITE's branch and Request-URI (RFC 3261 9.1)")
	}
	w.from(pbx1Addr, reply(cancel, 200, "x", ""))
	w.from(pbx1Addr, reply(b, 487, "x", ""))
	w.take(pbx1Addr, "ACK")
	w.none(pbx2Addr, "INVITE")
	w.from(carrierAddr, ackFor(final, "z9hG4bKa1", ""))
	w.quiet()
	if w.records[0].SIPCode != 487 {
		t.Errorf("record %+v", w.records[0])
	}
}

func TestCAN01_AnswerCrossesOurCancel(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 180, "x", ""))
	w.from(carrierAddr, strings.Replace(invite{}.String(), "INVITE", "CANCEL", 2))
	cancel := w.take(pbx1Addr, "CANCEL")
	w.from(pbx1Addr, reply(cancel, 200, "x", ""))
	// CAN-05: the race's ACK and BYE follow the 200's route set.
	w.from(pbx1Addr, reply(b, 200, "x", answerSDP, "Record-Route: <sip:198.51.100.9;lr>\r\n"))
	w.take("198.51.100.9:5060", "ACK")
	bye := w.take("198.51.100.9:5060", "BYE")
	w.from("198.51.100.9:5060", reply(bye, 200, "x", ""))
	w.take(carrierAddr, "SIP/2.0 487")
	w.quiet()
}

func TestDEC02_AbandonedBeforeAnyResponse(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.advance(4 * time.Second) // b_timer
	w.none(pbx1Addr, "CANCEL")
	second := w.take(pbx2Addr, "INVITE")
	if len(w.blame) != 1 || w.blame[0] != "acme-in/dal-1 no_response" {
		t.Errorf("DEC-11: evidence %v", w.blame)
	}
	w.sent = nil
	w.advance(2 * time.Second)
	w.none(pbx1Addr, "INVITE") // no more repetitions
	w.from(pbx1Addr, reply(b, 180, "x", ""))
	w.take(pbx1Addr, "CANCEL")
	w.none(carrierAddr, "SIP/2.0 180") // S-052
	w.from(pbx2Addr, reply(second, 200, "y", answerSDP))
	w.take(carrierAddr, "SIP/2.0 200")
	w.from(pbx1Addr, reply(b, 200, "x", answerSDP))
	w.take(pbx1Addr, "ACK")
	w.take(pbx1Addr, "BYE")
	w.none(carrierAddr, "SIP/2.0 200")
}

func TestDEC01_SecondAnswerIsAForkToTheCaller(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 180, "x", ""))
	ringing := w.take(carrierAddr, "SIP/2.0 180")
	w.from(pbx1Addr, reply(b, 183, "x", answerSDP))
	early := w.take(carrierAddr, "SIP/2.0 183")
	if !bytes.Equal(ringing.ToTag(), early.ToTag()) {
		t.Error("one tag until an SDP was relayed")
	}
	w.from(pbx1Addr, reply(b, 503, "x", ""))
	second := w.take(pbx2Addr, "INVITE")
	w.from(pbx2Addr, reply(second, 200, "y", answerSDP, "Contact: <sip:pbx@198.51.100.11:5060>\r\n"))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	if bytes.Equal(early.ToTag(), ok.ToTag()) {
		t.Error("183+SDP, 503, 200+SDP: the two answers carry two tags")
	}
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.take(pbx2Addr, "BYE")
}

func TestDEC23_LateOfferAckWaitsForTheAnswer(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "x", answerSDP))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.none(pbx1Addr, "ACK")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", offer))
	if ack := w.take(pbx1Addr, "ACK"); string(ack.Body()) != offer {
		t.Errorf("the ACK carries the answer, got %q", ack.Body())
	}
}

func TestRTX02_AnswerIsRepeatedUntilItsAck(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "x", answerSDP))
	w.take(carrierAddr, "SIP/2.0 200")
	w.advance(500 * time.Millisecond)
	w.take(carrierAddr, "SIP/2.0 200")
	w.advance(32 * time.Second)
	w.take(carrierAddr, "BYE")
	w.take(pbx1Addr, "BYE")
	if w.records[0].HangupCause != causeNoAck {
		t.Errorf("cause %s", w.records[0].HangupCause)
	}
}

func TestReinviteCrossesBothWays(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "INVITE", 2, "Contact: <sip:bob@192.0.2.99:5060>\r\n", offer))
	w.take(carrierAddr, "SIP/2.0 100")
	re := w.take(pbx1Addr, "INVITE")
	if string(re.Body()) != offer {
		t.Error("offer did not cross")
	}
	w.from(pbx1Addr, reply(re, 200, "callee", answerSDP))
	w.take(pbx1Addr, "ACK")
	re200 := w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, ackFor(re200, "z9hG4bKack2", ""))
	// The callee's UPDATE goes to the caller's new Contact.
	w.from(pbx1Addr, calleeRequest(b, "callee", "UPDATE", 7, "Contact: <sip:pbx@198.51.100.10:5060>\r\n", offer))
	up := w.take("192.0.2.99:5060", "UPDATE")
	w.from("192.0.2.99:5060", reply(up, 200, "caller", answerSDP, "Contact: <sip:bob@192.0.2.99:5060>\r\n"))
	w.take(pbx1Addr, "SIP/2.0 200")
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 8, "", ""))
	w.take(pbx1Addr, "SIP/2.0 200")
	bye := w.take("192.0.2.99:5060", "BYE")
	w.from("192.0.2.99:5060", reply(bye, 200, "caller", ""))
	w.quiet()
}

func TestGlareGets491(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "INVITE", 2, "", offer))
	w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, calleeRequest(b, "callee", "INVITE", 7, "", offer))
	w.take(pbx1Addr, "SIP/2.0 491")
}

func TestCrossingByesAreBothAnswered(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.take(carrierAddr, "SIP/2.0 200")
	bye := w.take(pbx1Addr, "BYE")
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 7, "", ""))
	w.take(pbx1Addr, "SIP/2.0 200")
	w.from(pbx1Addr, reply(bye, 481, "callee", ""))
	w.quiet()
	if len(w.records) != 1 {
		t.Errorf("%d records", len(w.records))
	}
}

func TestCalleeByeBeforeTheCallersAck(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 7, "", ""))
	w.take(pbx1Addr, "SIP/2.0 200")
	w.none(carrierAddr, "BYE") // RFC 3261 15: not before the ACK
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	bye := w.take(carrierAddr, "BYE")
	w.from(carrierAddr, reply(bye, 200, "caller", ""))
	w.quiet()
}

func TestRetransmissionsAreAbsorbed(t *testing.T) {
	w := newWorld(t)
	text := invite{body: offer}.String()
	w.from(carrierAddr, text)
	w.take(carrierAddr, "SIP/2.0 100")
	b := w.take(pbx1Addr, "INVITE")
	w.from(carrierAddr, text)
	w.take(carrierAddr, "SIP/2.0 100")
	w.none(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 486, "x", ""))
	w.from(pbx1Addr, reply(b, 486, "x", "")) // RSP-05: each is ACKed
	w.take(pbx1Addr, "ACK")
	w.take(pbx1Addr, "ACK")
	w.take(carrierAddr, "SIP/2.0 486")
	w.advance(500 * time.Millisecond) // timer G
	w.take(carrierAddr, "SIP/2.0 486")
	w.from(carrierAddr, text)
	w.take(carrierAddr, "SIP/2.0 486")
	w.quiet()
}

func TestScreening(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"require", "Require: 100rel, foo\r\n", "SIP/2.0 420"},
		{"proxy-require", "Proxy-Require: bar\r\n", "SIP/2.0 420"},
		{"replaces", "Replaces: abc;to-tag=1;from-tag=2\r\n", "SIP/2.0 481"},
		{"accept", "Accept: text/nobodyKnowsThis\r\n", "SIP/2.0 406"},
	} {
		w := newWorld(t)
		w.from(carrierAddr, invite{body: offer, lines: c.lines}.String())
		got := w.take(carrierAddr, c.want)
		if c.want == "SIP/2.0 420" && len(got.Header(sip.Unsupported)) == 0 {
			t.Errorf("%s: 420 without Unsupported", c.name)
		}
		w.none(pbx1Addr, "INVITE")
	}
	w := newWorld(t)
	w.from(carrierAddr, strings.Replace(invite{}.String(), "Max-Forwards: 70", "Max-Forwards: 0", 1))
	w.take(carrierAddr, "SIP/2.0 483")
	w.from(carrierAddr, invite{called: "+19995550100", callID: "c2", branch: "z9hG4bKb2"}.String())
	w.take(carrierAddr, "SIP/2.0 404")
}

func TestP11_UnknownSourceIsChallenged(t *testing.T) {
	w := newWorld(t)
	// As long as the INVITE of a real telephone: the answer to a shorter one offers less.
	lines := "Allow: INVITE, ACK, CANCEL, BYE, UPDATE\r\nUser-Agent: telephone/1.0 (" + strings.Repeat("x", 120) + ")\r\n"
	w.from("203.0.113.77:5060", invite{body: offer, host: "203.0.113.77:5060", lines: lines}.String())
	got := w.take("203.0.113.77:5060", "SIP/2.0 401")
	var algorithms []string
	got.EachOf(sip.WWWAuthenticate, func(v []byte) bool {
		alg, _ := sip.Param(bytes.ReplaceAll(v, []byte(", "), []byte(";")), "algorithm")
		algorithms = append(algorithms, string(alg))
		return true
	})
	if strings.Join(algorithms, " ") != "SHA-256 MD5" {
		t.Errorf("RFC 8760: strongest first, got %v", algorithms)
	}
	if st := w.s.Stats(); st != (Stats{}) {
		t.Errorf("a stranger's INVITE left %+v", st)
	}
}

func TestRefusedByICMPMovesOnAtOnce(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	for _, x := range w.sent {
		if x.m.Method() == "INVITE" {
			w.s.Failed(w.now, x.ref, &transport.ICMPError{})
		}
	}
	w.take(pbx2Addr, "INVITE")
	if len(w.blame) != 1 {
		t.Errorf("evidence: %v", w.blame)
	}
}

func TestInDialogWithoutDialog(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	stranger := strings.Replace(inside(ok, "BYE", 2, "", ""), string(ok.ToTag()), "unknown", 1)
	w.from(carrierAddr, stranger)
	w.take(carrierAddr, "SIP/2.0 481")
	w.from(carrierAddr, inside(ok, "REFER", 2, "Refer-To: <sip:x@y>\r\n", ""))
	w.take(carrierAddr, "SIP/2.0 405")
	w.from(carrierAddr, inside(ok, "FOO", 3, "", ""))
	w.take(carrierAddr, "SIP/2.0 501")
	w.from(carrierAddr, inside(ok, "OPTIONS", 4, "", ""))
	w.take(carrierAddr, "SIP/2.0 200")
}

func TestDEC12_IsolatedNodeAnswersOptionsWith503(t *testing.T) {
	w := newWorld(t)
	options := strings.Replace(invite{}.String(), "INVITE", "OPTIONS", 2)
	w.from(carrierAddr, options)
	w.take(carrierAddr, "SIP/2.0 200")
	w.isolated = true
	w.from(carrierAddr, options)
	w.take(carrierAddr, "SIP/2.0 503")
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(pbx1Addr, "INVITE") // calls are still tried
}

// PRB-08: a response is told by its branch, not by where it comes from.
func TestPRB08_ProbeAnsweredFromAnAliasAddress(t *testing.T) {
	w := newWorld(t)
	m := w.table.Member("acme-in/dal-1")
	w.s.Ping(w.now, PingOrder{Token: 1, Candidate: trunkgroup.Candidate{Member: m, Addr: m.Addr, Dialable: true}})
	w.from("198.51.100.8:5070", reply(w.take(pbx1Addr, "OPTIONS"), 405, "x", ""))
	if len(w.pinged) != 1 || w.pinged[0].Code != 405 {
		t.Errorf("pinged %+v", w.pinged)
	}
}

func TestOptionsThatRequireAnExtensionGet420(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, strings.Replace(invite{lines: "Require: nothingSupportsThis\r\n"}.String(), "INVITE", "OPTIONS", 2))
	if got := w.take(carrierAddr, "SIP/2.0 420"); string(got.Header(sip.Unsupported)) != "nothingSupportsThis" {
		t.Errorf("Unsupported: %s", got.Header(sip.Unsupported))
	}
}

func TestS049_ConnectionThatCouldNotBeMadeIsNotDialed(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	for _, x := range w.sent {
		if x.m.Method() == "INVITE" {
			w.s.Failed(w.now, x.ref, fmt.Errorf("dial: %w: refused", transport.ErrNotSent))
		}
	}
	w.from(pbx2Addr, reply(w.take(pbx2Addr, "INVITE"), 486, "x", ""))
	if a := w.records[0].Attempts[0]; a.Dialed || a.Code != 503 {
		t.Errorf("attempt %+v", a)
	}
}
