package b2bua

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// handedOver sets a hand-off up to where the peer's PBX is rung.
func handedOverCall(t *testing.T) (p *twoSites, b *sip.Message) {
	t.Helper()
	p = newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.exchange()
	b = p.ash.take(ashPBX, "INVITE")
	p.ash.from(ashPBX, reply(b, 180, "x", "", "Contact: <sip:pbx@198.51.100.74:5060>\r\n"))
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 180")
	return p, b
}

// answeredOver goes on until the call is up over both sites.
func answeredOver(t *testing.T) (p *twoSites, b, ok *sip.Message) {
	t.Helper()
	p, b = handedOverCall(t)
	p.ash.from(ashPBX, reply(b, 200, "x", answerSDP, "Contact: <sip:pbx@198.51.100.74:5060>\r\n"))
	p.exchange()
	ok = p.dal.take(carrierAddr, "SIP/2.0 200")
	p.dal.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	p.exchange()
	p.ash.take(ashPBX, "ACK")
	return p, b, ok
}

func (p *twoSites) lose(w *world, node string) {
	w.down[node] = true
	w.s.NodeLost(w.now, node)
}

func TestDEC21_PeerDiesWhileItRings(t *testing.T) {
	p, _ := handedOverCall(t)
	p.lose(p.dal, "ash-1")
	p.dal.take(carrierAddr, "SIP/2.0 503")
	p.dal.quiet()
	if len(p.dal.records) != 1 {
		t.Errorf("%d records", len(p.dal.records))
	}
}

func TestDEC21_PeerDiesBeforeItSpeaks(t *testing.T) {
	p := newTwoSites(t)
	setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
	p.dal.peers = append(p.dal.peers, geo.PeerNode{Name: "ash-2", Site: "ashburn", Fresh: true, RTT: 31 * time.Millisecond})
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.dal.take("ash-1", "INVITE")
	p.lose(p.dal, "ash-1")
	p.dal.take("ash-2", "INVITE") // without the wait of a silent node
}

// The stream was lost for a moment only: what the peer has done meanwhile is
// undone, not left to its timers (DEC-02).
func TestDEC21_PeerAnswersAfterItsStreamWasLost(t *testing.T) {
	p, b := handedOverCall(t)
	p.lose(p.dal, "ash-1")
	p.dal.take(carrierAddr, "SIP/2.0 503")
	delete(p.dal.down, "ash-1")
	p.ash.from(ashPBX, reply(b, 200, "x", answerSDP, "Contact: <sip:pbx@198.51.100.74:5060>\r\n"))
	p.exchange()
	bye := p.ash.take(ashPBX, "BYE")
	p.ash.from(ashPBX, reply(bye, 200, "x", ""))
	p.exchange()
	p.dal.quiet()
	p.ash.quiet()
}

func TestDEC21_OriginDiesWhileThePeerRings(t *testing.T) {
	p, b := handedOverCall(t)
	p.lose(p.ash, "dal-1")
	cancel := p.ash.take(ashPBX, "CANCEL")
	p.ash.from(ashPBX, reply(cancel, 200, "x", ""))
	p.ash.from(ashPBX, reply(b, 487, "x", ""))
	p.ash.quiet()
	if len(p.ash.records) != 1 {
		t.Errorf("%d records", len(p.ash.records))
	}
}

// A call that is up outlives a cut of a minute; then the half whose other half
// has gone ends, on both sides.
func TestDEC24_OtherHalfGoneForAMinuteEndsTheCall(t *testing.T) {
	p, _, ok := answeredOver(t)
	p.lose(p.dal, "ash-1")
	p.lose(p.ash, "dal-1")
	for _, w := range []*world{p.dal, p.ash} {
		w.lost = w.now
		w.advance(59 * time.Second)
		w.none(carrierAddr, "BYE")
		w.none(ashPBX, "BYE")
		w.advance(12 * time.Second)
	}
	bye := p.dal.take(carrierAddr, "BYE")
	p.dal.from(carrierAddr, reply(bye, 200, "caller", ""))
	bye = p.ash.take(ashPBX, "BYE")
	p.ash.from(ashPBX, reply(bye, 200, "x", ""))
	p.dal.quiet()
	p.ash.quiet()
	if got := p.dal.records[0].HangupCause; got != causePeerLost {
		t.Errorf("cause %s", got)
	}
	_ = ok
}

