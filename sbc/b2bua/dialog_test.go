package b2bua

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// A caller of RFC 2543, or one that keeps the INVITE's branch, confirms the 2xx
// with an ACK that also fits the INVITE's own transaction.
func TestRFC3261_17_2_3_AckOfTheAnswerWithTheInvitesBranch(t *testing.T) {
	for _, branch := range []string{"z9hG4bKa1", "old-style"} {
		w := newWorld(t)
		w.from(carrierAddr, invite{body: offer, branch: branch}.String())
		b := w.take(pbx1Addr, "INVITE")
		w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
		ok := w.take(carrierAddr, "SIP/2.0 200")
		w.from(carrierAddr, ackFor(ok, branch, ""))
		w.advance(40 * time.Second)
		w.none(carrierAddr, "BYE")
		w.none(carrierAddr, "SIP/2.0 200")
	}
}

func TestRFC3261_12_2_2_SecondCallUnderTheSameIdentifiers(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	w.from(carrierAddr, invite{body: offer, branch: "z9hG4bKsecond", seq: 2}.String())
	w.take(pbx1Addr, "INVITE")
	w.from(carrierAddr, inside(ok, "BYE", 3, "", ""))
	w.take(carrierAddr, "SIP/2.0 200")
	bye := w.take(pbx1Addr, "BYE")
	if !bytes.Equal(bye.CallID(), b.CallID()) {
		t.Error("the BYE of the first call ended another one")
	}
}

// "received" or the source's address, with the port of sent-by: peers that
// send from another port than they hear on must get answers too.
func TestRFC3261_18_2_2_AnswersGoToThePortOfSentBy(t *testing.T) {
	for method, want := range map[string]string{"OPTIONS": "SIP/2.0 200", "REGISTER": "SIP/2.0 401", "INVITE": "SIP/2.0 401", "BYE": "SIP/2.0 481"} {
		w := newWorld(t)
		text := strings.Replace(invite{host: "203.0.113.77:5070"}.String(), "INVITE", method, 2)
		w.from("203.0.113.77:40000", text)
		w.take("203.0.113.77:5070", want)
		w.from("203.0.113.77:40000", strings.Replace(text, ";branch=", ";rport;branch=x", 1))
		w.take("203.0.113.77:40000", want)
	}
}

func TestRFC3261_8_1_1_8_InviteWithoutContact(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(invite{body: offer}.String(), "Contact: <sip:bob@192.0.2.10:5060>\r\n", "", 1)
	w.from(carrierAddr, text)
	w.take(carrierAddr, "SIP/2.0 400")
	w.none(pbx1Addr, "INVITE")
}

