package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/fraud"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// boundedWorld is a world whose customer has a fraud section.
func boundedWorld(t *testing.T, spec trunkgroup.FraudSpec) *world {
	t.Helper()
	doc := document()
	doc.Customers = []trunkgroup.CustomerSpec{{Name: "acme", Fraud: &spec}}
	out := &doc.TrunkGroups[1]
	out.Customer, doc.TrunkGroups[0].Customer = "acme", "acme"
	out.Numbering.Preserve = []string{"911"}
	out.Credentials = digestDocument().TrunkGroups[3].Credentials
	doc.DoNotOriginate = []string{"+18005550100"}
	w := newWorldOf(t, "dal-1", "dallas", doc)
	w.s.cfg.Fraud = fraud.NewWatch()
	w.s.cfg.Fraud.SetTable(w.table)
	return w
}

// outCall is a call of the customer, known by its source.
func outCall(called, id string) invite {
	return invite{called: called, callID: id, branch: "z9hG4bK" + id, host: pbx1Addr, body: offer}
}

// refused takes a final failure and confirms it.
func (w *world) refused(code string, call invite) *sip.Message {
	w.t.Helper()
	w.from(pbx1Addr, call.String())
	w.take(pbx1Addr, "SIP/2.0 100")
	resp := w.take(pbx1Addr, "SIP/2.0 "+code)
	w.from(pbx1Addr, ackFor(resp, call.branch, ""))
	return resp
}

func TestFraudBlockIsA603WithItsReason(t *testing.T) {
	w := boundedWorld(t, trunkgroup.FraudSpec{
		Contact:      "https://example.com/blocked",
		Destinations: []trunkgroup.FraudDestinationSpec{{Name: "premium", Prefixes: []string{"+1900*"}}},
	})
	resp := w.refused("603", outCall("+19005550100", "p1"))
	if string(resp.Reason()) != "Network Blocked" {
		t.Errorf("phrase %q", resp.Reason())
	}
	if got := string(resp.Header(sip.Reason)); got != `Q.850;cause=21;text="v=analytics1;url=https://example.com/blocked"` {
		t.Errorf("Reason %q", got)
	}
	w.none(carrierAddr, "INVITE")
	if r := w.records[0]; r.HangupCause != "FRAUD_LIMIT" || r.SIPCode != 603 || r.Called != "+19005550100" {
		t.Errorf("record %+v", r)
	}
	w.advance(time.Minute)
	w.quiet()
}

func TestDEC17_EmergencyCallsPassEveryBound(t *testing.T) {
	w := boundedWorld(t, trunkgroup.FraudSpec{
		Destinations: []trunkgroup.FraudDestinationSpec{{Name: "everything", Prefixes: []string{"+1", "911"}}},
	})
	w.refused("603", outCall("+12125550100", "x1"))
	w.from(pbx1Addr, outCall("911", "e1").String())
	w.take(carrierAddr, "INVITE sip:911@")
}

func TestFraudCountsCallsAndMinutes(t *testing.T) {
	w := boundedWorld(t, trunkgroup.FraudSpec{Calls: trunkgroup.FraudWindowsSpec{Hour: 2}, Minutes: trunkgroup.FraudWindowsSpec{Hour: 30}})
	w.from(pbx1Addr, outCall("+12125550100", "c1").String())
	b := w.take(carrierAddr, "INVITE")
	w.from(carrierAddr, reply(b, 200, "callee", answerSDP))
	ok := w.take(pbx1Addr, "SIP/2.0 200")
	w.from(pbx1Addr, ackFor(ok, "z9hG4bKack", ""))
	w.advance(10 * time.Minute)
	usage := func() fraud.Usage { return w.s.cfg.Fraud.Usage(w.now, w.table)[0] }
	if u := usage(); u.HourCalls != 1 || u.HourMinutes != 10 {
		t.Errorf("while it is up: %+v", u)
	}
	w.from(pbx1Addr, inside(ok, "BYE", 2, "", ""))
	w.take(pbx1Addr, "SIP/2.0 200")
	bye := w.take(pbx1Addr, "BYE") // the Contact of these far ends
	w.from(carrierAddr, reply(bye, 200, "", ""))
	w.advance(10 * time.Minute)
	if u := usage(); u.HourMinutes != 10 {
		t.Errorf("after it: %+v", u)
	}
	w.from(pbx1Addr, outCall("+12125550100", "c2").String())
	w.take(carrierAddr, "INVITE")
	w.refused("603", outCall("+12125550100", "c3"))
}

func TestFraudChallengeWantsADigest(t *testing.T) {
	w := boundedWorld(t, trunkgroup.FraudSpec{
		Action: trunkgroup.FraudChallenge, Calls: trunkgroup.FraudWindowsSpec{Hour: 1},
	})
	w.from(pbx1Addr, outCall("+12125550100", "a1").String())
	w.take(carrierAddr, "INVITE")
	call := outCall("+12125550100", "a2")
	w.from(pbx1Addr, call.String())
	challenge := w.take(pbx1Addr, "SIP/2.0 401")
	w.from(pbx1Addr, ackFor(challenge, call.branch, ""))
	call.lines, call.seq, call.branch = authorize(t, challenge, "sip:+12125550100@203.0.113.1"), 2, "z9hG4bKa2b"
	w.from(pbx1Addr, call.String())
	w.take(pbx1Addr, "SIP/2.0 100")
	w.take(carrierAddr, "INVITE")
}

func TestDoNotOriginate(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"from": func(s string) string { return strings.Replace(s, "sip:+13105551234@", "sip:+18005550100@", 1) },
		"asserted": func(s string) string {
			return strings.Replace(s, "Max-Forwards", "P-Asserted-Identity: <sip:+18005550100@192.0.2.10>\r\nMax-Forwards", 1)
		},
		"asserted beside another": func(s string) string {
			return strings.Replace(s, "Max-Forwards", "P-Asserted-Identity: <sip:+12145550100@h>, <tel:+1-800-555-0100>\r\nMax-Forwards", 1)
		},
		"asserted in another header": func(s string) string {
			return strings.Replace(s, "Max-Forwards", "P-Asserted-Identity: <sip:+12145550100@h>\r\nP-Asserted-Identity: <sip:%2B18005550100@h>\r\nMax-Forwards", 1)
		},
		"preferred": func(s string) string {
			return strings.Replace(s, "Max-Forwards", "P-Preferred-Identity: <sip:+18005550100@h>\r\nMax-Forwards", 1)
		},
		"remote party": func(s string) string {
			return strings.Replace(s, "Max-Forwards", "Remote-Party-ID: <sip:1@h>;privacy=off, <sip:+18005550100@h>;privacy=off\r\nMax-Forwards", 1)
		},
	} {
		w := boundedWorld(t, trunkgroup.FraudSpec{})
		w.from(carrierAddr, change(invite{body: offer}.String()))
		w.take(carrierAddr, "SIP/2.0 100")
		resp := w.take(carrierAddr, "SIP/2.0 603")
		if string(resp.Reason()) != "Decline" || resp.Has(sip.Reason) {
			t.Errorf("%s: %s", name, resp.Raw())
		}
		w.none(pbx1Addr, "INVITE")
		if r := w.records[0]; r.HangupCause != "DO_NOT_ORIGINATE" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