func TestDEC09_OtherHalfRestartedEndsTheCall(t *testing.T) {
	p, _, _ := answeredOver(t)
	p.dal.boots = map[string]uint32{"ash-1": 2}
	p.dal.advance(12 * time.Second)
	p.dal.take(carrierAddr, "BYE")
}

// A blip of the link is no reason to end a call, whatever was asked meanwhile.
func TestDEC09_RequestWhileTheOtherHalfIsAway(t *testing.T) {
	for _, method := range []string{"INVITE", "UPDATE", "INFO"} {
		p, _, ok := answeredOver(t)
		p.dal.from(carrierAddr, inside(ok, method, 2, "", offer))
		p.lose(p.dal, "ash-1")
		if got := p.dal.take(carrierAddr, "SIP/2.0 500"); !got.Has(sip.RetryAfter) {
			t.Errorf("%s: no Retry-After", method)
		}
		p.dal.none(carrierAddr, "BYE")
		delete(p.dal.down, "ash-1")
		p.dal.advance(30 * time.Second)
		p.dal.none(carrierAddr, "BYE")
	}
}

// The BYE between the halves must arrive: it is sent again until it is answered.
func TestDEC09_ByeWhileTheOtherHalfIsAway(t *testing.T) {
	p, _, ok := answeredOver(t)
	p.dal.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	p.dal.take(carrierAddr, "SIP/2.0 200")
	p.dal.take("ash-1", "BYE") // and is lost with the stream
	p.lose(p.dal, "ash-1")
	p.dal.advance(10 * time.Second)
	delete(p.dal.down, "ash-1")
	p.dal.sent = nil
	p.dal.advance(5 * time.Second)
	p.exchange()
	bye := p.ash.take(ashPBX, "BYE")
	p.ash.from(ashPBX, reply(bye, 200, "x", ""))
	p.exchange()
	p.dal.quiet()
	p.ash.quiet()
}

// DEC-24: the origin's record holds the peer's attempts, also when the caller
// gave up meanwhile.
func TestDEC24_AttemptsOfThePeerAfterACancel(t *testing.T) {
	p, b := handedOverCall(t)
	p.dal.from(carrierAddr, strings.Replace(invite{}.String(), "INVITE", "CANCEL", 2))
	p.dal.take(carrierAddr, "SIP/2.0 487")
	at := p.dal.now
	p.dal.advance(100 * time.Millisecond)
	p.exchange()
	p.ash.from(ashPBX, reply(p.ash.take(ashPBX, "CANCEL"), 200, "x", ""))
	p.ash.from(ashPBX, reply(b, 487, "x", ""))
	p.exchange()
	if len(p.dal.records) != 1 {
		t.Fatalf("%d records", len(p.dal.records))
	}
	r := p.dal.records[0]
	if len(r.Attempts) != 3 || r.Attempts[2].Site != "ashburn" || !r.Attempts[2].Dialed {
		t.Errorf("attempts %+v", r.Attempts)
	}
	if !r.End.Equal(at) {
		t.Errorf("ended %v, want %v: when the caller got his final", r.End, at)
	}
	p.dal.quiet()
	p.ash.quiet()
}

// The record does not wait for a peer that says nothing any more.
func TestDEC24_RecordWithoutThePeersWord(t *testing.T) {
	for name, silent := range map[string]func(p *twoSites){
		"lost":   func(p *twoSites) { p.lose(p.dal, "ash-1") },
		"silent": func(p *twoSites) { p.dal.advance(33 * time.Second) },
	} {
		p, _ := handedOverCall(t)
		p.dal.from(carrierAddr, strings.Replace(invite{}.String(), "INVITE", "CANCEL", 2))
		silent(p)
		if len(p.dal.records) != 1 {
			t.Errorf("%s: %d records", name, len(p.dal.records))
		}
		p.dal.quiet()
	}
}

