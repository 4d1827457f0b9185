//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// chargedNode is one node on the loopback of this machine whose customers are charged by
// CGRateS and whose calls go where a decision server says.
type chargedNode struct {
	*survivors
	node    *survivor
	ocs     *ocs
	reject  *sim.FarEnd // carrier-a
	answers *sim.FarEnd // carrier-b
	origin  string      // the Diameter host of the node
}

// chargedLine is what these tests read of a record.
type chargedLine struct {
	CallID      string `json:"call_id"`
	Code        int    `json:"sip_code"`
	Cause       string `json:"hangup_cause"`
	Seconds     int    `json:"billsec"`
	CarrierID   string `json:"carrier_id"`
	EgressGroup string `json:"egress_group"`
	Cost        string `json:"cost"`
	RoSession   string `json:"ro_session_id"`
	RfSession   string `json:"rf_session_id"`
	Attempts    []struct {
		CarrierID string `json:"carrier_id"`
		Dialed    bool   `json:"dialed"`
	} `json:"attempts"`
}

func newChargedNode(t *testing.T, charging string) *chargedNode {
	t.Helper()
	net := fmt.Sprintf("127.%d.%d", 99+survivorNets.Add(1), 1+os.Getpid()%250)
	gateway := func(name string, b sim.Behaviour) *sim.FarEnd {
		far, err := sim.StartFarEnd(sim.FarEndConfig{
			CalleeConfig: sim.CalleeConfig{Name: name, Role: sim.Carrier, Behaviour: b},
			Listen:       []sim.Listen{{Addr: netip.MustParseAddrPort(net + ".20:0")}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = far.Close() })
		return far
	}
	decisions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"routes": [
			{"carrier_id": "A", "gateway_group": "carrier-a", "rate": 0.01, "currency": "USD"},
			{"carrier_id": "B", "gateway_group": "carrier-b", "rate": 0.60, "currency": "USD"}]}`)
	}))
	t.Cleanup(decisions.Close)
	c := &chargedNode{
		survivors: &survivors{t: t, dir: t.TempDir(), nodes: map[string]*survivor{}},
		ocs:       startOCS(t, net+".30"),
		reject:    gateway("carrier-a", sim.Unavailable()), answers: gateway("carrier-b", sim.AnswersAtOnce()),
		origin: "dal-1.example.com",
	}
	c.node = &survivor{name: "dal-1", site: "dallas", ip: net + ".1", dir: filepath.Join(c.dir, "dal-1")}
	c.nodes["dal-1"] = c.node
	c.write("cluster.key", strings.Repeat("cd", 32))
	c.write("cluster.yaml", fmt.Sprintf(`cluster: survivors
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
    decision: {url: "%s/route"}
`, charging, c.reject.Addr(0), c.answers.Addr(0), decisions.URL))
	c.write("dal-1.yaml", c.nodeFile(c.node)+fmt.Sprintf(`diameter:
  origin_host: %s
  origin_realm: example.com
  peers: [{name: ocs, address: "%s.30:3868", host: ocs.example.com, realm: example.com}]
`, c.origin, net))
	c.start(c.node)
	c.ready(c.node)
	return c
}

// call places a call of the customer and returns what the caller saw.
func (c *chargedNode) call(hold time.Duration) *sim.CallRecord {
	c.t.Helper()
	load, err := sim.NewLoad(sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: netip.MustParseAddrPort(c.node.ip + ":5060")}}},
		Rate:         100, Calls: 1, Hold: hold, To: []string{pstnNumber}, KeepAll: true,
		Local: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	defer load.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	r, err := load.Run(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(r.Calls) != 1 {
		c.t.Fatalf("%d calls", len(r.Calls))
	}
	return &r.Calls[0]
}

// lines are the node's records.
func (c *chargedNode) lines() []chargedLine {
	return linesOf[chargedLine](c.t, filepath.Join(c.node.dir, "cdr.jsonl"))
}

// S-101, S-102: a prepaid call ends when the balance does. The record of the call, that of
// online charging and that of offline charging have the same seconds, and all name the
// carrier that answered. Then there is no credit, and nobody is dialled.
func TestS101_S102_PrepaidCallEndsWithTheBalance(t *testing.T) {
	t.Parallel()
	c := newChargedNode(t, `{online: true, offline: true, requested: 5s, account: acme}`)
	const balance = 12
	c.ocs.fund("acme", balance)
	r := c.call(time.Minute)
	if r.Code != 200 || !strings.Contains(r.ByeReason, "cause=402") {
		t.Fatalf("%d, ended by %s: %s", r.Code, r.EndedBy, r.ByeReason)
	}
	var line chargedLine
	eventually(t, 10*time.Second, "the record", func() error {
		list := c.lines()
		if len(list) != 1 {
			return fmt.Errorf("%d records", len(list))
		}
		line = list[0]
		return nil
	})
	if line.Seconds != balance || line.Cause != "CREDIT_LIMIT" || line.CarrierID != "B" || line.EgressGroup != "carrier-b" {
		t.Errorf("record %+v", line)
	}
	if line.Cost != "0.12" && line.Cost != "0.120000" {
		t.Errorf("12 s at 0.60 a minute cost %q", line.Cost)
	}
	var by map[string][]ocsRecord
	eventually(t, 20*time.Second, "records of the charging system", func() error {
		if by = c.ocs.records("acme"); len(by["tandem"]) != 1 || len(by["tandem-rf"]) != 1 {
			return fmt.Errorf("%+v", by)
		}
		return nil
	})
	online, offline := by["tandem"][0], by["tandem-rf"][0]
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
	dialled := c.answers.Account().Invites + c.reject.Account().Invites
	if r := c.call(time.Second); r.Code != 402 {
		t.Errorf("without credit the caller gets %d", r.Code)
	}
	if now := c.answers.Account().Invites + c.reject.Account().Invites; now != dialled {
		t.Error("somebody was dialled without credit")
	}
}

// A caller who hangs up pays for what he used: the reserve comes back, and the three records
// agree on the second that had begun.
func TestS102_WhatWasNotUsedIsGivenBack(t *testing.T) {
	t.Parallel()
	c := newChargedNode(t, `{online: true, offline: true, requested: 30s, account: acme}`)
	c.ocs.fund("acme", 100)
	if r := c.call(3500 * time.Millisecond); r.Code != 200 {
		t.Fatalf("%+v", r)
	}
	var by map[string][]ocsRecord
	eventually(t, 20*time.Second, "records of the charging system", func() error {
		if by = c.ocs.records("acme"); len(by["tandem"]) != 1 || len(by["tandem-rf"]) != 1 {
			return fmt.Errorf("%+v", by)
		}
		return nil
	})
	lines := c.lines()
	if len(lines) != 1 {
		t.Fatalf("%d records", len(lines))
	}
	used := lines[0].Seconds
	online, offline := by["tandem"][0], by["tandem-rf"][0]
	if used < 4 || used > 6 || online.seconds(t) != used || offline.seconds(t) != used {
		t.Errorf("the call's record has %d s, Ro %s, Rf %s", used, online.Usage, offline.Usage)
	}
	if left := c.ocs.balance("acme"); left != float64(100-used) {
		t.Errorf("%v left of 100 after %d s", left, used)
	}
}
