//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// chargedNode is a node whose customer is charged by CGRateS and whose calls go where a
// decision server says: to a carrier that refuses, then to one that answers.
type chargedNode struct {
	*solo
	ocs              *ocs
	refuses, answers *sim.FarEnd
}

func newChargedNode(t *testing.T, charging string) *chargedNode {
	t.Helper()
	c := &chargedNode{solo: newSolo(t)}
	c.ocs = startOCS(t, c.net+".30")
	c.refuses, c.answers = c.gateway("carrier-a", sim.Unavailable(), nil), c.gateway("carrier-b", sim.AnswersAtOnce(), nil)
	url := c.decisions(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"routes": [
			{"carrier_id": "A", "gateway_group": "carrier-a", "rate": 0.01, "currency": "USD"},
			{"carrier_id": "B", "gateway_group": "carrier-b", "rate": 0.60, "currency": "USD"}]}`)
	})
	c.begin(fmt.Sprintf(`cluster: survivors
sites: [{name: dallas}]
trunk_groups:
  - name: acme-out
    role: termination-customer
    sources: [{ip: 127.0.0.1}]
    route_plan: wholesale
    charging: %s
  - {name: carrier-a, role: pstn-provider, members: [{id: gw, site: dallas, address: "%s"}]}
  - {name: carrier-b, role: pstn-provider, members: [{id: gw, site: dallas, address: "%s"}]}
route_plans:
  - name: wholesale
    decision: {url: "%s"}
`, charging, c.refuses.Addr(0), c.answers.Addr(0), url), fmt.Sprintf(`diameter:
  origin_host: dal-1.example.com
  origin_realm: example.com
  peers: [{name: ocs, address: "%s.30:3868", host: ocs.example.com, realm: example.com}]
`, c.net))
	return c
}

// charged waits until the charging system has what it should of the account's one call.
func (c *chargedNode) charged() (online, offline ocsRecord) {
	c.t.Helper()
	eventually(c.t, 20*time.Second, "records of the charging system", func() error {
		by := c.ocs.records("acme")
		if len(by["tandem"]) != 1 || len(by["tandem-rf"]) != 1 {
			return fmt.Errorf("%+v", by)
		}
		online, offline = by["tandem"][0], by["tandem-rf"][0]
		return nil
	})
	return online, offline
}

// S-101, S-102: a prepaid call ends when the balance does. The record of the call, that of
// online charging and that of offline charging have the same seconds, and all name the
// carrier that answered. Then there is no credit, and nobody is dialled.
func TestS101_S102_PrepaidCallEndsWithTheBalance(t *testing.T) {
	t.Parallel()
	c := newChargedNode(t, `{online: true, offline: true, requested: 5s, account: acme}`)
	const balance = 12
	c.ocs.fund("acme", balance)
	r := c.call(pstnNumber, time.Minute)
	if r.Code != 200 || !strings.Contains(r.ByeReason, "cause=402") {
		t.Fatalf("%d, ended by %s: %s", r.Code, r.EndedBy, r.ByeReason)
	}
	line := c.line(r)
	if line.Seconds != balance || line.Cause != "CREDIT_LIMIT" || line.CarrierID != "B" || line.EgressGroup != "carrier-b" || line.Cost != 0.12 {
		t.Errorf("record %+v", line)
	}
	online, offline := c.charged()
	if got := [2]int{online.seconds(t), offline.seconds(t)}; got != [2]int{line.Seconds, line.Seconds} {
		t.Errorf("the call's record has %d s, Ro and Rf have %v", line.Seconds, got)
	}
	if online.OriginID != line.RoSession || offline.OriginID != line.RfSession {
		t.Errorf("sessions %s and %s, the record names %s and %s", online.OriginID, offline.OriginID, line.RoSession, line.RfSession)
	}
	if online.Cost != balance || c.ocs.balance("acme") != 0 {
		t.Errorf("cost %v, %v left", online.Cost, c.ocs.balance("acme"))
	}
	for _, x := range []ocsRecord{online, offline} {
		if x.ExtraFields["OutgoingTrunkGroup"] != "carrier-b" || x.Destination != pstnNumber {
			t.Errorf("%+v", x)
		}
	}
	dialled := c.answers.Account().Invites + c.refuses.Account().Invites
	if r := c.call(pstnNumber, time.Second); r.Code != 402 {
		t.Errorf("without credit the caller gets %d", r.Code)
	}
	if now := c.answers.Account().Invites + c.refuses.Account().Invites; now != dialled {
		t.Error("somebody was dialled without credit")
	}
}

// A caller who hangs up pays for what he used: the reserve comes back, and the three records
// agree on the second that had begun.
func TestS102_WhatWasNotUsedIsGivenBack(t *testing.T) {
	t.Parallel()
	c := newChargedNode(t, `{online: true, offline: true, requested: 30s, account: acme}`)
	c.ocs.fund("acme", 100)
	r := c.call(pstnNumber, 3500*time.Millisecond)
	if r.Code != 200 {
		t.Fatalf("%+v", r)
	}
	line := c.line(r)
	online, offline := c.charged()
	if used := line.Seconds; used < 4 || used > 8 || online.seconds(t) != used || offline.seconds(t) != used {
		t.Errorf("the call's record has %d s, Ro %s, Rf %s", used, online.Usage, offline.Usage)
	}
	if left := c.ocs.balance("acme"); left != float64(100-line.Seconds) {
		t.Errorf("%v left of 100 after %d s", left, line.Seconds)
	}
}
