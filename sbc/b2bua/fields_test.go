package b2bua

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// What went wrong in the field elsewhere, case by case.

// outboundWorld has two carriers, the first of them by a name.
func outboundWorld(t *testing.T, first trunkgroup.MemberSpec) *world {
	t.Helper()
	doc := document()
	first.ID, first.Site = "gw", "dallas"
	doc.TrunkGroups[2].Members = []trunkgroup.MemberSpec{first}
	doc.TrunkGroups[2].Sources = []trunkgroup.SourceSpec{{IP: "192.0.2.10"}}
	doc.TrunkGroups = append(doc.TrunkGroups, trunkgroup.GroupSpec{
		Name: "carrier-b", Role: trunkgroup.PSTNProvider,
		Members: []trunkgroup.MemberSpec{{ID: "dal", Site: "dallas", Address: "192.0.2.20:5060"}},
	})
	return newWorldOf(t, "dal-1", "dallas", doc)
}

func outgoingCall(lines string) string {
	return invite{called: "+13105550123", host: pbx1Addr, body: offer, lines: lines}.String()
}

func TestFLO01_NameThatDoesNotResolveIsSkippedAtOnce(t *testing.T) {
	w := outboundWorld(t, trunkgroup.MemberSpec{FQDN: "gw1.carrier-a.example"})
	w.from(pbx1Addr, outgoingCall(""))
	b := w.take("192.0.2.20:5060", "INVITE")
	w.from("192.0.2.20:5060", reply(b, 486, "x", ""))
	w.take(pbx1Addr, "SIP/2.0 486")
	a := w.records[0].Attempts
	if len(a) != 2 || a[0].Dialed || a[0].Cause == "" || !a[1].Dialed || len(w.blame) != 0 {
		t.Errorf("attempts %+v, blame %v", a, w.blame)
	}
}

func TestFLO03_ProgressStopsTheNoResponseTimer(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 100, "", ""))
	w.advance(300 * time.Millisecond)
	w.from(pbx1Addr, reply(b, 183, "x", answerSDP))
	w.take(carrierAddr, "SIP/2.0 183")
	w.advance(24700 * time.Millisecond)
	w.none(pbx2Addr, "INVITE")
	w.none(pbx1Addr, "CANCEL")
	w.from(pbx1Addr, reply(b, 200, "x", answerSDP))
	w.take(carrierAddr, "SIP/2.0 200")
}

func TestFLO06_WhoDeclinesIsNotRungAgain(t *testing.T) {
	for _, code := range []int{404, 480, 486, 600, 603, 604, 606} {
		w := newWorld(t)
		w.from(carrierAddr, invite{body: offer}.String())
		b := w.take(pbx1Addr, "INVITE")
		w.from(pbx1Addr, reply(b, 180, "x", ""))
		w.from(pbx1Addr, reply(b, code, "x", ""))
		w.none(pbx2Addr, "INVITE")
		w.take(carrierAddr, "SIP/2.0 180")
		if got := w.sent[len(w.sent)-1].m.Status(); got != code {
			t.Errorf("%d reached the caller as %d", code, got)
		}
	}
}

func TestATB01_NumbersOfOneLegSayNothingOnAnother(t *testing.T) {
	w := outboundWorld(t, trunkgroup.MemberSpec{Address: carrierAddr})
	w.from(pbx1Addr, strings.Replace(outgoingCall("Authorization: Digest username=\"u\", realm=\"r\"\r\n"), "CSeq: 1 ", "CSeq: 500 ", 1))
	first := w.take(carrierAddr, "INVITE")
	w.from(carrierAddr, reply(first, 503, "x", ""))
	second := w.take("192.0.2.20:5060", "INVITE")
	if first.CSeq() != 1 || second.CSeq() != 1 || second.Has(sip.Authorization) {
		t.Errorf("the second carrier got\n%s", second.Raw())
	}
	w.from("192.0.2.20:5060", reply(second, 180, "y", ""))
	w.from("192.0.2.20:5060", reply(second, 200, "y", answerSDP))
	for _, start := range []string{"SIP/2.0 180", "SIP/2.0 200"} {
		if got := w.take(pbx1Addr, start); got.CSeq() != 500 {
			t.Errorf("%s with CSeq %d", start, got.CSeq())
		}
	}
}

