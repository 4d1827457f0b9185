package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// DEC-19, phase 3: every call ends, each with its record, and nothing begins.
func TestDEC19_ShutdownEndsEveryCall(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	w.sent = nil
	w.from(carrierAddr, invite{body: offer, callID: "ringing", branch: "z9hG4bKr"}.String())
	ringing := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(ringing, 180, "r", ""))
	w.from(carrierAddr, invite{body: offer, callID: "unconfirmed", branch: "z9hG4bKu"}.String())
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 200, "u", answerSDP))
	w.sent = nil

	w.s.Shutdown(w.now)
	if len(w.records) != 3 {
		t.Fatalf("%d records of 3 calls", len(w.records))
	}
	for _, r := range w.records {
		if r.HangupCause != causeShutdown || r.HangupParty != partySystem {
			t.Errorf("record %s %s", r.HangupCause, r.HangupParty)
		}
	}
	failed := w.take(carrierAddr, "SIP/2.0 503")
	if failed.Has(sip.RetryAfter) || string(failed.CallID()) != "ringing" {
		t.Errorf("the ringing call got\n%s", failed.Raw())
	}
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "CANCEL"), 200, "r", ""))
	w.from(pbx1Addr, reply(ringing, 487, "r", ""))
	bye := w.take(carrierAddr, "BYE")
	if string(bye.ToTag()) != "caller" || !strings.Contains(string(bye.Header(sip.Reason)), "503") {
		t.Errorf("BYE\n%s", bye.Raw())
	}
	w.none(carrierAddr, "BYE") // the unconfirmed caller's waits for its ACK
	w.from(carrierAddr, reply(bye, 200, "caller", ""))
	for _, tag := range []string{"callee", "u"} {
		w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, tag, ""))
	}

	w.from(carrierAddr, invite{body: offer, callID: "late", branch: "z9hG4bKl"}.String())
	if got := w.take(carrierAddr, "SIP/2.0 503"); got.Has(sip.RetryAfter) || string(got.CallID()) != "late" {
		t.Errorf("a new call got\n%s", got.Raw())
	}
	w.from(carrierAddr, strings.Replace(invite{callID: "probe"}.String(), "INVITE", "OPTIONS", 2))
	w.take(carrierAddr, "SIP/2.0 503")
	w.from(carrierAddr, inside(ok, "BYE", 2, "", "")) // crossed ours
	w.advance(40 * time.Second)
	for _, x := range w.sent {
		if x.m.Method() == sip.BYE {
			w.from(carrierAddr, reply(x.m, 200, "caller", ""))
		}
	}
	w.quiet()
	if len(w.records) != 3 {
		t.Errorf("%d records", len(w.records))
	}
}

func TestDEC19_ShutdownDuringAHandOff(t *testing.T) {
	p, b := handedOverCall(t)
	p.dal.s.Shutdown(p.dal.now)
	p.dal.take(carrierAddr, "SIP/2.0 503")
	p.exchange()
	p.ash.from(ashPBX, reply(p.ash.take(ashPBX, "CANCEL"), 200, "x", ""))
	p.ash.from(ashPBX, reply(b, 487, "x", ""))
	p.exchange()
	p.dal.quiet()
	p.ash.quiet()
	if len(p.dal.records) != 1 || len(p.dal.records[0].Attempts) != 3 {
		t.Errorf("records %+v", p.dal.records)
	}
}