// A Contact becomes a Request-URI: what may not stand there is left out, what
// cannot be a target at all is not taken.
func TestRFC3261_19_1_5_RemoteTargetIsFitForARequestURI(t *testing.T) {
	for contact, want := range map[string]string{
		"<sip:pbx@198.51.100.10:5062?Replaces=abc>":          "sip:pbx@198.51.100.10:5062",
		"<sip:pbx@198.51.100.10:5062;method=INVITE>":         "sip:pbx@198.51.100.10:5062",
		"<sip:pbx@198.51.100.10:5062;x=1;method=INVITE;y=2>": "sip:pbx@198.51.100.10:5062;x=1;y=2",
		"\"P, B \\\" X\" <sip:pbx@198.51.100.10:5062>;q=0.5": "sip:pbx@198.51.100.10:5062",
		"<mailto:pbx@example.com>":                           "sip:+12145550100@" + pbx1Addr,
		"<tel:+12145550100>":                                 "sip:+12145550100@" + pbx1Addr,
		"<sip:>":                                             "sip:+12145550100@" + pbx1Addr,
		"<sip:[2001:db8::9]:5070>":                           "sip:[2001:db8::9]:5070",
	} {
		w := newWorld(t)
		w.from(carrierAddr, invite{body: offer}.String())
		b := w.take(pbx1Addr, "INVITE")
		w.from(pbx1Addr, reply(b, 200, "callee", answerSDP, "Contact: "+contact+"\r\n"))
		found := false
		for _, x := range w.sent {
			if x.m.Method() == sip.ACK {
				found = true
				if got := string(x.m.RequestURI()); got != want {
					t.Errorf("%s: ACK to %s, want %s", contact, got, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: no ACK", contact)
		}
	}
}

func TestRFC3261_8_1_1_5_CSeqZeroIsANumber(t *testing.T) {
	w := newWorld(t)
	b, _ := w.answeredCall()
	w.from(pbx1Addr, calleeRequest(b, "callee", "BYE", 0, "", ""))
	w.take(pbx1Addr, "SIP/2.0 200")
	w.take(carrierAddr, "BYE")
}

// A forking callee that never stops making early dialogs costs a bounded
// amount of memory, and going to and fro between two of them costs nothing.
func TestDEC01_EarlyDialogsAreBounded(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	for i := range 2000 {
		w.from(pbx1Addr, reply(b, 183, "fork"+strconv.Itoa(i%1000), answerSDP))
		w.take(carrierAddr, "SIP/2.0 183")
	}
	for c := range w.s.calls {
		if len(c.forks) > maxForks || len(c.a.others) > maxForks {
			t.Errorf("%d early dialogs and %d tags are kept", len(c.forks), len(c.a.others))
		}
	}
	w.from(pbx1Addr, reply(b, 200, "fork1999", answerSDP))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, "fork1999", ""))
	w.quiet()
	if n := len(w.s.dialogs); n != 0 {
		t.Errorf("%d dialogs are left", n)
	}
}

// The row of DEC-09 for an owner of whose boot we know less than the request.
func TestDEC09_OwnersBoot(t *testing.T) {
	mintOf := func(node string, boot uint32) string {
		return mint.New(bytes.Repeat([]byte("x"), 32), mint.NodeID(node), boot).Mint(0, 7)
	}
	for _, c := range []struct {
		name, tag string
		down      bool
		want      string // answer; empty: passed on
	}{
		{"known boot", mintOf("dal-1", 1), false, ""},
		{"an older boot than the one seen", mintOf("dal-1", 0), false, "SIP/2.0 481"},
		{"a newer boot than the one seen", mintOf("dal-1", 2), false, ""},
		{"a newer boot, not reachable", mintOf("dal-1", 2), true, "SIP/2.0 500"},
		{"a node that we do not know yet", mintOf("dal-9", 1), false, "SIP/2.0 500"},
		{"our own boot before this one", mintOf("dal-2", 0), false, "SIP/2.0 481"},
		{"our own boot", mintOf("dal-2", 1), false, "SIP/2.0 481"},
	} {
		w := newWorldOf(t, "dal-2", "dallas", document())
		w.peers = []geo.PeerNode{{Name: "dal-1", Site: "dallas", Fresh: true}}
		w.down["dal-1"] = c.down
		text := strings.Replace(invite{}.String(), "INVITE", "INFO", 2)
		text = strings.Replace(text, "To: <sip:+12145550100@203.0.113.1>", "To: <sip:+12145550100@203.0.113.1>;tag="+c.tag, 1)
		w.from(carrierAddr, text)
		switch {
		case c.want == "" && (len(w.forward) != 1 || len(w.sent) != 0):
			t.Errorf("%s: forwarded %v, sent:\n%s", c.name, w.forward, w.trace())
		case c.want != "" && w.find(carrierAddr, c.want) == nil:
			t.Errorf("%s: no %s, forwarded %v, sent:\n%s", c.name, c.want, w.forward, w.trace())
		}
	}
}

func TestRFC3261_17_1_3_ResponseOfAnotherMethodIsNoAnswer(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, strings.Replace(reply(b, 200, "callee", answerSDP), "1 INVITE", "1 BYE", 1))
	w.none(carrierAddr, "SIP/2.0 200")
	w.from(pbx1Addr, reply(b, 486, "callee", ""))
	w.take(carrierAddr, "SIP/2.0 486")
}
