package b2bua

import "testing"

// D10: a carrier whose calls do badly is passed over, recorded as not dialled, unless all of
// them do; what another plan demands is no matter of this one.
func TestD10_S049_CarrierIsPassedOver(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.view.BarredCarriers = map[string]string{"@lcr/" + a: "answer ratio 3 % of 80 calls is below 20 %", "@retail/" + b: "no"}
	w.from(customerAddr, vendorCall())
	w.takes(gatewayB, 200)
	w.none(gatewayA, "INVITE")
	if r := w.ends(200, "a 503f"); r.Attempts[0].Cause != "quality" {
		t.Errorf("%+v", r.Attempts[0])
	}
	events := 0
	for _, e := range w.events {
		if e.Kind == EventAttempt && e.Dialed {
			if events++; e.Carrier != b || e.Plan != "lcr" || e.Called == "" || !e.Rang {
				t.Errorf("%+v", e)
			}
		}
	}
	if events != 1 {
		t.Errorf("%d attempts counted", events)
	}
}

func TestD10_AllCarriersDoBadly(t *testing.T) {
	w := decided(t, carriers(), routeTo(a), routeTo(b))
	w.view.BarredCarriers = map[string]string{"@lcr/" + a: "bad", "@lcr/" + b: "worse"}
	w.from(customerAddr, vendorCall())
	w.takes(gatewayA, 503)
	w.takes(gatewayB, 200)
	w.ends(200, "a 503")
}