func TestRSP04_FailureComesBackOnTheCallersOwnTerms(t *testing.T) {
	w := newWorld(t)
	req := invite{body: offer}.String()
	w.from(carrierAddr, req)
	b := w.take(pbx1Addr, "INVITE")
	text := strings.Replace(reply(b, 404, "x", "", "Reason: Q.850;cause=34\r\n"), "404 Not Found", "404 No circuit available", 1)
	w.from(pbx1Addr, text)
	got := string(w.take(carrierAddr, "SIP/2.0 404").Raw())
	for _, want := range []string{"SIP/2.0 404 No circuit available\r\n", "\r\nReason: Q.850;cause=34\r\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, name := range []string{"Via: ", "From: ", "Call-ID: ", "CSeq: "} {
		_, line, _ := strings.Cut(req, "\r\n"+name)
		line, _, _ = strings.Cut(line, "\r\n")
		if !strings.Contains(got, "\r\n"+name+line+"\r\n") {
			t.Errorf("%s differs in\n%s", name, got)
		}
	}
}

// The callee sends a reliable 183 that nobody asked for: the caller gets a plain
// one, and the call goes on.
func TestTMR05_ReliableProvisionalThatNobodyAskedFor(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	b := w.take(pbx1Addr, "INVITE")
	if b.HasOption(sip.Supported, "100rel") {
		t.Error("we offer 100rel")
	}
	w.from(pbx1Addr, reply(b, 183, "x", answerSDP, "Require: 100rel\r\nRSeq: 7001\r\n"))
	if got := w.take(carrierAddr, "SIP/2.0 183"); got.Has(sip.Require) || got.Has(sip.RSeq) || string(got.Body()) != answerSDP {
		t.Errorf("the caller got\n%s", got.Raw())
	}
	w.from(pbx1Addr, reply(b, 200, "x", answerSDP))
	w.take(carrierAddr, "SIP/2.0 200")
}

// T.38 refused, then G.711: each offer and each answer crosses as it is.
func TestSDP06_OfferAfterARefusedOne(t *testing.T) {
	w := newWorld(t)
	b, ok := w.answeredCall()
	image := strings.Replace(offer, "m=audio 4000 RTP/AVP 0", "m=image 4000 udptl t38\r\na=T38FaxVersion:0", 1)
	w.from(pbx1Addr, calleeRequest(b, "callee", "INVITE", 7, "", image))
	re := w.take(carrierAddr, "INVITE")
	if string(re.Body()) != image {
		t.Errorf("the offer crossed as %q", re.Body())
	}
	w.from(carrierAddr, reply(re, 488, "caller", "", "Contact: <sip:bob@192.0.2.10:5060>\r\nWarning: 304 x \"no\"\r\n"))
	failed := w.take(pbx1Addr, "SIP/2.0 488")
	w.from(pbx1Addr, strings.Replace(ackFor(failed, "z9hG4bKcalleeINVITE7", ""), carrierAddr+";", pbx1Addr+";", 1))
	w.from(pbx1Addr, calleeRequest(b, "callee", "INVITE", 8, "", offer))
	re = w.take(carrierAddr, "INVITE")
	w.from(carrierAddr, reply(re, 200, "caller", answerSDP, "Contact: <sip:bob@192.0.2.10:5060>\r\n"))
	if got := w.take(pbx1Addr, "SIP/2.0 200"); string(got.Body()) != answerSDP {
		t.Errorf("the answer crossed as %q", got.Body())
	}
	_ = ok
}

