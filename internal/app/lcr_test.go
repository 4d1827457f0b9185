package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// deciding is a document whose customer's calls are decided by a server.
func deciding(url, net string) string {
	return fmt.Sprintf(`cluster: test
sites: [{name: dallas, peers: [ashburn]}, {name: ashburn, peers: [dallas]}]
trunk_groups:
  - {name: acme-out, role: termination-customer, sources: [{ip: 127.0.0.1}], route_plan: lcr}
  - name: carrier-a
    role: pstn-provider
    members: [{id: d, site: dallas, address: "%[2]s.50:5060"}, {id: a, site: ashburn, address: "%[2]s.50:5060"}]
  - name: carrier-b
    role: pstn-provider
    members: [{id: d, site: dallas, address: "%[2]s.51:5060"}, {id: a, site: ashburn, address: "%[2]s.51:5060"}]
route_plans:
  - name: lcr
    decision: {url: "%[1]s/route?key=hush", fallback_group: carrier-b, break_after: 1, timeout: 5s}
`, url, net)
}

// outbound places calls of the customer and returns how many were answered.
func (b *box) outbound(number string, n int) int {
	b.t.Helper()
	load, err := sim.NewLoad(sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: addrPort(b.ip + ":5060")}}},
		To:           []string{number}, Rate: 50, Calls: n, Grace: 20 * time.Second,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = load.Close() }()
	r, err := load.Run(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Counts.Answered
}

// One answer serves the nodes of both sites; an order to forget reaches them all; a
// server that is away raises the alarm, and calls go to the fallback group.
func TestS090_S092_S093_OneDecisionServesBothSites(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"routes":[{"carrier_id":"a-1","gateway_group":"carrier-a","rate":0.004},{"carrier_id":"b-1","gateway_group":"carrier-b","rate":0.005}],"cache_ttl_secs":600}`)
	}))
	defer server.Close()
	const network = "127.88.43"
	for name, x := range map[string]sim.Behaviour{"50": sim.Unavailable(), "51": sim.AnswersAtOnce()} {
		far, err := sim.StartCarrier(name, addrPort(network+"."+name+":5060"), x)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = far.Close() }()
	}
	boxes := newClusterOf(t, network, deciding(server.URL, network), 3)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	ready(boxes...)
	for _, b := range boxes {
		b.wait("the others", func() bool { return b.peersUp() == 2 })
	}
	dallas, ashburn := boxes[0], boxes[2]
	const number = "+12025550123"
	if n := dallas.outbound(number, 3); n != 3 || asked.Load() != 1 {
		t.Fatalf("%d of 3 calls were answered, and the server was asked %d times", n, asked.Load())
	}
	known := func(b *box) bool {
		plan := b.app.watch.monitor.Board().Table.RoutePlans()[0]
		e, ok := b.app.routes.client.CacheEntry(lcr.Key{Plan: "lcr", Edition: plan.Decision.Edition, Group: "acme-out", Number: number})
		return ok && time.Now().Before(e.Until)
	}
	ashburn.wait("the answer", func() bool { return known(ashburn) })
	if n := ashburn.outbound(number, 3); n != 3 || asked.Load() != 1 {
		t.Errorf("at the other site %d of 3 calls were answered, and the server was asked %d times", n, asked.Load())
	}
	explained := func(b *box, ask bool) admin.Explanation {
		var e admin.Explanation
		body, _ := json.Marshal(admin.Question{Called: number, Source: "127.0.0.1:5060", Ask: ask})
		if code := b.ask("POST", "/v1/explain", strings.NewReader(string(body)), &e); code != 200 {
			t.Errorf("explain: %d", code)
		}
		return e
	}
	if e := explained(ashburn, false); len(e.Routes) != 2 || e.Routes[0].Carrier != "a-1" || !strings.Contains(fmt.Sprint(e.Steps), "from the answers that are kept") {
		t.Errorf("%+v", e)
	}
	if e := explained(ashburn, true); len(e.Routes) != 2 || !strings.Contains(fmt.Sprint(e.Steps), "answered in") || asked.Load() != 2 {
		t.Errorf("%+v", e)
	}
	var flushed admin.DecisionFlushed
	if code := ashburn.ask("POST", "/v1/lcr/flush", strings.NewReader(`{"plan":"lcr"}`), &flushed); code != 200 || flushed.Forgotten != 1 {
		t.Errorf("flush: %d, %+v", code, flushed)
	}
	dallas.wait("the order to forget", func() bool { return !known(dallas) })
	server.Close()
	if n := dallas.outbound(number, 2); n != 2 { // by the fallback group
		t.Errorf("%d of 2 calls were answered", n)
	}
	var list admin.DecisionList
	dallas.ask("GET", "/v1/lcr", nil, &list)
	if s := list.Servers[0]; s.State != "away" || s.URL != server.URL+"/route?..." || s.Since == nil || s.Why == "" || s.Fallbacks != 2 {
		t.Errorf("%+v", s)
	}
	var nodes admin.NodeList
	dallas.ask("GET", "/v1/nodes", nil, &nodes)
	if text := strings.Join(nodes.Alarms, "\n"); !strings.Contains(text, alarmDecision) || !strings.Contains(text, "calls whose answer is not kept go to carrier-b") {
		t.Errorf("no alarm in %q", text)
	}
	if text := dallas.text("/metrics"); !strings.Contains(text, `tandem_lcr_requests_total{plan="lcr",result="routed"} 1`) ||
		!strings.Contains(text, `tandem_lcr_breaker_state{plan="lcr",state="open"} 1`) || !strings.Contains(text, `tandem_lcr_cache_hits_total{plan="lcr"}`) {
		t.Errorf("metrics: %s", text)
	}
}
