package b2bua

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The vectors of the sequence engine with real messages, driven by decided routes.

func TestV01_S003_S005_S032_CarrierAfterCarrier(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	first := w.takes(gatewayA, 503)
	second := w.takes(gatewayB, 200)
	if bytes.Equal(first.CallID(), second.CallID()) || bytes.Equal(first.FromTag(), second.FromTag()) || second.CSeq() != 1 {
		t.Error("S-003: each carrier's attempt is a dialog of its own")
	}
	r := w.ends(200, "a 503")
	if r.CarrierID != b || r.EgressGroup != b || r.RouteSource != "lcr" || r.EgressCallID != string(second.CallID()) {
		t.Errorf("S-100: %+v", r)
	}
	if r.Attempts[0].EgressCallID != string(first.CallID()) || r.Attempts[0].EgressCallID == r.EgressCallID {
		t.Errorf("S-005: attempts are told apart by their own Call-ID: %+v", r.Attempts)
	}
}

func TestV02_S034_BusyIsForwarded(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 486)
	w.none(gatewayB, "INVITE")
	w.ends(486, "a 486")
}

func TestV03_S033_C7_DeclineStopsWhateverIsListed(t *testing.T) {
	for _, first := range []trunkgroup.CarrierRoute{routeTo(a), causes(a, 603, 503)} {
		w := decided(t, carriers(), first, routeTo(b))
		w.from(customerAddr, vendorCall())
		w.takes(gatewayA, 603)
		w.none(gatewayB, "INVITE")
		w.ends(603, "a 603")
	}
}

func TestV04_S038_S039_Two503(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 503)
	w.takes(gatewayB, 503)
	w.ends(500, bothBad)
}

func TestV05_S039_RingOutOutranks503(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 100)
	w.advance(6 * time.Second)
	w.cancelled(gatewayA)
	w.takes(gatewayB, 503)
	w.ends(408, "a 408, b 503")
}

// cancelled lets a carrier confirm the CANCEL that it has got.
func (w *world) cancelled(addr string) {
	w.t.Helper()
	m := w.take(addr, "CANCEL")
	w.from(addr, reply(m, 200, "far", ""))
}

func TestV06_S040_S061_LastRangOutInSilence(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 503)
	w.takes(gatewayB, 100)
	w.advance(6 * time.Second)
	w.cancelled(gatewayB)
	if r := w.ends(503, "a 503, b 408"); r.SIPReason != "Service Unavailable" {
		t.Errorf("a 503 of our own: %q", r.SIPReason)
	}
}

func TestV07_S040_S063_LastRangPastItsBound(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 503)
	w.takes(gatewayB, 180)
	w.advance(30*time.Second - time.Millisecond)
	w.none(gatewayB, "CANCEL")
	w.advance(time.Millisecond)
	w.cancelled(gatewayB)
	w.ends(408, "a 503, b 408")
}

func TestV08_S063_RingsPastItsBound(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 183)
	w.advance(30 * time.Second)
	w.cancelled(gatewayA)
	w.none(gatewayB, "INVITE")
	w.ends(408, "a 408")
}

func TestV09_S064_FinalAfterProgress(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 180, 503)
	w.takes(gatewayB, 200)
	w.ends(200, "a 503")
}

func TestV10_S067_ProgressThatIsNotBelieved(t *testing.T) {
	w := decided(t, carriers(), onwards(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 183)
	w.advance(6 * time.Second)
	w.cancelled(gatewayA)
	w.takes(gatewayB, 200)
	w.ends(200, "a 408")
}

func TestV11_S043_S044_DownIsSkippedAtOnce(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	setDown(w, "carrier-a/a")
	w.from(customerAddr, vendorCall())
	w.takes(gatewayB, 200)
	w.none(gatewayA, "INVITE")
	r := w.ends(200, "a 503f")
	if r.Attempts[0].Cause != "disabled" || r.Attempts[0].Group != a || r.Attempts[0].Elapsed != 0 {
		t.Errorf("%+v", r.Attempts[0])
	}
}

func TestV12_S041_LastIsDown(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	setDown(w, "carrier-b/b")
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 500)
	w.ends(503, "a 500, b 503f")
}

