package b2bua

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// newFork is a world with a call that rings three PBXs at once, and their INVITEs.
func newFork(t *testing.T, body string, change func(g *trunkgroup.GroupSpec)) (w *world, inv map[string]*sip.Message) {
	t.Helper()
	w = newWorldOf(t, "dal-1", "dallas", pbxs(func(g *trunkgroup.GroupSpec) {
		g.Distribution.Method = trunkgroup.Parallel
		if change != nil {
			change(g)
		}
	}))
	w.from(carrierAddr, invite{body: body}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	inv = map[string]*sip.Message{}
	for _, addr := range []string{pbx1Addr, pbx2Addr, pbx3Addr} {
		if m := w.find(addr, "INVITE"); m != nil {
			inv[addr] = m
		}
	}
	return w, inv
}

// phone writes the response of a PBX that stands at an address.
func (w *world) phone(addr string, req *sip.Message, code int, tag, body string) string {
	return reply(req, code, tag, body, "Contact: <sip:pbx@"+addr+">\r\n")
}

// answers says an SDP answer that names who gave it.
func answers(addr string) string {
	return strings.ReplaceAll(answerSDP, "198.51.100.10", addr[:len(addr)-len(":5060")])
}

// K-20 algorithm 12: all are called at once, the first to answer has the call, the
// others hear that somebody else answered.
func TestK20_ParallelForkOneAnswers(t *testing.T) {
	w, inv := newFork(t, offer, nil)
	if len(inv) != 3 {
		t.Fatalf("%d were called", len(inv))
	}
	for _, addr := range []string{pbx1Addr, pbx2Addr} {
		w.from(addr, w.phone(addr, inv[addr], 180, "far", ""))
		w.take(carrierAddr, "SIP/2.0 180")
	}
	w.from(pbx2Addr, w.phone(pbx2Addr, inv[pbx2Addr], 200, "far", answers(pbx2Addr)))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.take(pbx2Addr, "ACK")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	cancel := w.take(pbx1Addr, "CANCEL")
	if got := string(cancel.Header(sip.Reason)); got != `SIP;cause=200;text="Call completed elsewhere"` {
		t.Errorf("the CANCEL says %q", got)
	}
	w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 487, "far", ""))
	w.take(pbx1Addr, "ACK")
	w.none(pbx3Addr, "CANCEL") // RFC 3261 9.1: it has said nothing yet
	w.from(pbx3Addr, w.phone(pbx3Addr, inv[pbx3Addr], 100, "", ""))
	w.take(pbx3Addr, "CANCEL")
	w.from(pbx3Addr, w.phone(pbx3Addr, inv[pbx3Addr], 487, "far", ""))
	w.take(pbx3Addr, "ACK")
	if len(w.blame) > 0 {
		t.Errorf("who was slower is evidence: %v", w.blame)
	}
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	bye := w.take(pbx2Addr, "BYE")
	w.from(pbx2Addr, reply(bye, 200, "far", ""))
	w.quiet()
	r := w.records[0]
	if got := attemptsOf(r); got != "p1 0 answered_elsewhere, p2 200, p3 0 answered_elsewhere" {
		t.Error(got)
	}
	if r.EgressMember != "p2" || r.EgressCallID != string(inv[pbx2Addr].CallID()) || r.HangupParty != "caller" {
		t.Errorf("the record says %s %s %s", r.EgressMember, r.EgressCallID, r.HangupParty)
	}
}

// A 2xx that crosses with the winner's is hung up: no call is answered twice.
func TestForkAnswersRace(t *testing.T) {
	for name, body := range map[string]string{"offer": offer, "late offer": ""} {
		t.Run(name, func(t *testing.T) {
			w, inv := newFork(t, body, nil)
			order := []string{pbx3Addr, pbx1Addr, pbx2Addr}
			for _, addr := range order {
				w.from(addr, w.phone(addr, inv[addr], 200, "far", answers(addr)))
			}
			ok := w.take(carrierAddr, "SIP/2.0 200")
			w.none(carrierAddr, "SIP/2.0 200")
			if !strings.Contains(string(ok.Body()), "198.51.100.12") {
				t.Errorf("the caller has the answer of another one:\n%s", ok.Body())
			}
			w.from(carrierAddr, ackFor(ok, "z9hG4bKack", strings.Repeat(offer, min(1, 1-len(body)/len(offer)))))
			for _, addr := range order {
				w.take(addr, "ACK")
			}
			w.none(pbx3Addr, "BYE")
			for _, addr := range order[1:] {
				bye := w.take(addr, "BYE")
				w.from(addr, reply(bye, 200, "far", ""))
			}
			if n := len(w.ups); n != 1 {
				t.Errorf("%d calls are up", n)
			}
			w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
			bye := w.take(pbx3Addr, "BYE")
			w.from(pbx3Addr, reply(bye, 200, "far", ""))
			w.quiet()
			if len(w.records) != 1 || w.records[0].EgressMember != "p3" {
				t.Errorf("%d records, the first says %s", len(w.records), w.records[0].EgressMember)
			}
		})
	}
}

