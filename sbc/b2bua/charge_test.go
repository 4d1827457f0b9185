package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// chargeDesk is who charges the calls of a world: it writes down what it is told.
type chargeDesk struct {
	ticket   ChargeTicket
	refs     []uint64
	begun    []charging.Call
	answered []charging.Call
	ended    []charging.Call
}

func (w *world) Charge(ref uint64, _ *trunkgroup.Charging, call charging.Call) ChargeTicket {
	d := &w.charges
	d.refs, d.begun = append(d.refs, ref), append(d.begun, call)
	return d.ticket
}

func (w *world) ChargeAnswered(_ uint64, call charging.Call) {
	w.charges.answered = append(w.charges.answered, call)
}

func (w *world) ChargeEnded(_ uint64, call charging.Call) {
	w.charges.ended = append(w.charges.ended, call)
}

func chargedWorld(t *testing.T, spec trunkgroup.ChargingSpec) *world {
	t.Helper()
	doc := document()
	doc.TrunkGroups[0].Charging = &spec
	w := newWorldOf(t, "dal-1", "dallas", doc)
	w.charges.ticket = ChargeTicket{Key: 7, Online: "dal-1;1;3;x", Wait: 2 * time.Second}
	return w
}

func (w *world) credit(kind charging.ActionKind, why charging.Why, result uint32) {
	w.step(func() { w.s.Credit(w.now, w.charges.refs[0], Credit{Kind: kind, Why: why, Result: result}) })
}

// TestS102_ReservedBeforeConnect: nothing is dialled before there is credit; who answered is told, and the
// end has the record's own instants. Without credit both legs end.
func TestS102_ReservedBeforeConnect(t *testing.T) {
	w := chargedWorld(t, trunkgroup.ChargingSpec{Online: true})
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 100")
	if w.find(pbx1Addr, "INVITE") != nil || len(w.charges.begun) != 1 {
		t.Fatalf("dialled before there is credit:\n%s", w.trace())
	}
	w.advance(time.Second)
	w.credit(charging.Grant, 0, 2001)
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 180, "callee", ""))
	w.advance(5 * time.Second)
	w.from(pbx1Addr, reply(b, 200, "callee", answerSDP))
	ok := w.take(carrierAddr, "SIP/2.0 200")
	w.take(pbx1Addr, "ACK")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack", ""))
	if len(w.charges.answered) != 1 || w.charges.answered[0].Egress != "acme-in" || !w.charges.answered[0].Answered.Equal(w.now) {
		t.Fatalf("told of the answer: %+v", w.charges.answered)
	}
	w.advance(59*time.Second + 1)
	w.credit(charging.Teardown, charging.WhyCredit, 4012)
	for _, addr := range []string{pbx1Addr, carrierAddr} {
		if m := w.take(addr, "BYE"); !strings.Contains(string(m.Raw()), "Reason: SIP;cause=402") {
			t.Errorf("BYE to %s says nothing of credit", addr)
		}
	}
	if len(w.records) != 1 || len(w.charges.ended) != 1 {
		t.Fatalf("%d records, %d ends", len(w.records), len(w.charges.ended))
	}
	r, e := w.records[0], w.charges.ended[0]
	if !r.End.Equal(e.Ended) || !r.Answer.Equal(e.Answered) || charging.Seconds(e.Answered, e.Ended) != 60 || e.Why != charging.NoCredit {
		t.Errorf("the record has %s to %s, charging %+v", r.Answer, r.End, e)
	}
	if r.HangupCause != causeCredit || r.RoSession != "dal-1;1;3;x" || r.RoResult != 4012 {
		t.Errorf("record: cause %s, session %s, result %d", r.HangupCause, r.RoSession, r.RoResult)
	}
	if len(w.s.charges) != 0 {
		t.Error("the shard still has a charged call")
	}
}

// TestS102_Refused: denied_code without credit, 503 when nobody could be asked, and the same when nobody
// ends the wait; or the call goes on.
func TestS102_Refused(t *testing.T) {
	for _, c := range []struct {
		name string
		spec trunkgroup.ChargingSpec
		do   func(w *world)
		want string // to the caller; empty: it goes on
	}{
		{"no credit", trunkgroup.ChargingSpec{Online: true}, func(w *world) { w.credit(charging.Refuse, charging.WhyCredit, 4012) }, "SIP/2.0 402"},
		{"denied code", trunkgroup.ChargingSpec{Online: true, DeniedCode: 403}, func(w *world) { w.credit(charging.Refuse, charging.WhyCredit, 4012) }, "SIP/2.0 403"},
		{"nobody asked", trunkgroup.ChargingSpec{Online: true}, func(w *world) { w.credit(charging.Refuse, charging.WhyFailure, 0) }, "SIP/2.0 503"},
		{"nobody ends the wait", trunkgroup.ChargingSpec{Online: true}, func(w *world) { w.advance(4 * time.Second) }, "SIP/2.0 503"},
		{"nobody, continue", trunkgroup.ChargingSpec{Online: true, OnFailure: trunkgroup.ChargingContinue}, func(w *world) { w.advance(4 * time.Second) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := chargedWorld(t, c.spec)
			w.from(carrierAddr, invite{body: offer}.String())
			w.take(carrierAddr, "SIP/2.0 100")
			c.do(w)
			if c.want == "" {
				w.take(pbx1Addr, "INVITE")
				return
			}
			w.take(carrierAddr, c.want)
			if len(w.charges.ended) != 1 || len(w.s.charges)+len(w.s.waits) != 0 || w.find(pbx1Addr, "INVITE") != nil {
				t.Errorf("%d ends, %d charged, %d waits", len(w.charges.ended), len(w.s.charges), len(w.s.waits))
			}
		})
	}
}

// TestS102_EndsWhileItRings: credit that ends before the answer ends the hunt; a caller who gives up while he
// waits for credit leaves nothing.
func TestS102_EndsWhileItRings(t *testing.T) {
	w := chargedWorld(t, trunkgroup.ChargingSpec{Online: true})
	w.from(carrierAddr, invite{body: offer}.String())
	w.credit(charging.Grant, 0, 2001)
	b := w.take(pbx1Addr, "INVITE")
	w.from(pbx1Addr, reply(b, 180, "callee", ""))
	w.credit(charging.Teardown, charging.WhyCredit, 4012)
	w.take(pbx1Addr, "CANCEL")
	w.take(carrierAddr, "SIP/2.0 402")
	w.credit(charging.Teardown, charging.WhyCredit, 4012) // late: nobody is there
	if len(w.charges.ended) != 1 || len(w.s.charges) != 0 {
		t.Errorf("%d ends, %d charged", len(w.charges.ended), len(w.s.charges))
	}
	w = chargedWorld(t, trunkgroup.ChargingSpec{Online: true})
	w.from(carrierAddr, invite{body: offer}.String())
	w.from(carrierAddr, cancelOf(invite{body: offer}.String(), "INVITE"))
	w.credit(charging.Grant, 0, 2001)
	if w.find(pbx1Addr, "INVITE") != nil {
		t.Error("a call whose caller gave up is dialled")
	}
}

// TestS102_NotCharged: numbers that are free wait for nobody.
func TestS102_NotCharged(t *testing.T) {
	w := chargedWorld(t, trunkgroup.ChargingSpec{Online: true, Free: []string{"+1214555*"}})
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(pbx1Addr, "INVITE")
	if len(w.charges.begun) != 0 {
		t.Error("a free call is charged")
	}
}