// DEC-02 between the sites: an answer that crosses the CANCEL is hung up once.
func TestDEC02_PeersAnswerCrossesTheCancel(t *testing.T) {
	p, b := handedOverCall(t)
	p.ash.from(ashPBX, reply(b, 200, "x", answerSDP, "Contact: <sip:pbx@198.51.100.74:5060>\r\n"))
	p.dal.from(carrierAddr, strings.Replace(invite{}.String(), "INVITE", "CANCEL", 2))
	p.exchange()
	p.dal.take(carrierAddr, "SIP/2.0 487")
	bye := p.ash.take(ashPBX, "BYE")
	p.ash.from(ashPBX, reply(bye, 200, "x", ""))
	byes := 0
	for _, line := range p.crossed {
		if strings.HasPrefix(line, "dal-1 BYE") {
			byes++
		}
	}
	if byes != 1 {
		t.Errorf("%d BYEs crossed, want 1: %v", byes, p.crossed)
	}
	p.advance(time.Second)
	p.dal.quiet()
	p.ash.quiet()
	if len(p.dal.records) != 1 || !p.dal.records[0].Answer.IsZero() {
		t.Errorf("records %+v", p.dal.records)
	}
}

// DEC-01 over a hand-off: what are two answers at the peer are two dialogs to the
// caller, and what follows reaches the one that won.
func TestDEC01_EarlyMediaOfForksOverAHandOff(t *testing.T) {
	p, b := handedOverCall(t)
	p.ash.from(ashPBX, reply(b, 183, "x", answerSDP, "Contact: <sip:x@198.51.100.74:5060>\r\n"))
	p.exchange()
	early := p.dal.take(carrierAddr, "SIP/2.0 183")
	p.ash.from(ashPBX, reply(b, 183, "y", answerSDP, "Contact: <sip:y@198.51.100.74:5060>\r\n"))
	p.exchange()
	other := p.dal.take(carrierAddr, "SIP/2.0 183")
	p.ash.from(ashPBX, reply(b, 180, "x", "", "Contact: <sip:x@198.51.100.74:5060>\r\n"))
	p.exchange()
	again := p.dal.take(carrierAddr, "SIP/2.0 180")
	if string(early.ToTag()) == string(other.ToTag()) || string(early.ToTag()) != string(again.ToTag()) {
		t.Errorf("tags %s, %s, %s", early.ToTag(), other.ToTag(), again.ToTag())
	}
	p.ash.from(ashPBX, reply(b, 200, "y", answerSDP, "Contact: <sip:y@198.51.100.74:5060>\r\n"))
	p.exchange()
	ok := p.dal.take(carrierAddr, "SIP/2.0 200")
	if string(ok.ToTag()) != string(other.ToTag()) {
		t.Errorf("the answer has tag %s, its early dialog had %s", ok.ToTag(), other.ToTag())
	}
	p.dal.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	p.exchange()
	p.ash.take(ashPBX, "ACK")
	p.ash.from(ashPBX, strings.ReplaceAll(calleeRequest(b, "y", "BYE", 7, "", ""), pbx1Addr, ashPBX))
	p.exchange()
	bye := p.dal.take(carrierAddr, "BYE")
	if string(bye.FromTag()) != string(ok.ToTag()) {
		t.Errorf("BYE from tag %s", bye.FromTag())
	}
	p.dal.from(carrierAddr, reply(bye, 200, "caller", ""))
	p.exchange()
	p.dal.quiet()
	p.ash.quiet()
}

// A port is closed for one datagram and open for the next: who starts just then
// rings, and is cancelled when it says so (DEC-02).
func TestDEC02_FarEndThatStartsBehindAnICMPIsCancelled(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	var ref uint64
	for _, x := range w.sent {
		if x.dest() == pbx1Addr {
			ref = x.ref
		}
	}
	b := w.take(pbx1Addr, "INVITE")
	w.step(func() { w.s.Failed(w.now, ref, &transport.ICMPError{Errno: syscall.ECONNREFUSED}) })
	w.take(pbx2Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 180, "late", ""))
	cancel := w.take(pbx1Addr, "CANCEL")
	w.none(carrierAddr, "SIP/2.0 180")
	w.from(pbx1Addr, reply(cancel, 200, "late", ""))
	w.from(pbx1Addr, reply(b, 487, "late", ""))
	w.take(pbx1Addr, "ACK")
}