// DEC-01: once an SDP answer went to the caller under a tag, what comes of another
// far end shows under a tag of its own, also when it rang under that one before.
func TestDEC01_ForkTags(t *testing.T) {
	w, inv := newFork(t, offer, nil)
	say := func(addr string, code int, body string) string {
		w.from(addr, w.phone(addr, inv[addr], code, "far", body))
		return string(w.take(carrierAddr, "SIP/2.0 "+map[int]string{180: "180", 183: "183", 200: "200"}[code]).ToTag())
	}
	rings1 := say(pbx1Addr, 180, "")
	rings2 := say(pbx2Addr, 183, answers(pbx2Addr))
	if rings1 != rings2 {
		t.Error("without an SDP there is one tag")
	}
	rings3 := say(pbx3Addr, 183, answers(pbx3Addr))
	if rings3 == rings2 {
		t.Error("two SDP answers under one tag")
	}
	if again := say(pbx2Addr, 180, ""); again != rings2 {
		t.Error("an early dialog changed its tag")
	}
	if answer := say(pbx1Addr, 200, answers(pbx1Addr)); answer == rings2 || answer == rings3 {
		t.Error("the answer came under the tag of another one's SDP")
	}
	w.take(pbx1Addr, "ACK")
	w.take(pbx2Addr, "CANCEL")
	w.take(pbx3Addr, "CANCEL")
}

// An answer of an early dialog beyond those that are told apart has no tag under
// which another one's SDP went out.
func TestDEC01_AnswerBeyondTheTagsThatAreKept(t *testing.T) {
	w, inv := newFork(t, offer, nil)
	seen := map[string]bool{}
	for i := range maxForks + 3 {
		w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 183, "far"+strconv.Itoa(i), answers(pbx1Addr)))
		seen[string(w.take(carrierAddr, "SIP/2.0 183").ToTag())] = true
	}
	if len(seen) != maxForks {
		t.Errorf("%d tags for %d early dialogs", len(seen), maxForks+3)
	}
	w.from(pbx2Addr, w.phone(pbx2Addr, inv[pbx2Addr], 200, "far", answers(pbx2Addr)))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	if seen[string(ok.ToTag())] {
		t.Error("the answer came under the tag of another one's SDP")
	}
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	bye := w.take(pbx2Addr, "BYE")
	w.from(pbx2Addr, reply(bye, 200, "far", ""))
	w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 487, "far", ""))
	w.quiet()
}

// RFC 3261 16.7: a 6xx speaks for all places; the others are given up.
func TestForkDeclined(t *testing.T) {
	w, inv := newFork(t, offer, nil)
	w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 180, "far", ""))
	w.from(pbx3Addr, w.phone(pbx3Addr, inv[pbx3Addr], 486, "far", ""))
	w.none(carrierAddr, "SIP/2.0 486")
	w.from(pbx2Addr, w.phone(pbx2Addr, inv[pbx2Addr], 603, "far", ""))
	w.take(carrierAddr, "SIP/2.0 603")
	if cancel := w.take(pbx1Addr, "CANCEL"); cancel.Has(sip.Reason) {
		t.Error("nobody has answered elsewhere")
	}
	w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 487, "far", ""))
	w.quiet()
	if got := attemptsOf(w.records[0]); got != "p1 0 declined_elsewhere, p2 603, p3 486" {
		t.Error(got)
	}
}