// Hold, resume without a direction, resume without an offer: nothing is latched.
func TestSDP02_HoldAndResume(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	w.sent = nil
	for i, body := range []string{offer + "a=sendonly\r\n", offer, offer + "a=sendonly\r\n", ""} {
		w.from(carrierAddr, inside(ok, "INVITE", i+2, "", body))
		re := w.take(pbx1Addr, "INVITE")
		if string(re.Body()) != body {
			t.Errorf("cycle %d: the offer crossed as %q", i, re.Body())
		}
		w.from(pbx1Addr, reply(re, 200, "callee", answerSDP))
		got := w.take(carrierAddr, "SIP/2.0 200")
		if string(got.Body()) != answerSDP {
			t.Errorf("cycle %d: the answer crossed as %q", i, got.Body())
		}
		last := ""
		if body == "" {
			last = offer
		}
		w.from(carrierAddr, ackFor(got, "z9hG4bKack"+string(rune('a'+i)), last))
		if ack := w.take(pbx1Addr, "ACK"); string(ack.Body()) != last {
			t.Errorf("cycle %d: the ACK carries %q", i, ack.Body())
		}
	}
}

func TestCDR05_RecordOfACallThatBurnedTwoMembers(t *testing.T) {
	doc := document()
	doc.TrunkGroups[0].Members = append([]trunkgroup.MemberSpec{{ID: "dal-0", Site: "dallas", FQDN: "nowhere.example", Priority: 1}}, doc.TrunkGroups[0].Members...)
	for i := range doc.TrunkGroups[0].Members {
		doc.TrunkGroups[0].Members[i].Priority = i + 1
	}
	w := newWorldOf(t, "dal-1", "dallas", doc)
	w.from(carrierAddr, invite{body: offer}.String())
	w.advance(100 * time.Millisecond)
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 503, "x", ""))
	b := w.take(pbx2Addr, "INVITE")
	w.advance(time.Second)
	w.from(pbx2Addr, reply(b, 200, "y", answerSDP, "Contact: <sip:y@"+pbx2Addr+">\r\n"))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	r := w.records[0]
	want := []struct {
		member string
		dialed bool
		code   int
	}{{"dal-0", false, 503}, {"dal-1", true, 503}, {"dal-2", true, 200}}
	if len(r.Attempts) != len(want) {
		t.Fatalf("attempts %+v", r.Attempts)
	}
	for i, x := range want {
		if a := r.Attempts[i]; a.Member != x.member || a.Dialed != x.dialed || a.Code != x.code || a.N != i+1 || a.Site != "dallas" {
			t.Errorf("attempt %d: %+v", i, a)
		}
	}
	if r.EgressMember != "dal-2" || r.EgressCallID != string(b.CallID()) || r.Attempts[2].Elapsed != time.Second || r.Attempts[2].EgressCallID != r.EgressCallID {
		t.Errorf("winner %s %s, %+v", r.EgressMember, r.EgressCallID, r.Attempts[2])
	}
}

// RTX-05: nobody hands a call back, and Max-Forwards ends what goes round.
func TestRTX05_LoopsEnd(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	setDown(p.ash, "acme-in/ash-1")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 503")
	if n := p.invitesCrossed(); n != 1 {
		t.Errorf("%d INVITEs between the sites: %v", n, p.crossed)
	}
	w := newWorld(t)
	w.from(carrierAddr, strings.Replace(invite{body: offer}.String(), "Max-Forwards: 70", "Max-Forwards: 1", 1))
	if b := w.take(pbx1Addr, "INVITE"); b.MaxForwards() != 0 {
		t.Errorf("Max-Forwards %d", b.MaxForwards())
	}
	w.from(carrierAddr, strings.Replace(invite{body: offer, callID: "c2", branch: "z9hG4bKb"}.String(), "Max-Forwards: 70", "Max-Forwards: 0", 1))
	w.take(carrierAddr, "SIP/2.0 483")
}

// A long INVITE with several signed headers crosses whole and in order.
func TestIDN06_IdentityHeadersCrossUntouched(t *testing.T) {
	one, two := strings.Repeat("eyJ", 600)+";info=<https://a.example/x>;ppt=shaken", strings.Repeat("abc", 600)+";info=<https://b.example/y>;ppt=div"
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer, lines: "Identity: " + one + "\r\nIdentity: " + two + "\r\n"}.String())
	b := w.take(pbx1Addr, "INVITE")
	if !bytes.Contains(b.Raw(), []byte("Identity: "+one+"\r\nIdentity: "+two+"\r\n")) {
		t.Errorf("crossed as\n%s", b.Raw())
	}
}