func TestV13_S042_DownBeforeDoesNotCount(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	setDown(w, "carrier-a/a")
	w.from(customerAddr, vendorCall())
	w.takes(gatewayB, 503)
	w.ends(500, "a 503f, b 503")
}

func TestV14_S036_CausesOfTheRoute(t *testing.T) {
	w := decided(t, carriers(), causes(a, 404), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 404)
	w.takes(gatewayB, 200)
	w.ends(200, "a 404")
}

func TestV15_S035_NotFoundByDefault(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 404)
	w.ends(404, "a 404")
}

func TestV16_AllDown(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b), trunkgroup.CarrierRoute{CarrierID: "x"})
	setDown(w, "carrier-a/a", "carrier-b/b")
	w.from(customerAddr, vendorCall())
	w.ends(503, "a 503f, b 503f, x 503f")
}

func TestV17_S041_RangOutThenUndialable(t *testing.T) {
	w := decided(t, carriers(), onwards(a), routeTo(b))
	setDown(w, "carrier-b/b")
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 180)
	w.advance(6 * time.Second)
	w.cancelled(gatewayA)
	w.ends(503, "a 408, b 503f")
}

func TestV18_CallerCancelsACarrier(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	m := w.takes(gatewayA, 180)
	w.from(customerAddr, strings.Replace(vendorCall(), "INVITE", "CANCEL", 2))
	w.take(customerAddr, "SIP/2.0 200")
	w.cancelled(gatewayA)
	w.from(gatewayA, reply(m, 487, "far", ""))
	w.take(gatewayA, "ACK")
	w.none(gatewayB, "INVITE")
	w.ends(487, "")
}

func TestV19_S052_AnswerCrossesOurCancel(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.from(customerAddr, vendorCall())
	m := w.takes(gatewayA, 100)
	w.advance(6 * time.Second)
	w.take(gatewayA, "CANCEL")
	w.from(gatewayA, reply(m, 200, "far", answerSDP, "Contact: <sip:gw@"+gatewayA+">\r\n"))
	w.take(gatewayA, "ACK")
	bye := w.take(gatewayA, "BYE")
	w.from(gatewayA, reply(bye, 200, "far", ""))
	w.none(customerAddr, "SIP/2.0 200")
	w.takes(gatewayB, 200)
	w.ends(200, "a 408")
}

// V20, S-055: "401/407 from carrier answered with trunk credentials on the SAME member that issued the
// nonce and new branch+CSeq", and with the shape that it had.
func TestV20_S055_CarrierChallenges(t *testing.T) {
	doc := carriers(func(d *trunkgroup.Document) {
		d.TrunkGroups[1].Members = append(d.TrunkGroups[1].Members, trunkgroup.MemberSpec{ID: "a2", Site: "dallas", Address: gatewayA2})
		for i := range d.TrunkGroups[1].Members {
			d.TrunkGroups[1].Members[i].Account = &trunkgroup.AccountSpec{AOR: "sip:acme@carrier.example", Realm: "carrier.example", HA1MD5: strings.Repeat("0a", 16)}
		}
	})
	r := routeTo(a)
	r.TechPrefix = "1010288"
	w := decided(t, doc, r, routeTo(b))
	w.from(customerAddr, vendorCall())
	first := w.take(gatewayA, "INVITE")
	w.from(gatewayA, reply(first, 401, "far", "", "WWW-Authenticate: Digest realm=\"carrier.example\", nonce=\"n1\", qop=\"auth\"\r\n"))
	w.take(gatewayA, "ACK")
	second := w.take(gatewayA, "INVITE")
	if second.CSeq() != first.CSeq()+1 || bytes.Equal(second.Branch(), first.Branch()) || !bytes.Equal(second.CallID(), first.CallID()) ||
		!bytes.Equal(second.RequestURI(), first.RequestURI()) || !second.Has(sip.Authorization) {
		t.Errorf("the second INVITE:\n%s", second.Raw())
	}
	w.none(gatewayA2, "INVITE")
	w.says(gatewayA, second, 200)
	if rec := w.ends(200, ""); rec.CarrierID != a || rec.EgressMember != "a" {
		t.Errorf("%+v", rec)
	}
}