// A busy phone waits while another rings; then it is what the caller hears.
func TestForkBusyWaits(t *testing.T) {
	w, inv := newFork(t, offer, nil)
	w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 486, "far", ""))
	w.from(pbx2Addr, w.phone(pbx2Addr, inv[pbx2Addr], 180, "far", ""))
	w.from(pbx3Addr, w.phone(pbx3Addr, inv[pbx3Addr], 503, "far", ""))
	w.none(carrierAddr, "SIP/2.0 486")
	w.from(pbx2Addr, w.phone(pbx2Addr, inv[pbx2Addr], 480, "far", ""))
	w.take(carrierAddr, "SIP/2.0 486")
	w.quiet()
}

// The caller's CANCEL stops all phones.
func TestForkCancelled(t *testing.T) {
	w, inv := newFork(t, offer, nil)
	w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 180, "far", ""))
	w.from(pbx2Addr, w.phone(pbx2Addr, inv[pbx2Addr], 100, "", ""))
	w.from(carrierAddr, cancelOf(invite{body: offer}.String(), "INVITE"))
	w.take(carrierAddr, "SIP/2.0 487")
	for _, addr := range []string{pbx1Addr, pbx2Addr} {
		w.take(addr, "CANCEL")
		w.from(addr, w.phone(addr, inv[addr], 487, "far", ""))
	}
	w.none(pbx3Addr, "CANCEL")
	w.from(pbx3Addr, w.phone(pbx3Addr, inv[pbx3Addr], 200, "far", answers(pbx3Addr))) // it crossed
	w.take(pbx3Addr, "ACK")
	bye := w.take(pbx3Addr, "BYE")
	w.from(pbx3Addr, reply(bye, 200, "far", ""))
	w.quiet()
	if got := attemptsOf(w.records[0]); got != "p1 0 cancelled, p2 0 cancelled, p3 0 cancelled" {
		t.Error(got)
	}
}

// Tiers: the next priority is called when nobody of the first has answered or had
// the last word.
func TestForkTiers(t *testing.T) {
	w, inv := newFork(t, offer, func(g *trunkgroup.GroupSpec) { g.Members[2].Priority = 1 })
	if inv[pbx3Addr] != nil || len(inv) != 2 {
		t.Fatalf("%d were called at once", len(inv))
	}
	w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 503, "far", ""))
	w.advance(4 * time.Second) // the other one says nothing
	third := w.take(pbx3Addr, "INVITE")
	w.from(pbx3Addr, w.phone(pbx3Addr, third, 404, "far", ""))
	w.take(carrierAddr, "SIP/2.0 404")
	w.quiet()
	if want := []string{"acme-in/p2 no_response"}; !slices.Equal(w.blame, want) {
		t.Errorf("evidence %v, want %v", w.blame, want)
	}
}

// Each branch counts at its own member, and one that is full is left out.
func TestForkLimits(t *testing.T) {
	w, inv := newFork(t, offer, nil)
	if n := w.used(); n != 3 {
		t.Fatalf("%d calls are counted while three ring", n)
	}
	w.from(pbx1Addr, w.phone(pbx1Addr, inv[pbx1Addr], 200, "far", answers(pbx1Addr)))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	if n := w.used(); n != 1 {
		t.Fatalf("%d calls are counted when one has answered and the others had not spoken", n)
	}
	full := w.limits.Meter(limit.Key{Kind: limit.Calls, Scope: limit.Member, Name: "acme-in/p1"})
	full.SetShare(1)
	w.from(carrierAddr, invite{callID: "two", branch: "z9hG4bKtwo", body: offer}.String())
	w.none(pbx1Addr, "INVITE")
	for _, addr := range []string{pbx2Addr, pbx3Addr} {
		m := w.take(addr, "INVITE")
		w.from(addr, w.phone(addr, m, 486, "far", ""))
	}
	w.none(carrierAddr, "SIP/2.0 486") // a share of the limit may yet come
	w.advance(600 * time.Millisecond)
	w.stepQueue()
	w.take(carrierAddr, "SIP/2.0 486")
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	bye := w.take(pbx1Addr, "BYE")
	w.from(pbx1Addr, reply(bye, 200, "far", ""))
	w.quiet()
	for _, r := range w.records {
		if r.SIPCallID == "two" && attemptsOf(r) != "p1 503 capacity, p2 486, p3 486" {
			t.Error(attemptsOf(r))
		}
	}
}

// used is how many calls members count.
func (w *world) used() (n int) {
	for k, m := range w.limits.All() {
		if k.Kind == limit.Calls && k.Scope == limit.Member {
			_, used := m.Read()
			n += used
		}
	}
	return n
}
