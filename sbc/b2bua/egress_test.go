package b2bua

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// ended returns the event of the end of the only call.
func (w *world) ended() Event {
	w.t.Helper()
	var found []Event
	for i := range w.events {
		if w.events[i].Kind == EventCallEnded {
			found = append(found, w.events[i])
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("%d calls have ended", len(found))
	}
	return found[0]
}

// D10: the end of a call names the member that answered it, and how long it lasted.
func TestD10_TheEndOfACallNamesWhoAnswered(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	w.advance(5 * time.Second)
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "BYE"), 200, "callee", ""))
	w.quiet()
	if e := w.ended(); e.Member == nil || e.Member.ID != "dal-1" || e.Value != 5 {
		t.Errorf("%+v", e)
	}
	w = newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 486, "x", ""))
	w.take(carrierAddr, "SIP/2.0 486")
	if e := w.ended(); e.Member != nil {
		t.Errorf("nobody answered: %+v", e)
	}
}

// DEC-17: what the calls of a carrier came to keeps no emergency call from it.
func TestD10_EmergencyCallsGoToBarredMembers(t *testing.T) {
	for _, called := range []string{"+13105550100", "911"} {
		w := emergencyWorld(t)
		for _, m := range w.table.Members() {
			if m.Group.Role == trunkgroup.PSTNProvider {
				w.view.Bar(m, trunkgroup.CauseQuality)
			}
		}
		w.from(pbx1Addr, emergencyCall(pbx1Addr, called))
		if called == "911" {
			w.take(carrierAddr, "INVITE")
			continue
		}
		w.none(carrierAddr, "INVITE")
		if r := w.records[0]; r.Attempts[0].Cause != "quality" || r.Attempts[0].Dialed {
			t.Errorf("%+v", r.Attempts)
		}
	}
}
