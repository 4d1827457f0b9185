package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// deckDocument is a customer whose plan goes by rate decks, and two carriers.
func deckDocument(carrier string) string {
	return fmt.Sprintf(`cluster: test
sites: [{name: dallas}]
trunk_groups:
  - name: acme-out
    role: termination-customer
    route_plan: wholesale
    sources: [{ip: 127.0.0.1}]
  - name: carrier-a
    role: pstn-provider
    members: [{id: gw, site: dallas, address: "%s"}]
  - name: carrier-b
    role: pstn-provider
    members: [{id: gw, site: dallas, address: "192.0.2.1:5060"}]
route_plans:
  - {name: wholesale, deck: {name: cost, sell: retail, min_margin: "10%%"}}
`, carrier)
}

// Calls of a plan go by its decks as soon as they are imported, to who leaves the margin; what
// cannot be is refused whole; all of it is there after a restart.
func TestDecksRouteCalls(t *testing.T) {
	far := startPBX(t)
	b := newBox(t, "127.88.1.72", deckDocument(far.Addr(0).String()))
	b.start()
	defer func() { b.stop() }()
	b.wait("the node is ready", func() bool { return b.ask(http.MethodGet, "/readyz", nil, nil) == http.StatusOK })
	b.wait("the leader", func() bool {
		var list admin.NodeList
		return b.ask(http.MethodGet, "/v1/nodes", nil, &list) == http.StatusOK && list.Leader != ""
	})
	post := func(path, body string, into any) int {
		return b.ask(http.MethodPost, path, strings.NewReader(body), into)
	}
	if n := b.calls(2); n != 0 {
		t.Errorf("%d calls are answered without any deck", n)
	}
	if page := b.text("/metrics"); !strings.Contains(page, "tandem_deck_plans_faulty 1") {
		t.Error("the metrics do not show the plan without decks")
	}
	const costs = "prefix,carrier_id,group,rate,currency\n1214,a,carrier-a,0.01,USD\n1,b,carrier-b,0.0195,USD\n1,c,carrier-b,block,USD\n"
	for body, query := range map[string]string{
		"prefix,carrier_id,group,rate\n1,a,carrier-x,0.01\n": "name=cost",
		"prefix,carrier_id,group,rate\n1,a,acme-out,0.01\n":  "name=cost",
		costs:                  "name=c+o",
		"prefix,rate,foo\n":    "name=retail",
		"prefix,rate\n":        "name=retail",
		"prefix,rate\n1,0,1\n": "name=retail",
	} {
		if code := post("/v1/decks/import?reason=test&"+query, body, nil); code != http.StatusUnprocessableEntity {
			t.Errorf("%q as %s: %d", body, query, code)
		}
	}
	var done admin.DeckApplied
	if code := post("/v1/decks/import?name=cost&dry_run=true", costs, &done); code != http.StatusOK || !done.DryRun || done.Rows != 3 || done.Edition != 0 {
		t.Errorf("dry run: %d, %+v", code, done)
	}
	if code := post("/v1/decks/import?name=cost&author=ann&reason=rates", costs, &done); code != http.StatusOK || done.Edition != 1 || len(done.Notes) != 1 {
		t.Fatalf("import: %d, %+v", code, done)
	}
	if code := post("/v1/decks/import?name=retail&currency=USD&author=ann&reason=prices", "prefix,rate\n1,0.02\n", &done); code != http.StatusOK || done.Kind != "sell" || done.Edition != 2 {
		t.Fatalf("import: %d, %+v", code, done)
	}
	if n := b.calls(5); n != 5 {
		t.Errorf("%d of 5 calls are answered", n)
	}
	var q admin.DeckQuote
	if code := b.ask(http.MethodGet, "/v1/decks/quote?number=%2B12145550100&at=2026-12-01T00:00:00Z", nil, &q); code != http.StatusOK || q.Routes != 1 ||
		q.Carriers[0].Carrier != "a" || q.Carriers[0].Margin != "0.01 (50.0%)" || !strings.Contains(q.Carriers[1].LeftOut, "0.0005 a minute is left, and 10% is wanted") || q.Sold.Rate != "0.02" {
		t.Errorf("quote: %d, %+v", code, q)
	}
	for path, want := range map[string]int{
		"/v1/decks/show?name=coste": http.StatusNotFound, "/v1/decks/export?name=gone": http.StatusNotFound,
		"/v1/decks/quote?number=%2B1&plan=gone": http.StatusNotFound, "/v1/decks/quote?number=%2B1&plan=wholesale&deck=cost": http.StatusUnprocessableEntity,
	} {
		if code := b.ask(http.MethodGet, path, nil, nil); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	if code := post("/v1/decks/import?name=retail&currency=EUR&reason=x", "prefix,rate\n1,0.02\n", nil); code != http.StatusConflict {
		t.Errorf("prices in another currency: %d", code)
	}
	if code := post("/v1/decks/remove", `{"name": "cost", "reason": "x"}`, nil); code != http.StatusConflict {
		t.Errorf("a deck that a plan goes by: %d", code)
	}
	if code := post("/v1/decks/import?name=cost&only_carrier=b&currency=USD&author=ann&reason=b", "prefix,group,rate\n1214,carrier-b,0.012\n", &done); code != http.StatusOK || done.Rows != 3 || done.Before != 3 {
		t.Errorf("one carrier's rows: %d, %+v", code, done)
	}
	if text := b.text("/v1/decks/export?name=cost"); !strings.Contains(text, "1214,b,carrier-b,0.012,USD") || !strings.Contains(text, "1,c,carrier-b,block,USD") {
		t.Errorf("export: %s", text)
	}
	var info admin.DeckInfo
	if code := b.ask(http.MethodGet, "/v1/decks/show?name=cost", nil, &info); code != http.StatusOK || len(info.Carriers) != 3 || info.Carriers[2].Blocked != 1 || info.Plans[0] != "wholesale" {
		t.Errorf("show: %d, %+v", code, info)
	}
	if page := b.text("/metrics"); !strings.Contains(page, `tandem_deck_rows{deck="cost"} 3`) || !strings.Contains(page, "tandem_deck_plans_faulty 0") {
		t.Error("the metrics do not show the decks")
	}
	b.stop()
	b.start()
	if n := b.calls(5); n != 5 {
		t.Errorf("after a restart %d of 5 calls are answered", n)
	}
	var list admin.DeckList
	if b.ask(http.MethodGet, "/v1/decks", nil, &list); list.Edition != 3 || len(list.Decks) != 2 || len(list.Faults) != 0 {
		t.Errorf("after a restart: %+v", list)
	}
}

// Rows of several carriers that are imported at the same time are all there afterwards, but
// for those that were refused because two decks were under way.
func TestDeckCarriersAtTheSameTime(t *testing.T) {
	b := newBox(t, "127.88.1.74", deckDocument("192.0.2.9:5060"))
	b.start()
	defer func() { b.stop() }()
	b.wait("the node is ready", func() bool { return b.ask(http.MethodGet, "/readyz", nil, nil) == http.StatusOK })
	b.wait("the leader", func() bool {
		var list admin.NodeList
		return b.ask(http.MethodGet, "/v1/nodes", nil, &list) == http.StatusOK && list.Leader != ""
	})
	one := func(carrier string, into any) int {
		return b.ask(http.MethodPost, "/v1/decks/import?name=cost&currency=USD&reason=x&only_carrier="+carrier, strings.NewReader("prefix,group,rate\n1,carrier-a,0.01\n"), into)
	}
	carriers := []string{"a", "b", "c", "d"}
	codes := make([]int, len(carriers))
	var done sync.WaitGroup
	for i, carrier := range carriers {
		done.Go(func() { codes[i] = one(carrier, nil) })
	}
	done.Wait()
	text := b.text("/v1/decks/export?name=cost")
	for i, carrier := range carriers {
		if there := strings.Contains(text, "1,"+carrier+",carrier-a"); there != (codes[i] == http.StatusOK) || !there && codes[i] != http.StatusConflict {
			t.Errorf("carrier %s: %d, in the deck: %t", carrier, codes[i], there)
		}
	}
	if code := one("e", nil); code != http.StatusOK {
		t.Errorf("carrier e: %d", code)
	}
	var again admin.DeckApplied
	if code := one("e", &again); code != http.StatusOK || !again.Unchanged {
		t.Errorf("the same once more: %d, %+v", code, again)
	}
}
