package b2bua

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// DEC-24: an answered call is told at its answer with all that its record needs, and
// taken back after its record; the owner's version is above any survivor's.
func TestDEC24_AnsweredCallsAreTold(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	if len(w.ups) != 1 || len(w.downs) != 0 {
		t.Fatalf("%d ups, %d downs after the answer", len(w.ups), len(w.downs))
	}
	up := w.ups[0]
	if up.CallID == "" || up.Kind != cdr.KindCall || up.Answer.IsZero() || up.SIPCode != 200 || up.EgressMember != "dal-1" || len(up.Attempts) != 1 || !up.End.IsZero() {
		t.Errorf("told as %+v", up)
	}
	w.advance(time.Minute)
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	bye := w.take(pbx1Addr, "BYE")
	w.from(pbx1Addr, reply(bye, 200, "callee", ""))
	w.quiet()
	if len(w.ups) != 1 || len(w.downs) != 1 || w.downs[0] != up.CallID {
		t.Errorf("ups %d, downs %v", len(w.ups), w.downs)
	}
	r := w.records[0]
	if r.Version != cdr.OwnerVersion(0) || r.Version <= cdr.SurvivorVersion(0) || !r.Final || !r.Answer.Equal(up.Answer) || r.PDD != up.PDD {
		t.Errorf("record %+v", r)
	}
}

// A call that nobody answered is nobody else's business.
func TestDEC24_UnansweredCallsAreNotTold(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 486, "x", ""))
	w.take(carrierAddr, "SIP/2.0 486")
	if len(w.ups)+len(w.downs) != 0 || w.records[0].Version != 1 {
		t.Errorf("ups %d, downs %d, version %d", len(w.ups), len(w.downs), w.records[0].Version)
	}
}
